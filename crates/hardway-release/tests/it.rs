//! Fetching and rendering from outside. One binary for all, because linking is what takes long.
//!
//! One room alone: `cargo test -p hardway-release --test it signature::`.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test stops at the first surprise")]

mod bundle;
mod containers;
mod contents;
mod damage;
mod fixture;
mod folder;
mod network;
mod node_images;
mod passwords;
mod registry;
mod render;
mod signature;
