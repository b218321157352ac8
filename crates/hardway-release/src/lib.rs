//! From a release to the `ReleasePayload` that the assets are made from.
//!
//! ```text
//! from a registry
//!   resolve()             a word such as 4.18 → a digest                  update_graph.rs
//!   PullSpec, Digest      what to fetch                                  pull_spec.rs, digest.rs
//!   Credentials, Mirrors  as whom, and where else                        credentials.rs, mirrors.rs
//!   Connection            trust, proxy, patience; the client             registry/
//!   BlobCache             what was fetched before                        blob_cache.rs
//!   fetch()               the files of a release image                   release_image.rs, layer.rs, overlay.rs, archive.rs
//!   info(), extract()     shown, or written to a folder                  release_info.rs, extract.rs, command.rs, placeholders.rs
//!   mirror(), upload()    the release and its images elsewhere, or some  mirror.rs, carried_images.rs, image_layout.rs
//!   bundle                the release and its images in one file, and served from it   bundle/
//!   look_for()            whether each place has an image                image_places.rs
//!   node_images           whether nodes will find all their images       node_images/
//!   verify()              who signed it                                  signature.rs, keyring.rs
//! from there, or from a folder
//!   payload()             a fetched release → ReleasePayload             payload_reader.rs, release_files.rs
//!   read_folder()         an extracted release → ReleasePayload          payload_reader.rs, release_files.rs
//!   Fault                 every file that is wrong, and why              fault.rs
//!   ImageReferences       the component images                           image_references.rs
//!   ReleaseMetadata       the version                                    release_metadata.rs
//!   PayloadManifests      CRDs and feature gates among the manifests     payload_manifests.rs
//!   rendered_config()     a MachineConfig from the node render           rendered_config.rs
//!   render                node configs, rendered by the release itself   render/
//!   media                 boot images: where they are, and their sums    media/
//! ```
//!
//! The readers of single files take text, not paths.

mod archive;
mod aside;
mod blob_cache;
pub mod bundle;
mod carried_images;
mod command;
mod credentials;
mod digest;
mod documents;
mod extract;
mod fault;
mod image_layout;
mod image_places;
mod image_references;
mod keyring;
mod layer;
pub mod media;
mod mirror;
mod mirrors;
pub mod node_images;
mod overlay;
mod payload_manifests;
mod payload_reader;
mod placeholders;
mod progress;
mod pull_spec;
mod registry;
mod release_files;
mod release_image;
mod release_info;
mod release_metadata;
pub mod render;
mod rendered_config;
mod signature;
mod update_graph;

pub use archive::{LayerError, LayerLimits};
pub use blob_cache::BlobCache;
pub use carried_images::CarriedImageError;
pub use command::{CommandError, check_command, extract_command};
pub use credentials::{Credential, Credentials, CredentialsError, EntryFault};
pub use digest::{Digest, DigestError};
pub use extract::{ExcludedManifest, ExtractError, Extracted, extract, extract_file};
pub use fault::{Fault, FaultReason, FolderError, ReleaseError};
pub use image_places::{ImagePlace, date_of, look_for};
pub use keyring::KeyringFault;
pub use mirror::{
    Destination, MirrorReleaseError, Mirrored, mirror, mirror_some, mirror_with, mirrored_release, upload,
    upload_bundles,
};
pub use mirrors::{MirrorError, Mirrors};
pub use payload_reader::{payload, read_folder, read_kept_rendered};
pub use progress::{DownloadProgress, Silent};
pub use pull_spec::{PullSpec, PullSpecError, PullSpecFault};
pub use registry::{
    Connection, Descriptor, Proxy, RealSleeper, RealmFault, RegistryError, RegistryUser, Retry, Roots,
    Sleeper, Tell,
};
pub use release_image::{Contents, FetchOptions, FetchedRelease, fetch};
pub use release_info::{ComponentVersion, InfoError, ReleaseInfo, info, release_info};
pub use signature::{PUBLIC_STORES, SignatureError, SignatureFault, SignatureStore, Verified, verify};
pub use update_graph::{OKD_REPOSITORY, PUBLIC_GRAPH, ResolveError, ResolvedWord, UpdateGraph, resolve};

use hardway_assets::release_payload::ReleasePayload;

/// Shown by every command that works on the sample release.
pub const SAMPLE_NOTICE: &str = "This is the built-in sample release, with placeholder image digests and CRDs without rules: \
 use the files for reading and rehearsing, not for booting a cluster.";

/// The notice, when this release is the sample.
pub fn sample_notice(payload: &ReleasePayload) -> Option<&'static str> {
    payload.is_sample.then_some(SAMPLE_NOTICE)
}
