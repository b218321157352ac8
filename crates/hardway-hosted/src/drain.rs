//! Which pods leave a node that goes. The rest goes with it, or is put back at once: what `kubectl drain` does.

use k8s_openapi::api::core::v1::Pod;

/// Pods that are asked to leave.
pub fn leaving(pods: &[Pod]) -> Vec<&Pod> {
    pods.iter().filter(|pod| !is_daemon(pod) && !is_mirror(pod) && !is_finished(pod)).collect()
}

fn is_daemon(pod: &Pod) -> bool {
    let owners = pod.metadata.owner_references.as_deref().unwrap_or_default();
    owners.iter().any(|owner| owner.kind == "DaemonSet" && owner.controller == Some(true))
}

fn is_mirror(pod: &Pod) -> bool {
    let annotations = pod.metadata.annotations.as_ref();
    annotations.is_some_and(|annotations| annotations.contains_key("kubernetes.io/config.mirror"))
}

fn is_finished(pod: &Pod) -> bool {
    let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
    matches!(phase, Some("Succeeded" | "Failed"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_cannot_leave_is_not_asked() {
        let pods: Vec<Pod> = serde_json::from_value(json!([
            {"metadata": {"name": "plain"}},
            {"metadata": {"name": "ends", "deletionTimestamp": "2026-11-15T00:00:00Z"}},
            {"metadata": {"name": "mirror", "annotations": {"kubernetes.io/config.mirror": "x"}}},
            {"metadata": {"name": "daemon", "ownerReferences": [{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "uid": "1", "controller": true}]}},
            {"metadata": {"name": "done"}, "status": {"phase": "Succeeded"}},
        ]))
        .unwrap();
        let names: Vec<&str> =
            leaving(&pods).iter().map(|pod| pod.metadata.name.as_deref().unwrap()).collect();
        assert_eq!(names, ["plain", "ends"], "one that is ending is waited for");
    }
}
