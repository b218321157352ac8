//! May this etcd member go, if somebody insists?
//!
//! etcd accepts a change when more than half of its voting members have written it down. A machine that is switched off
//! while its member is still on the list counts against that; a member that was removed does not.

use super::members::Member;

/// Why it may not, or only with eyes open.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuorumError {
    /// etcd, and with it the cluster, would stop.
    #[error(
        "{what} would leave {left} of {voters} voting etcd members healthy; {needed} are needed, or the cluster stops"
    )]
    Lost {
        /// What was to be done.
        what: String,
        /// Healthy voters after it.
        left: usize,
        /// Voters after it.
        voters: usize,
        /// Voters needed to go on.
        needed: usize,
    },
    /// There is no such member.
    #[error("there is no etcd member {0}")]
    NoSuchMember(String),
    /// The list is empty, so nothing can be said.
    #[error("etcd's members are unknown, so its quorum cannot be checked")]
    Unknown,
}

/// What remains when etcd survives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// One more member may fail.
    Spare,
    /// etcd goes on, and the next failure stops it.
    NoSpare,
}

/// Voters that must agree.
pub fn quorum(voters: usize) -> usize {
    voters / 2 + 1
}

/// Removing a member from the list.
pub fn guard_removal(members: &[Member], name: &str) -> Result<Loss, QuorumError> {
    find(members, name)?;
    let voters = members.iter().filter(|member| !member.is_learner && member.name != name).count();
    judge(format!("removing member {name}"), healthy_without(members, name), voters)
}

fn find<'m>(members: &'m [Member], name: &str) -> Result<&'m Member, QuorumError> {
    if members.is_empty() {
        return Err(QuorumError::Unknown);
    }
    let found = members.iter().find(|member| member.name == name);
    found.ok_or_else(|| QuorumError::NoSuchMember(name.to_owned()))
}

fn healthy_without(members: &[Member], name: &str) -> usize {
    members.iter().filter(|member| !member.is_learner && member.is_healthy && member.name != name).count()
}

fn judge(what: String, left: usize, voters: usize) -> Result<Loss, QuorumError> {
    let needed = quorum(voters);
    match left {
        _ if left < needed || voters == 0 => Err(QuorumError::Lost { what, left, voters, needed }),
        _ if left == needed => Ok(Loss::NoSpare),
        _ => Ok(Loss::Spare),
    }
}
