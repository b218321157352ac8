//! From a pull spec to the config of every node: the real binary, a real registry on loopback, and the stand-in of the
//! machine-config-operator in real containers.
//!
//! Needs podman and Go besides what the fixture of the registry needs. Without them nothing is tested, except in CI, where
//! that is a failure.

mod fetch;
mod kinds;
mod reach;
mod render;
mod resume;
mod site;
mod words;
