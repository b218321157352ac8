//! Everything of a cluster that can be computed before a machine boots.
//!
//! Two files and a release go in; a [`Plan`](graph::Plan) comes out, which names every file to write, with its content
//! and the reason for it:
//!
//! ```
//! use hardway_assets::{OnDisk, Project, example, release_payload};
//!
//! let project = Project::read(
//!     example::INSTALL_CONFIG,            // the text of install-config.yaml
//!     example::INVENTORY,                 // the text of inventory.yaml
//!     release_payload::sample(),          // or what `hardway-release` fetched
//!     OnDisk::default(),                  // a new cluster
//!     "2026-11-15T00:00:00Z".parse()?,    // now
//! )?;
//! for file in project.plan()?.writes {
//!     // Write `file.bytes` to `file.path` with `file.mode`; `project.secrets()` go to `secrets/` first.
//!     assert!(!file.bytes.is_empty(), "{}", file.path);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The crate is pure: it reads no clock, no network, no terminal and no disk. With the same files, release, secrets and
//! clock, two computers make the same bytes.
//!
//! # The first row
//!
//! [`Project`] is the way in, [`OnDisk`] what it is given besides the files, [`Cluster`] what is to be built,
//! [`release_payload::ReleasePayload`] the release, [`secrets::SecretBundle`] the secrets, [`graph::Plan`] the result,
//! [`File`] and [`Tree`] what it is made of, [`explain::Catalogue`] what each of them is for.
//!
//! # The second row
//!
//! The other modules are the parts that `Project` is put together from, in the order of the data's way. They are public
//! for the crates that serve, boot and watch what is made here; their shape follows those crates' needs and changes with
//! them.
//!
//! ```text
//! install_config + inventory ──► Cluster ─┐     yaml, schema, violation: reading, and all mistakes at once
//! release_payload ────────────────────────┼─► pki ─► kubeconfigs; manifests, static pods, seeds ─► ignition
//! secrets ────────────────────────────────┘        (each an asset of `graph`, each told about by `explain`)
//!
//! day_two                          what a cluster is given after its install
//! host_services, install_media     what is around the hosts, and what they boot from
//! diff                             what was made, held against what openshift-install makes
//! guide                            the chapters of the guide, and their tables
//! ```

mod all_assets;
mod cluster;
pub mod day_two;
mod day_two_settings;
pub mod der;
pub mod diff;
pub mod example;
pub mod explain;
pub mod feature_gates;
pub mod fetched_release;
mod file;
pub mod graph;
pub mod guide;
pub mod host_identity;
pub mod host_services;
pub mod hosted_inventory;
pub mod ignition;
mod ignition_spec;
pub mod input_tables;
pub mod install_config;
pub mod install_media;
pub mod inventory;
pub mod kubeconfigs;
pub mod machine_provider;
mod manifests;
mod nearest;
pub mod node_name;
mod object_file;
mod operator_seeds;
mod phase;
pub mod pki;
mod project;
pub mod release_payload;
pub mod rendered_nodes;
mod rotation;
pub mod schema;
pub mod secrets;
pub mod static_pods;
pub mod violation;
pub mod work_paths;
pub mod yaml;

pub use cluster::{Cluster, Topology};
pub use file::{File, Tree};
pub use manifests::no_proxy;
pub use phase::Phase;
pub use project::{OnDisk, Project, ProjectError};

/// The name of this generator in `assets.lock`: version and sources.
pub const GENERATOR: &str = concat!(env!("CARGO_PKG_VERSION"), "+", env!("HARDWAY_SOURCES"));
