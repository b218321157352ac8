//! From configs to booted machines, from outside. One binary for all, because linking is what takes long.
//!
//! One room alone: `cargo test -p hardway-machines --test it redfish::`.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a test stops at the first surprise"
)]

mod actions;
mod bare_metal;
mod boot_server;
#[path = "common/client.rs"]
mod client;
mod gce;
mod ignition_server;
mod install_media;
mod lab_console;
mod libvirt;
mod load_balancer;
mod redfish;
#[path = "common/systemd.rs"]
mod systemd;
