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

macro_rules! worker_steps {
    ($($(#[$doc:meta])* $step:ident, $word:literal;)+) => {
        /// What can be done for a worker.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum WorkerStep { $($(#[$doc])* #[serde(rename = $word)] $step,)+ }

        impl WorkerStep {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$step,)+];

            /// The word.
            pub fn word(self) -> &'static str {
                match self { $(Self::$step => $word,)+ }
            }
        }
    };
}

worker_steps! {
    /// Its machine was given a fresh pointer and switched on.
    Boot, "boot";
    /// What was seen of it was written into its record. Not written down here: it is no decision.
    Record, "record";
    /// What only its first boot needed was taken away.
    Settle, "settle";
    /// Its node was given the pool's labels and taints.
    Label, "dress";
    /// Its node takes no more pods.
    Cordon, "cordon";
    /// Its pods were asked to leave.
    Drain, "drain";
    /// Its machine was taken away.
    RemoveMachine, "remove-machine";
    /// Its node was deleted.
    DeleteNode, "delete-node";
    /// Its record was deleted.
    Forget, "forget";
    /// Its upgrade in place was begun.
    Upgrade, "upgrade";
    /// Its upgrade in place has ended.
    EndUpgrade, "end-upgrade";
}

impl fmt::Display for WorkerStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}
