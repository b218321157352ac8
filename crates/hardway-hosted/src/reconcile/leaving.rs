//! A worker that goes: no new pods, pods leave, machine off, node away, and then perhaps a new machine.
//!
//! The node is removed after the machine, so that nothing registers it again; and before its name is used again, because a node
//! that is there keeps a new machine from its certificate.

use super::{Round, Step};
use crate::worker::{Wanted, Worker};

pub(super) fn step(worker: &Worker, round: &Round<'_>) -> Option<Step> {
    let history = &worker.history;
    let node = round.node(worker);
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
    let is_late = round.now.duration_since(draining) >= round.settings.drain;
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
