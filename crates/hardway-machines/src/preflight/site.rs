//! What is looked at.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use hardway_assets::Cluster;
use hardway_assets::pki::Expiry;
use jiff::Timestamp;

use super::registry::RegistrySeen;

/// A cluster that is to be, and where.
#[derive(Clone, Copy)]
pub struct Site<'a> {
    /// What the input files say.
    pub cluster: &'a Cluster,
    /// The working folder.
    pub folder: &'a Path,
    /// Certificates of the working folder and their ends; those that are not made yet do not matter.
    pub certificates: &'a [Expiry],
    /// Whether the release is the one that is built in, whose images no registry has.
    pub is_sample: bool,
    /// Asks the registries of the release, as the cluster's nodes will. This crate has no registry client of its own.
    pub registry: Option<AskRegistry<'a>>,
    /// The moment that counts as now.
    pub now: Timestamp,
    /// How long somebody may take to answer before it counts as silence.
    pub patience: PreflightPatience,
}

/// Asks the registries of the release.
pub type AskRegistry<'a> = &'a (dyn Fn() -> RegistrySeen + Sync);

/// How long to wait for each kind of answer. Only what does not answer costs that long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreflightPatience {
    /// A name server, a port.
    pub answer: Duration,
    /// A load balancer that has to notice a member first: two good answers, ten seconds apart, are usual.
    pub balancer: Duration,
    /// Measuring the disk.
    pub disk: Duration,
}

impl Default for PreflightPatience {
    fn default() -> Self {
        Self {
            answer: Duration::from_secs(5),
            balancer: Duration::from_secs(25),
            disk: Duration::from_millis(1500),
        }
    }
}

impl fmt::Debug for Site<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Site").field("folder", &self.folder).finish_non_exhaustive()
    }
}
