//! Phase check-host: everything that can be known before anything is built.
//!
//! ```text
//! Site          the cluster that is to be, and where               site.rs
//! CHECKS        every check, with what looks and for whom          catalogue.rs
//! run()         all of them at once; each result when it is known  run.rs
//! CheckResult   verdict, what was seen, what to do                 run.rs
//! Scene         what several checks want to know, asked once       scene.rs
//! host          programs, rights, virtualization, clock            host/
//! names         DNS, at the hosts' own servers and from here       names/
//! balancer      whether a backend answers through it               balancer/
//! network       ports, routes, addresses                           network/
//! registry      what the caller's registry client saw              registry/
//! capacity      memory, processors, disk                           capacity/
//! certificates  ends of those that are made already                certificates.rs
//! ```
//!
//! What only one provider asks is in that provider's folder (`providers/*/checks.rs`); what a check is, below both, in
//! `check/`.
//!
//! A check collects evidence, and a pure function judges it. Nothing is changed on this host or elsewhere; what is tried out
//! (a file that is synced, a backend that listens) is gone when the check ends.

mod balancer;
mod capacity;
mod catalogue;
mod certificates;
mod host;
mod names;
mod network;
mod registry;
mod run;
mod scene;
mod site;
#[cfg(test)]
mod tests;

pub use crate::check::{CheckName, Group, PreflightPatience};
pub use catalogue::{CHECKS, Check};
pub use registry::{ImagesSeen, PlaceSeen, Refusal, RegistrySeen};
pub use run::{CheckResult, Choice, failed, run};
pub use site::{AskImages, AskRegistry, Site};

use hardway_base::{Judged, Verdict};
