//! What was seen of the cluster itself while it was waited for.

use serde::{Deserialize, Serialize};

/// A ClusterOperator says something else than before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OperatorSeen {
    /// Its name.
    pub operator: String,
    /// Works for users.
    pub available: OperatorCondition,
    /// Rolls something out.
    pub progressing: OperatorCondition,
    /// Is not as it should be.
    pub degraded: OperatorCondition,
    /// From itself to what is broken first; empty if it is available.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits_for: Vec<ChainLink>,
}

/// What a condition of an operator says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OperatorCondition {
    /// It does not hold.
    False,
    /// It holds.
    True,
    /// Nobody knows.
    Unknown,
}

/// Something that is not as it should be, and that something else waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChainLink {
    /// `operator ingress`, `node worker-0.…`, `certificate requests`, `api`.
    pub subject: String,
    /// A sentence.
    pub what: String,
    /// What a person can do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

/// A node is Ready, or is no longer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeSeen {
    /// As the cluster calls it.
    pub node: String,
    /// Its kubelet reports, and pods can run there.
    pub is_ready: bool,
}

/// etcd has other members than before, or they are otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EtcdSeen {
    /// All of them, by name.
    pub members: Vec<EtcdMember>,
}

/// One member of etcd.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EtcdMember {
    /// Empty until it has started once.
    pub name: String,
    /// What it is there.
    pub role: EtcdRole,
    /// It answered for itself.
    pub is_healthy: bool,
}

/// What a member is in etcd.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EtcdRole {
    /// Copies what the others have, and has no vote yet.
    Learner,
    /// Has a vote.
    Voter,
    /// Has a vote, and was voted for.
    Leader,
}
