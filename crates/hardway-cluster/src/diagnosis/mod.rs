//! What is broken first: the failure catalogue, probed on evidence that was collected beforehand.
//!
//! ```text
//! Evidence           everything that is known, from wherever          evidence.rs
//! DiagnosisSpec      one row of the catalogue, at its Link in the chain catalogue.rs, link.rs
//! probes             pure: Evidence → sentences                       probes/
//! Diagnosis          first_broken(), all_broken()                     broken_link.rs
//! Resources          lists of objects, as a bundle has them           resources.rs
//! Bundle             a log bundle, read without unpacking it          bundle.rs, bundle_evidence.rs
//! live               the same asked of a cluster and its hosts        live.rs
//! ```
//!
//! The words of each entry (symptom, cause, way out) stand in `explanations/diagnoses.md`, and only there.

mod broken_link;
mod bundle;
mod bundle_evidence;
mod catalogue;
mod evidence;
mod link;
pub mod live;
mod probes;
mod resources;
#[cfg(test)]
mod tests;

pub use broken_link::{Diagnosis, all_broken, first_broken};
pub(crate) use bundle::walk;
pub use bundle::{Bundle, BundleError, Limits, Take};
pub use bundle_evidence::from_bundle;
pub use catalogue::{DiagnosisSpec, ROWS};
pub use evidence::{
    Api, ConfigFacts, Evidence, FolderFacts, HostFacts, InstallFacts, Log, LogSource, NameFacts, Port,
    SeedFacts, Share,
};
pub use link::Link;
pub use resources::Resources;
