//! Everything of a cluster that can be computed before a machine boots.
//!
//! This crate is pure: it reads no clock, no network, no terminal and no disk. Whoever calls it brings the two YAML
//! files, the release payload, the secrets and the files that lie in the working directory, and gets back which files
//! to write and why. The data's way, in the order of the modules:
//!
//! ```text
//! install_config + inventory ──► cluster ─┐
//! release_payload ────────────────────────┼─► pki ─► kubeconfigs ─► manifests, static_pods, operator_seeds ─► ignition
//! secrets ────────────────────────────────┘        (each an asset of `graph`, each told about by `explain`)
//! ```

mod all_assets;
pub mod cluster;
pub mod diff;
pub mod example;
pub mod explain;
pub mod feature_gates;
pub mod fetched_release;
pub mod file;
pub mod graph;
pub mod guide;
pub mod host_services;
pub mod ignition;
pub mod install_config;
pub mod install_media;
pub mod inventory;
pub mod kubeconfigs;
pub mod machine_provider;
pub mod manifests;
mod object_file;
mod object_id;
pub mod operator_seeds;
pub mod phase;
pub mod pki;
pub mod release_payload;
pub mod rendered_nodes;
mod rotation;
pub mod schema;
pub mod secrets;
pub mod static_pods;
#[cfg(test)]
mod testing;
pub mod violation;
pub mod yaml;

pub use all_assets::{assets, assets_with_edited_pointers};
pub use cluster::Cluster;
pub use file::{File, Tree};
pub use phase::Phase;

/// The name of this generator in `assets.lock`: version and sources.
pub const GENERATOR: &str = concat!(env!("CARGO_PKG_VERSION"), "+", env!("HARDWAY_SOURCES"));
