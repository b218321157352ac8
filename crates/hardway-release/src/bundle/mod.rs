//! One file with everything that a site without internet access needs for an install.
//!
//! ```text
//! BundlePlan         what will be in it, byte by byte, before the first layer is fetched   plan.rs, gather.rs
//! write()            the file, begun or gone on with                                       write.rs
//! Bundle, Bundles    files that are there: looked into, checked, found in by digest        read.rs, shelf.rs
//! BundleContents     the list of parts, first in the file                                  contents.rs, member.rs
//! RegistryServer     a registry made of them                                               server/
//! ```
//!
//! The file is an uncompressed tar, and an OCI image layout in it (`docs/decisions/0023-one-file-to-carry.md`):
//!
//! ```text
//! hardway-bundle.json          every part after it: name, size, digest, and what it is of
//! README                       for whoever finds the file
//! oci-layout, index.json       names of all images
//! hardway                      the program
//! signatures/sha256=<hex>/signature-<n>
//! blobs/sha256/<hex>           manifests, configs, layers; each once
//! media/<name>                 boot images
//! hardway-bundle.sha256        the sum of the list
//! ```

mod contents;
mod error;
mod gather;
mod member;
mod plan;
mod read;
mod server;
mod shelf;
mod write;

pub use contents::{BundleContents, BundledImage, NeededBundle, Part};
pub use error::BundleError;
pub use plan::{BundlePlan, BundleWishes};
pub use read::Bundle;
pub use server::{Asked, RegistryServer, ServerError, ServerTls};
pub use shelf::Bundles;
pub use write::{Written, write};
