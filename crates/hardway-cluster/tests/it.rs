//! From booting machines to a converged cluster, from outside. One binary for all, because linking is what takes long.
//!
//! One room alone: `cargo test -p hardway-cluster --test it csr::`.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a test stops at the first surprise"
)]

mod bootstrap_host;
mod csr;
mod real_api;
