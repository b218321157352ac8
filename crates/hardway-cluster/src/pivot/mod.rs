//! Cutting the cord to the bootstrap host, in order and never too early.
//!
//! ```text
//! Facts     what was seen               facts.rs
//! decide()  which step is allowed now   decide.rs
//! ```
//!
//! The order is that of docs/guide/13-remove-bootstrap.md: control plane on the masters, overrides restored, etcd in the
//! cluster, kube-system/bootstrap complete, bootstrap member removed and out of the member list; only then the load
//! balancer, and only then the machine.

mod decide;
mod facts;
#[cfg(test)]
mod tests;

pub use decide::{Allowed, Gate, PivotDecision, PivotGate, decide};
pub use facts::{Facts, MemberList};
