//! Whether every image is where nodes will look for it.
//!
//! ```text
//! NamedImage        an image as a pod names it                        named_image.rs
//! ReleaseImages     those of a release that a cluster runs            release_images.rs
//! NodeRegistries    what the cluster's objects say about registries   node_registries.rs
//! RegistriesConf    the file on a node, and where it leads            registries_conf.rs
//! Search            asks there: one HEAD for each image               search.rs
//! ```

mod named_image;
mod node_registries;
mod registries_conf;
mod release_images;
mod search;

pub use named_image::NamedImage;
pub use node_registries::{MappingOrigin, MirrorMapping, NodeRegistries, SignedScope};
pub use registries_conf::{
    ImageLookup, MirrorRule, PullPlace, Pulls, RegistriesConf, RegistriesConfError, RegistryRule,
};
pub use release_images::{BOOTSTRAP_IMAGES, ComponentImage, ReleaseImages};
pub use search::{AskedPlace, Depth, LookupOutcome, PlaceFault, Search, Sought, WantedImage};
