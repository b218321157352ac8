//! What was done to bring etcd back from a backup.

use serde::{Deserialize, Serialize};

/// A person agreed to put a backup in the place of what etcd holds. Written before anything is touched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EtcdRestoreBegun {
    /// Of this restore: masters keep what they put aside under it.
    pub restore: String,
    /// The hash of the snapshot, as its backup says.
    pub hash: String,
    /// The newest change in it.
    pub revision: u64,
    /// The master that it is restored on, as in the inventory.
    pub host: String,
}

/// A step of it is done, and was seen to be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EtcdRestoreStep {
    /// Of which.
    pub restore: String,
    /// Which step.
    pub step: RestoreStep,
}

/// The steps, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RestoreStep {
    /// No etcd runs on any master that can be reached.
    StopEtcd,
    /// The restored data are on the recovery host, beside the old ones.
    SendData,
    /// They are in the place of the old ones, which are kept.
    SwapData,
    /// etcd runs on them, alone.
    StartEtcd,
    /// The API server reads and writes.
    AwaitApi,
    /// The etcd operator goes on with fewer than three members.
    AllowFewer,
    /// Operators make their static pods anew.
    Redeploy,
    /// Masters that are still there join again, without their old data.
    ReturnOthers,
    /// All of them are members again, and the etcd operator insists on it.
    InsistOnAll,
}

impl RestoreStep {
    /// All of them, in their order.
    pub const ALL: [Self; 9] = [
        Self::StopEtcd,
        Self::SendData,
        Self::SwapData,
        Self::StartEtcd,
        Self::AwaitApi,
        Self::AllowFewer,
        Self::Redeploy,
        Self::ReturnOthers,
        Self::InsistOnAll,
    ];

    /// As it stands in the journal.
    pub fn word(self) -> &'static str {
        match self {
            Self::StopEtcd => "stop-etcd",
            Self::SendData => "send-data",
            Self::SwapData => "swap-data",
            Self::StartEtcd => "start-etcd",
            Self::AwaitApi => "await-api",
            Self::AllowFewer => "allow-fewer",
            Self::Redeploy => "redeploy",
            Self::ReturnOthers => "return-others",
            Self::InsistOnAll => "insist-on-all",
        }
    }
}
