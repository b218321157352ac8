//! Cutting the cord to the bootstrap host, in order and never too early.
//!
//! ```text
//! Facts     what was seen               facts.rs
//! decide()  which step is allowed now   decide.rs
//! quorum    may this member go?         quorum.rs
//! members   who is in etcd              members.rs (asks etcd itself)
//! removal   takes a member out of it    removal.rs (tells etcd itself)
//! ```
//!
//! The order is that of docs/guide/13-remove-bootstrap.md: control plane on the masters, overrides restored, etcd in the
//! cluster, kube-system/bootstrap complete, bootstrap member removed and out of the member list; only then the load
//! balancer, and only then the machine.

mod decide;
mod facts;
mod members;
mod quorum;
mod removal;
#[cfg(test)]
mod tests;

pub use decide::{Allowed, Decision, Gate, decide};
pub use facts::{Facts, MemberList};
pub use members::{EtcdAccess, Member, MembersError, ask_members};
pub use quorum::{Loss, QuorumError, guard_removal, quorum};
pub use removal::{RemovalRefused, remove_member};

/// What the bootstrap host's etcd member is called; the etcd operator removes it by this name.
pub const BOOTSTRAP_MEMBER: &str = "etcd-bootstrap";
