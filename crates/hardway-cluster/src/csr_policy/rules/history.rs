//! What was asked and approved before: one certificate per key, one live request per node, and not too many of either.

use std::collections::BTreeSet;

use jiff::SignedDuration;

use super::{Rule, ignition};
use crate::csr_policy::case::{Ask, Case, NODE_PREFIX};
use crate::csr_policy::{Approval, Finding, ReasonCode, Rival};

/// Keys with which one node is asked for at the same time, at most. A kubelet has one, and after a restart perhaps another; older requests
/// of more than these would only be held, and looked at again and again.
pub(crate) const MOST_KEYS: usize = 8;

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "newest",
        about: "no newer request of the same node replaces it, and no other key is used at the same time",
        check: newest,
    },
    Rule {
        name: "one-key",
        about: "no other key has a first client certificate for that name",
        check: one_key,
    },
    Rule { name: "budget", about: "the node does not get more certificates than it needs", check: budget },
];

/// A kubelet makes a new key for every request. When it was restarted, or waited in vain, an older request of its own is
/// still there: only the newest is worth anything. But everybody can ask with the shared identity, and a host's own may have
/// been stolen; so as long as the asker of the older one may still be waiting, it cannot be told who is the true one, and
/// neither gets a certificate. Requests of other identities than the host's own are not sound, and so are no rivals.
fn newest(case: &Case<'_>) -> Finding {
    let (Ok(read), request) = (case.pkcs10, case.request) else { return Finding::DoesNotApply };
    let own = (request.created, request.name.as_str());
    let newer = case.world.rivals.iter().filter(|rival| (rival.created, rival.name.as_str()) > own);
    let newer: Vec<&Rival> = newer.collect();
    let superseded = |rival: &Rival| {
        let what = format!("{}, created at {}, replaces it", rival.name, rival.created);
        Finding::objects(ReasonCode::Superseded, what)
    };
    if case.ask() != Ask::FirstClient {
        return newer
            .last()
            .map_or_else(|| Finding::fits("it is the newest of its node"), |rival| superseded(rival));
    }
    let keys: BTreeSet<&str> = newer.iter().map(|rival| rival.key_id.as_str()).collect();
    if let Some(rival) = newer.last().filter(|_| keys.len() >= MOST_KEYS) {
        return superseded(rival);
    }
    // A kubelet that has given up asks anew within a minute: until then the other must not be alone.
    let patience = case.world.settings.patience + case.world.settings.clock_skew;
    let waits = |created| case.world.now.duration_since(created) <= patience;
    if let Some(rival) = newer.iter().find(|rival| rival.key_id == read.key_id || !waits(request.created)) {
        return superseded(rival);
    }
    let other = case.world.rivals.iter().find(|rival| rival.key_id != read.key_id && waits(rival.created));
    match other {
        Some(rival) => Finding::objects(
            ReasonCode::Contested,
            format!("{}, created at {}, requests the same name with another key", rival.name, rival.created),
        ),
        None => Finding::fits("it is the newest of its node, and no other key is used"),
    }
}

fn one_key(case: &Case<'_>) -> Finding {
    if case.ask() != Ask::FirstClient || case.node_name().is_none() {
        return Finding::DoesNotApply;
    }
    let Some(other) = other_key(case) else {
        return Finding::fits("no other key has a certificate for that name");
    };
    // One generation of an identity is good for one machine: a fetch says "installed again" only of those that share theirs.
    let again = match case.identity() {
        Some(_) => was_never_used(case, other),
        None => ignition::may_come_again(case, other.at),
    };
    match again {
        Some(why) => Finding::fits(format!("another key got a certificate at {}, but {why}", other.at)),
        None => Finding::objects(
            ReasonCode::AlreadyApproved,
            format!("another key got a client certificate for that name at {}", other.at),
        ),
    }
}

/// A kubelet that is restarted between its request and the answer loses its key, and asks with another. Whoever has a
/// certificate registers a node within a minute or two: where none is there after the time that a kubelet waits, the
/// certificate is lost. Only for a host's own identity: the shared one would let anybody in who waits as long.
fn was_never_used(case: &Case<'_>, other: &Approval) -> Option<String> {
    let settings = case.world.settings;
    let patience = settings.patience;
    // The node may have been there, and be gone again. Approvers have clocks of their own, and requests have whole seconds.
    let as_node = case.node_name().map(|name| format!("{NODE_PREFIX}{name}"));
    let since = (other.at - settings.clock_skew).as_second();
    let is_its = |one: &Approval| Some(&one.username) == as_node.as_ref() && one.at.as_second() >= since;
    let is_used = case.world.approvals.iter().any(is_its);
    // By both clocks: that of whoever approved, and the API server's.
    let is_long_ago =
        [case.world.now, case.request.created].iter().all(|now| now.duration_since(other.at) > patience);
    let is_lost = case.node().is_none() && !is_used && is_long_ago;
    is_lost.then(|| format!("no node registered with it within {} minutes", patience.as_mins()))
}

fn budget(case: &Case<'_>) -> Finding {
    let hour = SignedDuration::from_hours(1);
    let recent = approvals(case).filter(|one| case.world.now.duration_since(one.at) < hour).count();
    let budget = case.world.settings.budget_per_hour;
    if recent < budget {
        Finding::fits(format!("it would be number {} of {budget} this hour", recent + 1))
    } else {
        let what = format!("the node got {recent} such certificates within an hour; {budget} are enough");
        Finding::objects(ReasonCode::OverBudget, what)
    }
}

/// The latest approval of a client certificate of that name for another key.
pub(super) fn other_key<'c>(case: &Case<'c>) -> Option<&'c Approval> {
    let key_id = case.pkcs10.ok().map(|read| read.key_id.as_str());
    approvals(case).filter(|one| Some(one.key_id.as_str()) != key_id).max_by_key(|one| one.at)
}

/// Approvals of that node by that signer. For a first certificate of a host with an identity of its own, those that this very
/// identity got: what others got, or an earlier generation, has nothing to do with it.
pub(super) fn approvals<'c>(case: &Case<'c>) -> impl Iterator<Item = &'c Approval> {
    let (node, signer) = (case.node_name(), case.request.signer.as_str());
    let user = case.identity().filter(|_| case.ask() == Ask::FirstClient).map(|own| own.user.as_str());
    let is_its = move |one: &&Approval| {
        Some(one.node.as_str()) == node
            && one.signer == signer
            && user.is_none_or(|user| one.username == user)
    };
    case.world.approvals.iter().filter(is_its)
}
