//! A node goes for good: cordon, drain, delete.

use std::time::Duration;

use k8s_openapi::api::core::v1::Node;
use kube::api::{Api, DeleteParams, Patch, PatchParams};
use kube::{Client, Config};
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::drain::{Drain, DrainError, DrainRound};
use crate::kubeconfig::without_retries;

/// One node that is being removed.
pub struct NodeRemoval<'l> {
    client: Client,
    node: String,
    /// Whether pods that nobody starts again may be lost.
    may_lose: bool,
    /// How long nothing may change before it counts as stuck.
    patience: Duration,
    /// Told what is being waited for.
    tell: &'l (dyn Fn(&str) + Send + Sync),
}

/// What the cluster knows of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeState {
    /// Nothing: there is no such node.
    Gone,
    /// Its kubelet has not been heard of for a while: nothing on it ends because it is told to.
    Silent,
    /// Its kubelet reports, whatever it reports; or has not had the time to.
    Answers,
}

/// Why it did not go.
#[derive(Debug, thiserror::Error)]
pub enum NodeRemovalError {
    /// The API server.
    #[error("{what}")]
    Api {
        /// What was asked.
        what: String,
        /// What it said.
        source: kube::Error,
    },
    /// Pods that nobody would start again.
    #[error("nothing would restart these pods elsewhere: {}", .0.join(", "))]
    WouldBeLost(Vec<String>),
    /// Something keeps pods there, mostly a PodDisruptionBudget.
    #[error("cannot remove {}: no progress for {seconds} s; {last}", pods.join(", "))]
    Kept {
        /// Which pods.
        pods: Vec<String>,
        /// For how long.
        seconds: u64,
        /// What the API server said last.
        last: String,
    },
}

const INTERVAL: Duration = Duration::from_millis(500);

impl<'l> NodeRemoval<'l> {
    /// A node of the cluster that an administrator reaches so.
    ///
    /// # Errors
    /// When no client can be made of it.
    pub fn new(
        config: &Config,
        node: impl Into<String>,
        patience: Duration,
        tell: &'l (dyn Fn(&str) + Send + Sync),
    ) -> Result<Self, NodeRemovalError> {
        let node = node.into();
        let client = without_retries(config).map_err(|source| NodeRemovalError::Api {
            what: format!("{node}: reaching the cluster"),
            source,
        })?;
        Ok(Self { client, node, may_lose: false, patience, tell })
    }

    /// Pods that nobody starts again may be lost.
    pub fn losing_pods(mut self, may_lose: bool) -> Self {
        self.may_lose = may_lose;
        self
    }

    /// Whether there is such a node.
    ///
    /// # Errors
    /// When the API server does not say.
    pub async fn is_there(&self) -> Result<bool, NodeRemovalError> {
        Ok(self.state().await? != NodeState::Gone)
    }

    /// What the cluster knows of it. A kubelet that is silent for most of a minute has its node's condition set to Unknown
    /// (kubernetes/kubernetes `pkg/controller/nodelifecycle`).
    ///
    /// # Errors
    /// When the API server does not say.
    pub async fn state(&self) -> Result<NodeState, NodeRemovalError> {
        let found = self.nodes().get_opt(&self.node).await;
        let Some(node) = found.map_err(self.failed("looking for the node"))? else {
            return Ok(NodeState::Gone);
        };
        let conditions = node.status.and_then(|status| status.conditions).unwrap_or_default();
        let is_silent =
            conditions.iter().any(|condition| condition.type_ == "Ready" && condition.status == "Unknown");
        Ok(if is_silent { NodeState::Silent } else { NodeState::Answers })
    }

    /// Marks the node unschedulable.
    ///
    /// # Errors
    /// When the API server refuses.
    pub async fn cordon(&self) -> Result<(), NodeRemovalError> {
        let patch = Patch::Merge(json!({"spec": {"unschedulable": true}}));
        let patched = self.nodes().patch(&self.node, &PatchParams::default(), &patch).await;
        patched.map(drop).map_err(self.failed("marking the node unschedulable"))
    }

    /// Evicts the pods, as their budgets allow. Gives how many went.
    ///
    /// # Errors
    /// When pods would be lost for good, or something keeps them.
    pub async fn drain(&self) -> Result<usize, NodeRemovalError> {
        let drain = Drain::new(self.client.clone(), &self.node).losing_pods(self.may_lose);
        let mut gone = 0;
        let mut before: Option<Vec<String>> = None;
        let mut since = Instant::now();
        loop {
            let DrainRound { left: names, refusal } =
                drain.round().await.map_err(|error| self.undrained(error))?;
            if names.is_empty() {
                return Ok(gone + before.map_or(0, |before| before.len()));
            }
            if before.as_ref() != Some(&names) {
                gone += before
                    .as_ref()
                    .map_or(0, |before| before.iter().filter(|pod| !names.contains(pod)).count());
                (self.tell)(&format!("{} pods to leave {}: {}", names.len(), self.node, names.join(", ")));
                (before, since) = (Some(names.clone()), Instant::now());
            }
            let last = refusal.unwrap_or_else(|| "they were told to terminate, but have not".to_owned());
            if since.elapsed() > self.patience {
                return Err(NodeRemovalError::Kept { pods: names, seconds: self.patience.as_secs(), last });
            }
            sleep(INTERVAL).await;
        }
    }

    /// Deletes the node from the API. A machine that still ran would register it again.
    ///
    /// # Errors
    /// When the API server refuses.
    pub async fn delete(&self) -> Result<(), NodeRemovalError> {
        match self.nodes().delete(&self.node, &DeleteParams::default()).await {
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
            deleted => deleted.map(drop).map_err(self.failed("deleting the node")),
        }
    }

    fn undrained(&self, error: DrainError) -> NodeRemovalError {
        match error {
            DrainError::List(source) => self.failed("listing the node's pods")(source),
            DrainError::Evict { pod, source } => self.failed(&format!("evicting {pod}"))(source),
            DrainError::WouldBeLost(pods) => NodeRemovalError::WouldBeLost(pods),
        }
    }

    fn nodes(&self) -> Api<Node> {
        Api::all(self.client.clone())
    }

    fn failed(&self, what: &str) -> impl Fn(kube::Error) -> NodeRemovalError {
        let what = format!("{}: {what}", self.node);
        move |source| NodeRemovalError::Api { what: what.clone(), source }
    }
}
