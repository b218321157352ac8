//! `hardway release` as a person meets it: the real binary against a real registry on loopback.
#![expect(clippy::unwrap_used, reason = "clippy does not see that the helpers here are test code")]
#![allow(clippy::disallowed_methods, reason = "the fixture sets the world up as others do")]

#[path = "../../../hardway-release/tests/fixture/mod.rs"]
mod fixture;
#[path = "../cli/snapshot.rs"]
#[allow(dead_code, reason = "shared with the other tests of the program, which use more of it")]
mod snapshot;
#[path = "../cli/work.rs"]
#[allow(dead_code, reason = "shared with the other tests of the program, which use more of it")]
mod work;

mod extract;
mod info;
mod media;
mod media_server;
mod mirror;
mod reaching;
mod signature;
mod site;
