//! A node goes: no new pods, no pods, no node.

use std::time::Duration;

use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::{Api, DeleteParams, EvictParams, ListParams, Patch, PatchParams};
use kube::{Client, Config, ResourceExt as _};
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::fate::{Fate, fate};
use crate::kubeconfig::without_retries;

/// One node that goes.
pub struct Leaving<'l> {
    client: Client,
    node: String,
    /// Whether pods that nobody starts again may be lost.
    may_lose: bool,
    /// For so long nothing may happen.
    patience: Duration,
    /// Told what is waited for.
    tell: &'l (dyn Fn(&str) + Send + Sync),
}

/// Why it did not go.
#[derive(Debug, thiserror::Error)]
pub enum LeavingError {
    /// The API server.
    #[error("{what}")]
    Api {
        /// What was asked.
        what: String,
        /// What it said.
        source: kube::Error,
    },
    /// Pods that nobody would start again.
    #[error("nobody would start these pods again elsewhere: {}", .0.join(", "))]
    WouldBeLost(Vec<String>),
    /// Something keeps pods there, mostly a PodDisruptionBudget.
    #[error("{} cannot go: nothing has changed for {seconds} s; {last}", pods.join(", "))]
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

impl<'l> Leaving<'l> {
    /// A node of the cluster that an administrator reaches so.
    ///
    /// # Errors
    /// When no client can be made of it.
    pub fn new(
        config: &Config,
        node: impl Into<String>,
        patience: Duration,
        tell: &'l (dyn Fn(&str) + Send + Sync),
    ) -> Result<Self, LeavingError> {
        let node = node.into();
        let client = without_retries(config)
            .map_err(|source| LeavingError::Api { what: format!("{node}: reaching the cluster"), source })?;
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
    pub async fn is_there(&self) -> Result<bool, LeavingError> {
        let found = self.nodes().get_opt(&self.node).await;
        Ok(found.map_err(self.failed("looking for the node"))?.is_some())
    }

    /// No new pods come.
    ///
    /// # Errors
    /// When the API server refuses.
    pub async fn cordon(&self) -> Result<(), LeavingError> {
        let patch = Patch::Merge(json!({"spec": {"unschedulable": true}}));
        let patched = self.nodes().patch(&self.node, &PatchParams::default(), &patch).await;
        patched.map(drop).map_err(self.failed("marking the node unschedulable"))
    }

    /// The pods go, as their budgets allow. Gives how many went.
    ///
    /// # Errors
    /// When pods would be lost for good, or something keeps them.
    pub async fn drain(&self) -> Result<usize, LeavingError> {
        let lost: Vec<String> =
            self.pods().await?.iter().filter(|pod| fate(pod) == Fate::Lost).map(shown).collect();
        if !lost.is_empty() && !self.may_lose {
            return Err(LeavingError::WouldBeLost(lost));
        }
        let mut gone = 0;
        let mut before: Option<Vec<String>> = None;
        let mut since = Instant::now();
        loop {
            let left: Vec<Pod> = self.pods().await?.into_iter().filter(is_to_go).collect();
            let names: Vec<String> = left.iter().map(shown).collect();
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
            let mut last = "they were told to end, and have not".to_owned();
            for pod in left.iter().filter(|pod| pod.metadata.deletion_timestamp.is_none()) {
                if let Some(refusal) = self.evict(pod).await? {
                    last = refusal;
                }
            }
            if since.elapsed() > self.patience {
                return Err(LeavingError::Kept { pods: names, seconds: self.patience.as_secs(), last });
            }
            sleep(INTERVAL).await;
        }
    }

    /// The node goes from the API. A machine that still ran would come back, so this is the last but its machine.
    ///
    /// # Errors
    /// When the API server refuses.
    pub async fn delete(&self) -> Result<(), LeavingError> {
        match self.nodes().delete(&self.node, &DeleteParams::default()).await {
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
            deleted => deleted.map(drop).map_err(self.failed("deleting the node")),
        }
    }

    /// Why not, when a budget says so; it may say something else later.
    async fn evict(&self, pod: &Pod) -> Result<Option<String>, LeavingError> {
        let pods: Api<Pod> = Api::namespaced(self.client.clone(), &pod.namespace().unwrap_or_default());
        match pods.evict(&pod.name_any(), &EvictParams::default()).await {
            Ok(_) => Ok(None),
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
            Err(kube::Error::Api(status)) if matches!(status.code, 429 | 409) => {
                Ok(Some(format!("{}: {}", shown(pod), status.message)))
            }
            Err(source) => Err(self.failed(&format!("evicting {}", shown(pod)))(source)),
        }
    }

    async fn pods(&self) -> Result<Vec<Pod>, LeavingError> {
        let pods: Api<Pod> = Api::all(self.client.clone());
        let here = ListParams::default().fields(&format!("spec.nodeName={}", self.node));
        Ok(pods.list(&here).await.map_err(self.failed("listing the node's pods"))?.items)
    }

    fn nodes(&self) -> Api<Node> {
        Api::all(self.client.clone())
    }

    fn failed(&self, what: &str) -> impl Fn(kube::Error) -> LeavingError {
        let what = format!("{}: {what}", self.node);
        move |source| LeavingError::Api { what: what.clone(), source }
    }
}

fn is_to_go(pod: &Pod) -> bool {
    matches!(fate(pod), Fate::Evicted | Fate::Lost)
}

fn shown(pod: &Pod) -> String {
    format!("{}/{}", pod.namespace().unwrap_or_default(), pod.name_any())
}
