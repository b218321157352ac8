//! What was collected. Plain data, without any secret.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::gates::Gate;
use crate::node_view::NodeView;
use crate::objects::NodePool;
use crate::ovn::OvnFacts;
use crate::pointer::PointerFlaw;
use crate::token::TokenSecret;
use crate::worker::Worker;

/// Everything that is known.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// When.
    pub now: Timestamp,
    /// The pools of the cluster.
    pub pools: Vec<PoolEvidence>,
    /// Workers that hardway was asked for.
    pub workers: Vec<Worker>,
    /// Nodes of the hosted cluster.
    pub nodes: BTreeMap<String, NodeView>,
    /// Kubelets' certificate requests that nobody decided.
    pub pending: Vec<PendingRequest>,
    /// Host and port that workers fetch from.
    pub endpoint: Option<String>,
    /// What the certificate of the ignition-server is for.
    pub served_names: Option<Vec<String>>,
    /// What the ignition-server's `/healthz` answered.
    pub probe: Probe,
    /// When the certificate that all new machines ask with ends.
    pub bootstrap_expires: Option<Timestamp>,
    /// The certificate that pods of the network need.
    pub ovn: OvnFacts,
    /// Console logs of machines.
    pub logs: Vec<String>,
}

/// About one pool.
#[derive(Clone, Debug)]
pub struct PoolEvidence {
    /// The pool.
    pub pool: NodePool,
    /// Its gates.
    pub gates: Vec<Gate>,
    /// Its token Secrets.
    pub tokens: Vec<TokenSecret>,
    /// What is wrong with the pointer of its config.
    pub pointer_flaws: Vec<PointerFlaw>,
    /// Machines of cluster-api that name it, made by hand.
    pub machines: Vec<String>,
}

/// A request that nobody decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingRequest {
    /// Its name.
    pub name: String,
    /// Whose.
    pub node: String,
    /// Whether it is for serving.
    pub is_serving: bool,
    /// When it was made.
    pub created: Timestamp,
}

/// What asking the ignition-server came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Probe {
    /// It was not asked.
    NotAsked,
    /// It answered with this status.
    Status(u16),
    /// No answer, and why.
    Silent(String),
}

impl Evidence {
    /// Lines of logs in which all texts of one of the alternatives stand.
    pub(super) fn lines_with(&self, logged: &[&[&str]]) -> Vec<String> {
        let fits = |line: &&str| logged.iter().any(|texts| texts.iter().all(|text| line.contains(text)));
        let lines = self.logs.iter().flat_map(|log| log.lines()).filter(fits);
        lines.take(3).map(|line| format!("console: {}", line.trim())).collect()
    }

    /// The pool of a worker.
    pub(super) fn pool_of(&self, worker: &Worker) -> Option<&PoolEvidence> {
        self.pools.iter().find(|pool| pool.pool.metadata.name.as_deref() == Some(&worker.node_pool))
    }
}
