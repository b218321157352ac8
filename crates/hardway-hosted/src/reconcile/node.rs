//! A worker whose machine is on: it becomes a node, is labelled, is upgraded, and is replaced when it stays unwell.

use jiff::SignedDuration;

use super::{ReconcileStep, Round, upgrade};
use crate::gates::GateName;
use crate::names;
use crate::node_view::NodeView;
use crate::objects::NodePool;
use crate::worker::{TroubleReason, WantedState, Worker};

pub(super) fn step(worker: &Worker, round: &Round<'_>, away: &mut usize) -> Option<ReconcileStep> {
    let node = round.own_node(worker);
    // One that an older hardway booted has no identity of its own, and is let in as nobody else.
    let has_none = worker.history.generation.is_none();
    if worker.history.joined.is_none() && (has_none || is_pointer_dead(worker, round)) {
        let mut record = worker.clone();
        record.wanted = WantedState::Replaced;
        return Some(ReconcileStep::Record(Box::new(record)));
    }
    if let Some((reason, message)) = is_unwell(worker, round) {
        return unwell(worker, reason, message, round);
    }
    let node = node?;
    if worker.history.labelled.is_none() {
        return Some(ReconcileStep::Label { worker: Box::new(worker.clone()) });
    }
    upgrade::step(worker, node, round, away)
}

/// Why a worker is unwell, if it is.
pub(super) fn is_unwell(worker: &Worker, round: &Round<'_>) -> Option<(TroubleReason, String)> {
    let booted = worker.history.booted.filter(|_| worker.wanted == WantedState::Present)?;
    match round.own_node(worker).filter(|_| worker.history.joined.is_some()) {
        Some(node) => is_node_unwell(node, round),
        None if worker.history.joined.is_some() => {
            Some((TroubleReason::NodeMissing, format!("node {} existed and is gone", worker.name)))
        }
        None if round.now.duration_since(booted) < round.settings.startup => None,
        None => Some(never_joined(worker, round)),
    }
}

/// The first link of the chain that is missing.
fn never_joined(worker: &Worker, round: &Round<'_>) -> (TroubleReason, String) {
    let minutes = worker.history.booted.map_or(0, |booted| round.now.duration_since(booted).as_mins());
    let news = round.view.news.get(&worker.name).cloned().unwrap_or_default();
    let is_served = round.view.news.values().any(|news| news.fetched.is_some());
    match (&worker.history.fetched, &worker.history.asked) {
        (_, Some(_)) => match news.asked {
            Some((_, verdict)) if verdict != "first-client" && verdict != "rejoin" => {
                (TroubleReason::NotApproved, format!("its certificate request is not approved: {verdict}"))
            }
            _ => (
                TroubleReason::NotRegistered,
                format!("on for {minutes} min and has a certificate, but is not a node"),
            ),
        },
        (None, None) if is_served => {
            (TroubleReason::NotFetched, format!("on for {minutes} min, but has not fetched its config"))
        }
        (fetched, None) => {
            let has = if fetched.is_some() { ", has fetched its config" } else { "" };
            (
                TroubleReason::NotAsked,
                format!("on for {minutes} min{has}, but has not requested a certificate"),
            )
        }
    }
}

fn is_node_unwell(node: &NodeView, round: &Round<'_>) -> Option<(TroubleReason, String)> {
    let since = round.now.duration_since(node.ready_since);
    // A node that reboots for an upgrade is the daemon's business.
    let is_working = node.daemon_state.as_deref() == Some("Working");
    (!node.is_ready() && since >= round.settings.unready && !is_working).then(|| {
        (TroubleReason::NotReady, format!("not ready for {} min: {}", since.as_mins(), node.ready_message))
    })
}

/// Recorded; and replaced, where the pool wants repairs and the limits allow it.
fn unwell(
    worker: &Worker,
    reason: TroubleReason,
    message: String,
    round: &Round<'_>,
) -> Option<ReconcileStep> {
    let told = worker.history.trouble.as_ref().map(|trouble| &trouble.reason);
    if !round.view.pool.spec.management.auto_repair.unwrap_or_default() {
        return round.trouble(worker, reason, message);
    }
    if let Some(paused) = round.held.filter(|gate| gate.name == GateName::Paused) {
        return round.trouble(worker, TroubleReason::RepairsPaused, format!("{message}; {}", paused.seen));
    }
    let unwell = round.unwell.len();
    if unwell > round.settings.most_unwell {
        let message = format!(
            "{message}; {unwell} workers are unhealthy, so the cause is likely elsewhere and none is replaced"
        );
        return round.trouble(worker, TroubleReason::RepairsPaused, message);
    }
    let hour = SignedDuration::from_hours(1);
    let repairs = round.view.workers.iter().flat_map(|one| &one.repairs);
    if repairs.filter(|at| round.now.duration_since(**at) < hour).count() >= round.settings.repairs_per_hour {
        let message = format!(
            "{message}; {} were replaced within an hour, which is the limit",
            round.settings.repairs_per_hour
        );
        return round.trouble(worker, TroubleReason::RepairsPaused, message);
    }
    // Recorded in one round, replaced in the next: the record keeps why.
    if told != Some(&reason) {
        return round.trouble(worker, reason, message);
    }
    let mut record = worker.clone();
    record.wanted = WantedState::Replaced;
    record.repairs.retain(|at| round.now.duration_since(*at) < hour);
    record.repairs.push(round.now);
    Some(ReconcileStep::Record(Box::new(record)))
}

/// Whether its pointer opens nothing any more, and it has not been used.
fn is_pointer_dead(worker: &Worker, round: &Round<'_>) -> bool {
    let history = &worker.history;
    if history.fetched.is_some() || history.asked.is_some() {
        return false;
    }
    let is_over = history.pointer_good_until.is_some_and(|until| round.now >= until);
    let is_gone = history.config_hash.as_deref().is_some_and(|hash| {
        let token = round.token(hash);
        Some(hash) != round.config_hash && token.is_none_or(|token| token.is_expired(round.now))
    });
    is_over || is_gone
}

/// The labels of a worker's node: those of its pool, which pool it is, and where the machine is. What the pool says of its place counts more.
pub fn node_labels(pool: &NodePool, worker: &Worker) -> std::collections::BTreeMap<String, String> {
    let mut labels = pool.spec.node_labels.clone().unwrap_or_default();
    for (label, value) in [(names::ZONE, &worker.zone), (names::REGION, &worker.region)] {
        if let Some(value) = value {
            labels.entry(label.to_owned()).or_insert_with(|| value.clone());
        }
    }
    labels.insert(names::NODE_LABEL.to_owned(), pool.metadata.name.clone().unwrap_or_default());
    labels
}
