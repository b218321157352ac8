//! Draining a node, with the cases of `kubectl drain` (kubernetes/kubectl pkg/drain): pods are evicted as their disruption budgets
//! allow, and one that nobody would start again is evicted only by somebody who said so.

use k8s_openapi::api::core::v1::Pod;
use kube::api::{Api, EvictParams, ListParams};
use kube::{Client, ResourceExt as _};

/// One node's pods, on their way out.
#[derive(Clone)]
pub struct Drain {
    client: Client,
    node: String,
    may_lose: bool,
}

/// What one round left behind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DrainRound {
    /// Pods that are still there and have to go, as `namespace/name`.
    pub left: Vec<String>,
    /// What the API server said when it refused an eviction, mostly a disruption budget's word; it may say something else later.
    pub refusal: Option<String>,
}

/// Why a round was not finished.
#[derive(Debug, thiserror::Error)]
pub enum DrainError {
    /// The pods are not known.
    #[error("the pods of the node cannot be listed")]
    List(#[source] kube::Error),
    /// A pod could not be evicted, and not because of its budget.
    #[error("{pod} cannot be evicted")]
    Evict {
        /// Which.
        pod: String,
        /// What the API server said.
        #[source]
        source: kube::Error,
    },
    /// Pods that nobody would start again. Nothing was evicted.
    #[error("nothing would restart these pods elsewhere: {}", .0.join(", "))]
    WouldBeLost(Vec<String>),
}

impl Drain {
    /// Of a node, losing nothing.
    pub fn new(client: Client, node: impl Into<String>) -> Self {
        Self { client, node: node.into(), may_lose: false }
    }

    /// Whether pods that nobody starts again may be lost.
    #[must_use]
    pub fn losing_pods(mut self, may_lose: bool) -> Self {
        self.may_lose = may_lose;
        self
    }

    /// Evicts what can go now. The node is drained when nothing is left.
    ///
    /// # Errors
    /// When pods would be lost for good, or the API server does not answer.
    pub async fn round(&self) -> Result<DrainRound, DrainError> {
        let pods: Api<Pod> = Api::all(self.client.clone());
        let here = ListParams::default().fields(&format!("spec.nodeName={}", self.node));
        let pods = pods.list(&here).await.map_err(DrainError::List)?.items;
        let lost: Vec<String> = pods.iter().filter(|pod| fate(pod) == Fate::Lost).map(shown).collect();
        if !lost.is_empty() && !self.may_lose {
            return Err(DrainError::WouldBeLost(lost));
        }
        let left = leaving(&pods);
        let mut refusal = None;
        for pod in left.iter().filter(|pod| pod.metadata.deletion_timestamp.is_none()) {
            refusal = self.evict(pod).await?.or(refusal);
        }
        Ok(DrainRound { left: left.into_iter().map(shown).collect(), refusal })
    }

    /// Why not, when a budget says so.
    async fn evict(&self, pod: &Pod) -> Result<Option<String>, DrainError> {
        let pods: Api<Pod> = Api::namespaced(self.client.clone(), &pod.namespace().unwrap_or_default());
        match pods.evict(&pod.name_any(), &EvictParams::default()).await {
            Ok(_) => Ok(None),
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
            Err(kube::Error::Api(status)) if matches!(status.code, 429 | 409) => {
                Ok(Some(format!("{}: {}", shown(pod), status.message)))
            }
            Err(source) => Err(DrainError::Evict { pod: shown(pod), source }),
        }
    }
}

/// What becomes of a pod when its node goes.
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

/// Pods that have to go. The rest goes with the node, or would be put back at once.
fn leaving(pods: &[Pod]) -> Vec<&Pod> {
    pods.iter().filter(|pod| matches!(fate(pod), Fate::Evicted | Fate::Lost)).collect()
}

fn shown(pod: &Pod) -> String {
    format!("{}/{}", pod.namespace().unwrap_or_default(), pod.name_any())
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
