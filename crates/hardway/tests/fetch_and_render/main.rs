//! From a pull spec to the config of every node: the real binary, a real registry on loopback, and the stand-in of the
//! machine-config-operator in real containers.
//!
//! Needs podman and Go besides what the fixture of the registry needs. Without them nothing is tested, except in CI, where
//! that is a failure.
#![expect(clippy::unwrap_used, reason = "clippy does not see that the helpers here are test code")]
#![allow(clippy::disallowed_methods, reason = "the fixture sets the world up as others do")]

#[path = "../../../hardway-release/tests/render/containers.rs"]
#[allow(dead_code, reason = "shared with the tests of the library, which use more of it")]
mod containers;
#[path = "../../../hardway-release/tests/fixture/mod.rs"]
mod fixture;
#[path = "../cli/snapshot.rs"]
#[allow(dead_code, reason = "shared with the other tests of the program, which use more of it")]
mod snapshot;
#[path = "../cli/work.rs"]
#[allow(dead_code, reason = "shared with the other tests of the program, which use more of it")]
mod work;

mod fetch;
mod kinds;
mod reach;
mod render;
mod resume;
mod site;
