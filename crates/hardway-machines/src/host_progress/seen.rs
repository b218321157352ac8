//! What is seen of a machine from outside, in the journal.

use hardway_journal::Fact;
use serde::{Deserialize, Serialize};

use super::{HostState, Progress};

/// A provider, a management controller or the machine's console showed something. Written when it changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HostSeen {
    /// As in the inventory.
    pub host: String,
    /// What was seen.
    pub sight: Sight,
    /// Who saw it: `virsh`, `bmc`, `gcloud`, `console`.
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

impl Fact for HostSeen {
    const KIND: &'static str = "host-seen";
}

impl Sight {
    /// Whether a sight changes what is known, and so is worth a line in the journal.
    pub fn is_news(self, state: &HostState) -> bool {
        match self {
            Self::Off => state.is_on != Some(false),
            Self::On => state.is_on != Some(true),
            Self::Live => state.state <= Progress::On && !state.is_live,
            // Somebody who looks often says it seldom; see `install/sights.rs` of the program.
            Self::Writing { .. } => state.state <= Progress::On,
            other => other.progress() > state.state,
        }
    }

    pub(super) fn progress(self) -> Progress {
        match self {
            Self::Off => Progress::Off,
            Self::On | Self::Live | Self::Writing { .. } => Progress::On,
            Self::OsWritten => Progress::OsWritten,
            Self::Rebooted => Progress::Rebooted,
            Self::KubeletUp => Progress::KubeletUp,
        }
    }
}
