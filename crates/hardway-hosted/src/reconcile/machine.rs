//! Machines that are switched on, and machines that go.

use jiff::SignedDuration;

use super::{Round, Step};
use crate::worker::{TroubleReason, Wanted, Worker};

/// A machine that is off boots once its name is free and the gates are open.
pub(super) fn boot(worker: &Worker, round: &Round<'_>, booting: &mut usize) -> Option<Step> {
    // A node of that name keeps a new machine from getting a certificate.
    if let Some(node) = round.node(worker) {
        let message = format!("node {} is there since {}; it goes first", node.name, node.created);
        return round.trouble(worker, TroubleReason::NameTaken, message);
    }
    if let Some(gate) = round.held {
        let message = format!("gate {} is held: {}", gate.name, gate.seen);
        return round.trouble(worker, TroubleReason::Held(gate.name), message);
    }
    let config_hash = round.config_hash?;
    if *booting >= round.settings.boots_at_once {
        return None;
    }
    *booting += 1;
    Some(Step::Boot { worker: worker.name.clone(), config_hash: config_hash.to_owned() })
}

/// A worker that goes: cordon, drain, machine off, node deleted, and then perhaps a new machine.
///
/// The node is deleted after the machine is off, so that nothing registers it again; and before its name is used again, because a
/// node that is there keeps a new machine from its certificate.
pub(super) fn remove(worker: &Worker, round: &Round<'_>) -> Option<Step> {
    let history = &worker.history;
    let node = round.own_node(worker);
    if history.removed.is_some() {
        return Some(match node {
            Some(node) => Step::DeleteNode { node: node.name.clone(), uid: node.uid.clone() },
            None if worker.wanted == Wanted::Absent => Step::Forget { worker: worker.name.clone() },
            None => {
                let mut next = worker.clone();
                next.next_incarnation();
                Step::Record(Box::new(next))
            }
        });
    }
    let Some(node) = node.filter(|_| history.drained.is_none()) else {
        return Some(Step::RemoveMachine { worker: Box::new(worker.clone()) });
    };
    let Some(draining) = history.draining else {
        let mut record = worker.clone();
        record.history.draining = Some(round.now);
        return Some(Step::Record(Box::new(record)));
    };
    let is_late = round.now.duration_since(draining) >= drain_limit(worker, round);
    let is_dead =
        !node.is_ready() && round.now.duration_since(node.ready_since) >= round.settings.unreachable;
    if is_late || is_dead {
        let mut record = worker.clone();
        record.history.drained = Some(round.now);
        return Some(Step::Record(Box::new(record)));
    }
    Some(match node.is_unschedulable {
        false => Step::Cordon { node: node.name.clone() },
        true => Step::Drain { worker: Box::new(worker.clone()) },
    })
}

/// The pool's owner may give pods up; nobody else does with those that nobody would start again.
fn drain_limit(worker: &Worker, round: &Round<'_>) -> SignedDuration {
    let trouble = worker.history.trouble.as_ref().map(|trouble| &trouble.reason);
    match round.view.pool.drain_timeout() {
        Some(timeout) => timeout,
        None if trouble == Some(&TroubleReason::WouldLosePods) => SignedDuration::MAX,
        None => round.settings.drain,
    }
}
