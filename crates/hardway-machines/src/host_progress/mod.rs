//! How far each machine is on its way from off to a node.
//!
//! ```text
//! TrackedHost   a machine that is waited for                                      fold.rs
//! HostReports    records in, one state per machine out                             fold.rs
//! Stall         nothing has happened for a while: what to look at                 stall.rs
//! ```
//!
//! Pure: records and a time in, sentences out. There is no deadline: firmware of a large machine takes twenty minutes to
//! come up, and a slow line an hour to carry an image. What counts is whether anything happens at all.

mod fold;
mod stall;

pub use fold::{HostReport, HostReports, TrackedHost, fold};
pub use stall::{PATIENCE, Stall, stall};

use std::fmt;

use serde::Serialize;

/// How far a machine is. Later ones include earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HostProgress {
    /// Off, or never heard of.
    Off,
    /// It has power.
    On,
    /// Its installer, or its first boot, came to the ignition server.
    Seen,
    /// The OS is on its disk.
    OsWritten,
    /// It has started from that disk.
    Rebooted,
    /// Its kubelet asked for a certificate and was given one.
    KubeletUp,
    /// Its node is part of the cluster.
    Joined,
}

impl fmt::Display for HostProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Off => "off",
            Self::On => "on",
            Self::Seen => "seen by the ignition server",
            Self::OsWritten => "OS written",
            Self::Rebooted => "rebooted",
            Self::KubeletUp => "kubelet up",
            Self::Joined => "joined",
        })
    }
}

#[cfg(test)]
mod tests;
