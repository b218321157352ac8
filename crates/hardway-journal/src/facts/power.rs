//! A cluster that is switched off and on again.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The cluster is about to be switched off. Written before the first node is closed: whoever switches it on has to know which of them
/// were closed for this.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterStopping {
    /// Nodes that took pods and no longer do, by their names in the cluster.
    pub cordoned: Vec<String>,
    /// Until when it is meant to be off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
}

/// Every machine is off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterStopped {}

/// Every machine is on, every node is Ready and takes pods as before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterStarted {}
