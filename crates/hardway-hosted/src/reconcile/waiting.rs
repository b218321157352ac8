//! A worker whose machine is off: until the pool's gates are open.

use super::{Round, Step};
use crate::worker::{Trouble, Worker};

pub(super) fn step(worker: &Worker, round: &Round<'_>, booting: &mut usize) -> Option<Step> {
    // Its name must be free: with the old node there, no new machine gets a certificate.
    if let Some(node) = round.node(worker) {
        let message = format!("node {} is there since {}; it goes first", node.name, node.created);
        return troubled(worker, "name-taken", message, round);
    }
    if let Some(gate) = round.held {
        let message = format!("gate {} is held: {}", gate.name, gate.seen);
        return troubled(worker, gate.name, message, round);
    }
    let config_hash = round.config_hash?;
    if *booting >= round.settings.boots_at_once {
        return None;
    }
    *booting += 1;
    Some(Step::Boot { worker: worker.name.clone(), config_hash: config_hash.to_owned() })
}

/// Writes down why, once for each reason.
pub(super) fn troubled(worker: &Worker, reason: &str, message: String, round: &Round<'_>) -> Option<Step> {
    if worker.history.trouble.as_ref().is_some_and(|trouble| trouble.reason == reason) {
        return None;
    }
    let mut record = worker.clone();
    record.history.trouble = Some(Trouble { reason: reason.to_owned(), message, since: round.now });
    Some(Step::Record(Box::new(record)))
}
