//! What was seen of machines, and what became of them.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

/// A provider, a management controller or the machine's console showed something. Written when it changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HostSeen {
    /// As in the inventory.
    pub host: String,
    /// What was seen.
    pub sight: Sight,
    /// Who saw it, for people: `virsh`, `bmc`, `gcloud`, `console`.
    pub by: String,
}

/// What can be seen from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sight {
    /// No power.
    Off,
    /// Power.
    On,
    /// What installs it has started from its medium.
    Live,
    /// Its disk is written to.
    Writing {
        /// So much since it was switched on.
        megabytes: u64,
    },
    /// The installer said that it is done.
    OsWritten,
    /// It started from its disk.
    Rebooted,
    /// The kubelet runs.
    KubeletUp,
}

/// A host's installer has fetched the config it puts on the disk: from its next boot on, the disk counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstallBegun {
    /// As in the inventory.
    pub host: String,
    /// Where the request came from.
    pub source: IpAddr,
}

/// Somebody, most likely a host's controller, began to read the host's ISO. Anybody can: the first readers are written down, and
/// then fewer and fewer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MediumRead {
    /// As in the inventory.
    pub host: String,
    /// Where the request came from.
    pub source: IpAddr,
    /// Requests of other readers since the last that was written down.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    pub more: u64,
}

/// A machine has done its part and is about to be taken away for good. Written before that: afterwards nothing shows that
/// it is gone on purpose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineRetired {
    /// As in the inventory.
    pub host: String,
}

/// Bootstrapping is complete: nobody needs the config of the bootstrap host any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BootstrapComplete {
    /// The bootstrap host, as in the inventory.
    pub host: String,
}

/// A machine is gone, whoever made it: what was seen of it says nothing about the next one of that name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineGone {
    /// As in the inventory.
    pub host: String,
}
