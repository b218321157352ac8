//! Hosted workers on two real API servers: one is the management cluster, one the hosted cluster. HyperShift's operators are a
//! stand-in that writes what they write; machines are simulated kubelets that fetch their config and make real certificate requests.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a test stops at the first surprise"
)]

mod attacks;
mod elections;
mod identities;
mod kubelet;
mod lives;
mod modes;
mod monitoring;
mod obeyed;
mod rights;
mod running;
mod scale;
mod site;
