//! Machines with and without a management controller: the real program, a real Redfish emulator (sushy-tools), an ISO with
//! the structure of a real one that the emulator fetches from `hardway media serve`.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test stops at the first surprise")]

mod by_hand;
mod controller;
mod create_cluster;
mod joining;
#[path = "../../../hardway-machines/tests/install_media/fixture.rs"]
#[allow(dead_code, reason = "each test program uses its own part")]
mod live_image;
mod masters;
mod node;
mod running;
mod site;
