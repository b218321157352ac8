//! Certificate requests: the policy on data alone, and the approver on a real etcd, kube-apiserver and
//! kube-controller-manager.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a test stops at the first surprise, and real servers check certificates against the real clock"
)]

mod approver;
mod policy;
mod support;
