//! Machines that are switched on, and machines that go.

use jiff::{SignedDuration, Timestamp};

use super::{ReconcileStep, Round};
use crate::node_view::NodeView;
use crate::worker::{TroubleReason, WantedState, Worker};

/// A machine that is off boots once its name is free and the gates are open.
pub(super) fn boot(worker: &Worker, round: &Round<'_>, booting: &mut usize) -> Option<ReconcileStep> {
    // A node of that name keeps a new machine from getting a certificate.
    if let Some(node) = round.node(worker) {
        let message = format!("node {} exists since {}; it must be removed first", node.name, node.created);
        return round.trouble(worker, TroubleReason::NameTaken, message);
    }
    if let Some(gate) = round.held {
        let message = format!("gate {} is closed: {}", gate.name, gate.seen);
        return round.trouble(worker, TroubleReason::Held(gate.name), message);
    }
    if worker.history.generation.is_none() {
        let mut record = worker.clone();
        record.history.generation = Some(generation(round.now));
        return Some(ReconcileStep::Record(Box::new(record)));
    }
    let config_hash = round.config_hash?;
    if *booting >= round.settings.boots_at_once {
        return None;
    }
    *booting += 1;
    Some(ReconcileStep::Boot { worker: worker.name.clone(), config_hash: config_hash.to_owned() })
}

/// Seconds grow, also over a record that was removed and made again.
fn generation(now: Timestamp) -> u32 {
    u32::try_from(now.as_second()).unwrap_or(u32::MAX).max(1)
}

/// A worker that goes: cordon, drain, machine off, node deleted, and then perhaps a new machine.
///
/// The node is deleted after the machine is off, so that nothing registers it again; and before its name is used again, because a
/// node that is there keeps a new machine from its certificate.
pub(super) fn remove(worker: &Worker, round: &Round<'_>) -> Option<ReconcileStep> {
    let history = &worker.history;
    let node = round.own_node(worker);
    if history.removed.is_some() {
        return Some(match node {
            Some(node) => ReconcileStep::DeleteNode { node: node.name.clone(), uid: node.uid.clone() },
            None if worker.wanted == WantedState::Absent => {
                ReconcileStep::Forget { worker: worker.name.clone() }
            }
            None => {
                let mut next = worker.clone();
                next.next_incarnation();
                ReconcileStep::Record(Box::new(next))
            }
        });
    }
    let Some(node) = node.filter(|_| history.drained.is_none()) else {
        return Some(ReconcileStep::RemoveMachine { worker: Box::new(worker.clone()) });
    };
    let Some(draining) = history.draining else {
        let mut record = worker.clone();
        record.history.draining = Some(round.now);
        return Some(ReconcileStep::Record(Box::new(record)));
    };
    let is_late = round.now.duration_since(draining) >= drain_limit(node, round);
    let is_dead =
        !node.is_ready() && round.now.duration_since(node.ready_since) >= round.settings.unreachable;
    if is_late || is_dead {
        let mut record = worker.clone();
        record.history.drained = Some(round.now);
        return Some(ReconcileStep::Record(Box::new(record)));
    }
    Some(match node.is_unschedulable {
        false => ReconcileStep::Cordon { node: node.name.clone() },
        true => ReconcileStep::Drain { worker: Box::new(worker.clone()) },
    })
}

/// The pool's owner may give pods up. Nobody else takes from a node that works what a budget keeps there, or what nobody would start again.
fn drain_limit(node: &NodeView, round: &Round<'_>) -> SignedDuration {
    match round.view.pool.drain_timeout() {
        Some(timeout) => timeout,
        None if node.is_ready() => SignedDuration::MAX,
        None => round.settings.drain,
    }
}
