//! What the assets need to know of a release: images, CRDs, feature gates, rendered node configs.
//!
//! This crate only defines the value. `hardway-release` fills it from a registry or a folder; [`sample`] is a made-up
//! one for offline use, [`files`] writes one down as such a folder.
//!
//! ```text
//! ReleasePayload     the value                                   payload.rs
//! ComponentImages    pull specs by tag name                      component_images.rs
//! VersionContract    what differs between 4.18 and 5.x           version_contract.rs
//! InclusionRules     which manifests a cluster gets, and why     inclusion.rs, capabilities.rs, manifest_head.rs
//! ReleaseWord        what is wanted, where no pull spec says it    release_word.rs
//! crds_for()         the CRDs of one feature set                 crds.rs
//! files()            a release as a folder                       files.rs
//! sample()           the embedded release                        sample.rs, sample_crds.rs, sample_nodes.rs
//! ```

mod capabilities;
mod component_images;
mod crds;
mod files;
mod inclusion;
mod manifest_head;
mod payload;
mod release_word;
mod sample;
mod sample_crds;
mod sample_nodes;
mod version_contract;

pub use capabilities::EnabledCapabilities;
pub(crate) use capabilities::{CAPABILITIES, CLUSTER_API, in_capability_set};
pub use component_images::{ComponentImages, MissingImage};
pub use files::{REAL_MARK, SAMPLE_MARK, STAND_INS_MARK, files, image_references};
pub use inclusion::{Exclusion, InclusionRules, SELF_MANAGED};
pub use manifest_head::{ManifestHead, ObjectId};
pub use payload::{FeatureGates, ReleaseManifest, ReleasePayload, RenderedConfig};
pub use release_word::{Minor, ReleaseWord};
pub use sample::{SAMPLE, SAMPLE_VERSION, sample};
pub use version_contract::{VersionContract, VersionError};

/// Real CRDs of 4.18 for tests, where the machine has them.
#[cfg(test)]
fn real_data(folder: &str) -> Option<Vec<ReleaseManifest>> {
    let folder = hardway_testing::real_data(folder)?;
    let mut names: Vec<_> = folder.read_dir().ok()?.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    let read = |name: std::ffi::OsString| ReleaseManifest {
        text: std::io::read_to_string(std::fs::File::open(folder.join(&name)).unwrap()).unwrap(),
        file_name: name.into_string().unwrap(),
    };
    Some(names.into_iter().map(read).collect())
}
