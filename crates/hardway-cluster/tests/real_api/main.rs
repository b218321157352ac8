//! A real etcd and a real kube-apiserver, with the CRDs of OpenShift and nobody who acts on them: a driver plays the
//! operators.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test stops at the first surprise")]

mod balancer;
mod console;
mod driver;
mod leaving;
mod members;
mod proxy;
mod removal;
mod verifying;
mod waiting;
mod watching;
