//! Objects judged here and by a real kube-apiserver. One binary for all, because linking is what takes long.
//!
//! One room alone: `cargo test -p hardway-manifests --test it differential::`.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a test stops at the first surprise"
)]

mod differential;
mod folders;
mod good_objects;
mod kubernetes_table;
mod real_data;
