//! What is broken first: the failure catalogue, probed on evidence that was collected beforehand.
//!
//! ```text
//! Evidence           everything that is known, from wherever          evidence.rs
//! DiagnosisSpec      one row of the catalogue, at its Link in the chain catalogue.rs, link.rs
//! probes             pure: Evidence → sentences                       probes/
//! Diagnosis          first_broken(), all_broken()                     diagnose.rs
//! Resources          lists of objects, as a bundle has them           resources.rs
//! Bundle             a log bundle, read without unpacking it          bundle.rs, bundle_evidence.rs
//! live               the same asked of a cluster and its hosts        live.rs
//! ```
//!
//! The words of each entry (symptom, cause, way out) stand in `explanations/diagnoses.md`, and only there.

mod bundle;
mod bundle_evidence;
mod catalogue;
mod diagnose;
mod evidence;
mod link;
pub mod live;
mod probes;
mod resources;
#[cfg(test)]
mod tests;

pub(crate) use bundle::walk;
pub use bundle::{Bundle, BundleError, BundleLimits, Take};
pub use bundle_evidence::from_bundle;
pub use catalogue::{DiagnosisSpec, ROWS};
pub use diagnose::{Diagnosis, all_broken, first_broken};
pub use evidence::{
    Api, ConfigFacts, DeadMachine, Evidence, FolderFacts, HostFacts, InstallFacts, LogSource, LogTail,
    NameFacts, Port, SeedFacts, Share,
};
pub use link::Link;
pub use resources::Resources;
