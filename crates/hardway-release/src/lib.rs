//! From a release to the `ReleasePayload` that the assets are made from.
//!
//! ```text
//! read_folder()         an extracted release → ReleasePayload          folder.rs
//! FolderError           every file that is wrong, and why              folder_error.rs
//! ImageReferences       the component images                           image_references.rs
//! ReleaseMetadata       the version                                    release_metadata.rs
//! PayloadManifests      CRDs and feature gates among the manifests     payload_manifests.rs
//! rendered_config()     a MachineConfig from the node render           rendered_config.rs
//! render                node configs, rendered by the release itself   render/
//! media                 boot images: where they are, and their sums    media/
//! ```
//!
//! The readers of single files take text, not paths.

mod documents;
mod folder;
mod folder_error;
mod image_references;
pub mod media;
mod payload_manifests;
mod pull_spec;
mod release_metadata;
pub mod render;
mod rendered_config;

pub use folder::{read_folder, read_folder_of};
pub use folder_error::{Fault, FolderError, Reason};

use hardway_assets::release_payload::ReleasePayload;

/// Shown by every command that works on the sample release.
pub const SAMPLE_NOTICE: &str = "This uses the built-in sample release. Its image digests are made up and its CRDs \
                                 check nothing: the files are good for reading and rehearsing, not for booting a cluster.";

/// The notice, when this release is the sample.
pub fn sample_notice(payload: &ReleasePayload) -> Option<&'static str> {
    payload.is_sample.then_some(SAMPLE_NOTICE)
}
