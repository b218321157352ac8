//! A site: the cluster, the folder and the host that checks look at.

use std::fmt;
use std::path::Path;

use hardway_assets::Cluster;
use hardway_assets::graph::Expiry;
use jiff::Timestamp;

use super::registry::{ImagesSeen, RegistrySeen};
use crate::check::PreflightPatience;

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
    /// Looks for all images as nodes will; nothing where no mirrors are declared.
    pub images: Option<AskImages<'a>>,
    /// The moment that counts as now.
    pub now: Timestamp,
    /// How long somebody may take to answer before it counts as silence.
    pub patience: PreflightPatience,
}

/// Asks the registries of the release.
pub type AskRegistry<'a> = &'a (dyn Fn() -> RegistrySeen + Sync);

/// Looks for all images of the cluster.
pub type AskImages<'a> = &'a (dyn Fn() -> ImagesSeen + Sync);

impl fmt::Debug for Site<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Site").field("folder", &self.folder).finish_non_exhaustive()
    }
}
