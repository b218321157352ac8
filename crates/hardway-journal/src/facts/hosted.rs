//! What was done for hosted workers.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A step that was taken for a worker, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HostedStep {
    /// The hosted cluster.
    pub cluster: String,
    /// The worker.
    pub worker: String,
    /// Which step.
    pub step: WorkerStep,
    /// Nothing when it went well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A machine is about to be made for a worker. It is that pool's until it is gone: of two who want the same, the first line counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HostedMachine {
    /// As in the inventory.
    pub machine: String,
    /// The hosted cluster: `<namespace>/<name>`.
    pub cluster: String,
    /// Its pool.
    pub node_pool: String,
}

macro_rules! worker_steps {
    ($count:literal; $($(#[$doc:meta])* $step:ident, $word:literal;)+) => {
        /// What can be done for a worker.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum WorkerStep { $($(#[$doc])* #[serde(rename = $word)] $step,)+ }

        impl WorkerStep {
            /// All of them.
            pub const ALL: [Self; $count] = [$(Self::$step,)+];

            /// In metrics, records and the journal.
            pub fn name(self) -> &'static str {
                match self { $(Self::$step => $word,)+ }
            }
        }
    };
}

worker_steps! { 13;
    /// Its machine is given a fresh pointer and switched on.
    Boot, "boot";
    /// Its node takes no more pods.
    Cordon, "cordon";
    /// Its node is deleted.
    DeleteNode, "delete-node";
    /// Its pods are asked to leave.
    Drain, "drain";
    /// Its upgrade in place has ended.
    EndUpgrade, "end-upgrade";
    /// Its record is deleted.
    Forget, "forget";
    /// Its node is given the pool's labels and taints.
    Label, "dress";
    /// What was seen of it is written into its record. Never in the journal: it is no decision.
    Record, "record";
    /// Its machine is taken away.
    RemoveMachine, "remove-machine";
    /// It is asked for, because its NodePool wants one more.
    Request, "request";
    /// It is to go, because its NodePool wants one fewer.
    Retire, "retire";
    /// What only its first boot needed is taken away.
    Settle, "settle";
    /// Its upgrade in place is begun.
    Upgrade, "upgrade";
}

impl fmt::Display for WorkerStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
