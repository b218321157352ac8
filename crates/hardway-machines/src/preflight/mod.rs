//! Phase check-host: everything that can be known before anything is built.
//!
//! ```text
//! Site          the cluster that is to be, and where               site.rs
//! CHECKS        every check: name, group, providers                catalogue.rs
//! run()         all of them at once; each result when it is known  run.rs
//! CheckResult   verdict, what was seen, what to do                 check_result.rs
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
//! What only one provider asks is in that provider's folder (`providers/*/checks.rs`).
//!
//! A check collects evidence, and a pure function judges it. Nothing is changed on this host or elsewhere; what is tried out
//! (a file that is synced, a backend that listens) is gone when the check ends.

mod asked_program;
mod balancer;
mod capacity;
mod catalogue;
mod certificates;
mod check_result;
mod host;
mod names;
mod network;
mod registry;
mod run;
mod scene;
mod site;
#[cfg(test)]
mod tests;

pub use catalogue::{CHECKS, Check, CheckName};
pub use check_result::{CheckResult, Group, PreflightVerdict};
pub use registry::{PlaceSeen, Refusal, RegistrySeen};
pub use run::{Choice, failed, run};
pub use site::{AskRegistry, PreflightPatience, Site};

pub(crate) use asked_program::{NoAnswer, SHORT, ask_program, find_program};
pub(crate) use balancer::Reachability;
pub(crate) use catalogue::{FITS, Look, NAMES};
pub(crate) use check_result::Judged;
pub(crate) use scene::Scene;
