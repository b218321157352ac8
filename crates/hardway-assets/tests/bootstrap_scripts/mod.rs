//! The bootstrap host's scripts and units: their text, and what they do, some of it to a real API server.
//!
//! Tests named `real_…` run etcd and kube-apiserver as `tools/kubernetes/build.sh` builds them, on free ports of the
//! loopback address. Without a Go toolchain, leave them out: `cargo test -- --skip real_`.

mod after_reboot;
mod bootkube;
mod create_manifests;
mod gather;
mod host;
mod host_services;
mod in_place;
mod records;
mod text;
