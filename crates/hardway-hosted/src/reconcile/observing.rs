//! What was seen goes into the record.

use super::Round;
use crate::worker::Worker;

/// The record as it should be, by what is seen now.
pub(super) fn observed(worker: &Worker, round: &Round<'_>) -> Worker {
    let mut seen = worker.clone();
    let Some(booted) = worker.history.booted else { return seen };
    if worker.history.removed.is_some() {
        return seen;
    }
    let history = &mut seen.history;
    if let Some(news) = round.view.news.get(&worker.name) {
        let since = |time: &jiff::Timestamp| *time >= booted;
        if history.fetched.is_none() {
            history.fetched = news.fetched.filter(since);
        }
        if history.asked.is_none() {
            history.asked = news.asked.as_ref().map(|(at, _)| *at).filter(since);
        }
    }
    let node = round.node(worker).filter(|node| {
        // A node that was there before the machine is another's.
        node.created.as_second() >= booted.as_second()
            && history.node_uid.as_deref().is_none_or(|uid| uid == node.uid)
    });
    if let Some(node) = node {
        history.joined.get_or_insert(node.created);
        history.node_uid.get_or_insert_with(|| node.uid.clone());
        if node.is_ready() {
            history.ready.get_or_insert(node.ready_since.max(node.created));
            // What kept it is over, unless it is about something else than coming up.
            if history.trouble.as_ref().is_some_and(|trouble| COMING_UP.contains(&trouble.reason.as_str())) {
                history.trouble = None;
            }
        }
    }
    seen
}

/// Troubles that end with a node that is Ready.
pub(super) const COMING_UP: [&str; 7] =
    [BY_HAND, "not-fetched", "not-asked", "not-approved", "not-registered", "not-ready", "repairs-paused"];

/// A person has to switch the machine on.
pub(crate) const BY_HAND: &str = "by-hand";
