//! What becomes of a pod when its node goes. The cases are those of `kubectl drain` (kubernetes/kubectl pkg/drain).

use k8s_openapi::api::core::v1::Pod;

/// What becomes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is evicted, and its owner starts another elsewhere.
    Evicted,
    /// It is evicted, and nobody starts another.
    Lost,
    /// It stays until the node is gone: a DaemonSet would start it again at once.
    OfDaemonSet,
    /// It stays: a file on the node says so, and the API only shows it.
    OfNode,
    /// It has ended already.
    Over,
}

/// Of one pod.
pub fn fate(pod: &Pod) -> Fate {
    let annotations = pod.metadata.annotations.as_ref();
    if annotations.is_some_and(|all| all.contains_key("kubernetes.io/config.mirror")) {
        return Fate::OfNode;
    }
    let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
    if matches!(phase, Some("Succeeded" | "Failed")) {
        return Fate::Over;
    }
    let mut owners = pod.metadata.owner_references.iter().flatten();
    match owners.find(|owner| owner.controller == Some(true)) {
        Some(owner) if owner.kind == "DaemonSet" => Fate::OfDaemonSet,
        Some(_) => Fate::Evicted,
        None => Fate::Lost,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pods_have_the_fates_that_kubectl_gives_them() {
        let of = |metadata: serde_json::Value, phase: &str| {
            let pod = json!({"metadata": metadata, "status": {"phase": phase}});
            fate(&serde_json::from_value(pod).unwrap())
        };
        let owned = |kind: &str| json!({"ownerReferences": [{"apiVersion": "apps/v1", "kind": kind, "name": "x", "uid": "1", "controller": true}]});
        assert_eq!(of(owned("ReplicaSet"), "Running"), Fate::Evicted);
        assert_eq!(of(owned("DaemonSet"), "Running"), Fate::OfDaemonSet);
        assert_eq!(of(json!({}), "Running"), Fate::Lost);
        assert_eq!(of(json!({}), "Succeeded"), Fate::Over);
        assert_eq!(of(json!({"annotations": {"kubernetes.io/config.mirror": "1"}}), "Running"), Fate::OfNode);
    }
}
