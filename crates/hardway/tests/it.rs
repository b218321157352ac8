//! The program as a person, a machine or an attacker meets it. One binary for all, because linking is what takes long.
//!
//! A room a part of the program: `cargo test -p hardway --test it serve::`.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test stops at the first surprise")]

mod attackers;
mod bare_metal;
mod check;
mod cli;
mod deploy;
mod fetch_and_render;
mod gce;
mod hosted;
mod infra;
mod live;
mod page;
mod release;
mod serve;

#[path = "../../hardway-cluster/tests/csr/support/mod.rs"]
#[allow(dead_code, reason = "shared with the tests of the policy, which use more of it")]
mod certificate_requests;
#[path = "../../hardway-machines/tests/common/client.rs"]
mod client;
#[path = "../../hardway-release/tests/containers.rs"]
#[allow(dead_code, reason = "shared with the tests of the library, which use more of it")]
mod containers;
#[path = "../../hardway-release/tests/fixture/mod.rs"]
mod fixture;
#[path = "../../hardway-machines/tests/install_media/fixture.rs"]
mod live_image;
mod work;
