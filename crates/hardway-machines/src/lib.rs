//! From node configs to booted machines: preflight, providers and their actions, load balancer,
//! management controllers, install media, ignition server.

pub mod actions;
pub mod boot_server;
mod check;
mod file_body;
pub mod host_progress;
pub mod ignition_server;
pub mod install_media;
pub mod load_balancer;
pub mod media_paths;
pub mod media_server;
pub mod preflight;
pub mod providers;
pub mod redfish;
mod trouble;

/// What is asked before anything is built, explained.
pub const EXPLANATIONS: &[(hardway_assets::explain::Kind, &str)] =
    &[(hardway_assets::explain::Kind::Check, include_str!("../explanations/checks.md"))];

pub use trouble::Trouble;
