//! How far a worker is.

use std::fmt;

use serde::Serialize;

/// The stages of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkerStage {
    /// Asked for; its machine is off.
    Planned,
    /// Its machine is on.
    Booted,
    /// It has its config.
    Fetched,
    /// It asked for a certificate.
    Asked,
    /// Its node is there.
    Joined,
    /// Its node was Ready.
    Ready,
    /// Its pods are leaving.
    Draining,
    /// Its machine goes next, then its node.
    Removing,
    /// Only the record is left.
    Gone,
}

impl WorkerStage {
    /// In output and metrics.
    pub fn name(self) -> &'static str {
        match self {
            Self::Planned => "planned",
            Self::Booted => "booted",
            Self::Fetched => "fetched",
            Self::Asked => "asked",
            Self::Joined => "joined",
            Self::Ready => "ready",
            Self::Draining => "draining",
            Self::Removing => "removing",
            Self::Gone => "gone",
        }
    }

    /// All of them, in order.
    pub const ALL: [Self; 9] = [
        Self::Planned,
        Self::Booted,
        Self::Fetched,
        Self::Asked,
        Self::Joined,
        Self::Ready,
        Self::Draining,
        Self::Removing,
        Self::Gone,
    ];
}

impl fmt::Display for WorkerStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
