//! What the assets need to know of a release: images, CRDs, feature gates, rendered node configs.
//!
//! This crate only defines the value. `hardway-release` fills it from a registry or a folder; [`sample`] is a made-up
//! one for offline use.

mod component_images;
mod payload;

pub use component_images::{ComponentImages, MissingImage};
pub use payload::{FeatureGates, ReleaseManifest, ReleasePayload, RenderedConfig};
