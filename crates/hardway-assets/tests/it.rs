//! The assets from outside. One binary for all, because linking is what takes long; a module a concern.
//!
//! One of them alone: `cargo test -p hardway-assets --test it golden::`.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a test stops at the first surprise"
)]

mod bootstrap_scripts;
mod common;
mod config_rules;
mod control_plane;
mod explained;
mod fingerprints;
mod golden;
mod host_identities;
mod host_services;
mod ignition_validate;
mod invariants;
mod peer;
mod peer_summary;
mod scale;
mod ssh_keys;
mod tls;
