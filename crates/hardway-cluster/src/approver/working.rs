//! Deciding about many requests at once, with a bound.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use hardway_journal::{CsrDecided, Entry, Reason};
use kube::ResourceExt as _;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::audit::Audit;
use super::handling::Shared;
use super::queue::{Queue, Taken};
use super::record::{Outcome, Written};
use super::watching::Seen;
use super::writing::Trouble;
use super::{ApproverError, Expected, News, Summary};
use crate::csr_policy::{ReasonCode, State, Verdict};

/// Requests that are decided about at the same time. More than this only makes the API server's queue longer.
const PARALLEL: usize = 8;

/// What waits, and what is being decided.
pub(crate) struct Work {
    shared: Arc<Shared>,
    audit: Option<Audit>,
    queue: Queue,
    tasks: JoinSet<(Taken, Result<Option<Outcome>, Trouble>)>,
    /// What is being decided about.
    handling: BTreeSet<String>,
    /// What is held and why, by name: it is told once, and asked again when that may have changed.
    held: BTreeMap<String, (String, Reason)>,
    /// What has to be tried again, because the API server was away.
    again: Vec<String>,
    last_trouble: Option<Trouble>,
    summary: Summary,
}

impl Work {
    /// Without an audit nothing is written down.
    pub(crate) fn new(shared: Arc<Shared>, audit: Option<Audit>) -> Self {
        Self {
            shared,
            audit,
            queue: Queue::default(),
            tasks: JoinSet::new(),
            handling: BTreeSet::new(),
            held: BTreeMap::new(),
            again: Vec::new(),
            last_trouble: None,
            summary: Summary::default(),
        }
    }

    pub(crate) fn push(&mut self, names: impl IntoIterator<Item = String>) {
        let now = Instant::now();
        names.into_iter().for_each(|name| self.queue.push(name, now));
    }

    /// Everything that is pending.
    pub(crate) fn push_pending(&mut self) {
        let pending = self.shared.view().pending();
        self.push(pending);
    }

    /// Others are expected from now on: what was held for being unexpected is asked again, and so is what is being decided about,
    /// perhaps by whom was expected before. Nothing else would: to be unexpected does not pass with time.
    pub(crate) fn expect(&mut self, expected: &Expected) {
        self.shared.view().expect(expected);
        let again: Vec<String> = self.held.keys().chain(&self.handling).cloned().collect();
        self.push(again);
    }

    /// Takes in what the API server told, and asks again about what that may have changed.
    pub(crate) fn take_in(&mut self, seen: Seen) {
        let mut view = self.shared.view();
        let names = match seen {
            Seen::Request(object) => {
                let name = object.name_any();
                view.see_request(&object);
                match view.request(&name) {
                    // One that was decided makes room for others of its node, a new one takes their place.
                    Some(examined) => {
                        let mut names = examined.node().map(|node| view.pending_of(node)).unwrap_or_default();
                        names.extend((examined.request.state == State::Pending).then_some(name));
                        names
                    }
                    None => Vec::new(),
                }
            }
            Seen::RequestGone(name) => {
                view.forget_request(&name);
                self.held.remove(&name);
                Vec::new()
            }
            Seen::Requests(names) => {
                view.keep_requests(&names);
                self.held.retain(|name, _| names.contains(name));
                view.pending()
            }
            Seen::Node(name) => {
                let is_new = view.see_node(&name);
                if is_new { view.pending_of(&name) } else { Vec::new() }
            }
            Seen::NodeGone(name) => {
                view.forget_node(&name);
                view.pending_of(&name)
            }
            Seen::Nodes(names) => {
                view.keep_nodes(&names);
                Vec::new()
            }
            Seen::Trouble(_) => Vec::new(),
        };
        drop(view);
        self.push(names);
    }

    /// Begins with as many as may be.
    pub(crate) fn begin(&mut self) -> Result<(), ApproverError> {
        if self.queue.is_empty() || self.tasks.len() >= PARALLEL {
            return Ok(());
        }
        self.shared.read_journal()?;
        while self.tasks.len() < PARALLEL {
            let view = self.shared.view();
            let node = |name: &str| {
                view.request(name).and_then(|examined| examined.node()).unwrap_or(name).to_owned()
            };
            let Some(taken) = self.queue.take(node) else { break };
            drop(view);
            self.handling.insert(taken.name.clone());
            let shared = Arc::clone(&self.shared);
            self.tasks.spawn(async move {
                let result = shared.handle(&taken).await;
                (taken, result)
            });
        }
        Ok(())
    }

    /// Waits for one to be done; for ever when none is on its way.
    pub(crate) async fn done(&mut self) -> Result<(), ApproverError> {
        let Some(joined) = self.tasks.join_next().await else { return std::future::pending().await };
        let (taken, result) = joined.map_err(|error| ApproverError::Bug(error.to_string()))?;
        self.queue.done(&taken.key);
        self.handling.remove(&taken.name);
        match result {
            Ok(Some(outcome)) => self.decided(&taken.name, &outcome),
            Ok(None) => {
                self.held.remove(&taken.name);
            }
            Err(trouble) => {
                (self.shared.approver.tell)(News::Trouble(&trouble.to_string()));
                self.again.push(taken.name);
                self.last_trouble = Some(trouble);
            }
        }
        Ok(())
    }

    /// Nothing waits and nothing is on its way.
    pub(crate) fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.tasks.is_empty()
    }

    /// Waits until all that is on its way is done.
    pub(crate) async fn drain(&mut self) -> Result<(), ApproverError> {
        while !self.tasks.is_empty() {
            self.done().await?;
        }
        Ok(())
    }

    /// Tries again what failed, and asks again about what time may have changed.
    pub(crate) fn again(&mut self) {
        let again = std::mem::take(&mut self.again);
        let by_time = self.held.iter().filter(|(_, (_, reason))| {
            ReasonCode::named(reason.word()).is_some_and(ReasonCode::changes_with_time)
        });
        let by_time: Vec<String> = by_time.map(|(name, _)| name.clone()).collect();
        self.push(again);
        self.push(by_time);
    }

    /// Writes down hosts that have become nodes, and decisions that nobody could.
    pub(crate) fn record_news(&mut self) -> Result<(), ApproverError> {
        let is_news = self.shared.view().has_news();
        let Some(audit) = self.audit.as_ref().filter(|_| is_news && self.shared.leadership.is_ours()) else {
            return Ok(());
        };
        // Another approver may have recorded it.
        self.shared.read_journal()?;
        let now = (self.shared.approver.now)();
        let mut view = self.shared.view();
        for joined in view.newly_joined() {
            view.note_joined(&joined.host, now);
            (self.shared.approver.tell)(News::Joined(&joined.host));
            audit.happened(Entry::of(now, &joined));
        }
        for found in view.take_unrecorded() {
            audit.found(&found);
        }
        Ok(())
    }

    pub(crate) fn summary(&self) -> Summary {
        Summary { held: self.held.len(), ..self.summary }
    }

    /// Why the last request that could not be decided was not.
    pub(crate) fn trouble(&mut self) -> Option<Trouble> {
        self.last_trouble.take()
    }

    fn decided(&mut self, name: &str, outcome: &Outcome) {
        if outcome.written == Written::NotOurs {
            // Whoever leads decides; if that is us again, it must not be forgotten.
            self.summary.left_to_another += 1;
            self.again.push(name.to_owned());
            return;
        }
        let CsrDecided { uid, reason, verdict, .. } = &outcome.decided;
        let is_news = self.held.get(name) != Some(&(uid.clone(), reason.clone()));
        match verdict {
            Verdict::Hold => {
                self.held.insert(name.to_owned(), (uid.clone(), reason.clone()));
            }
            Verdict::Approve => self.summary.approved += 1,
            Verdict::Deny => self.summary.denied += 1,
            Verdict::Leave => {}
        }
        if *verdict != Verdict::Hold {
            self.held.remove(name);
        }
        if is_news {
            (self.shared.approver.tell)(News::Decided(outcome));
            // Who does not write does not record either: whoever writes does both.
            let is_recorded = self.shared.leadership.is_ours();
            if let Some(audit) =
                self.audit.as_ref().filter(|_| is_recorded || outcome.written == Written::Yes)
            {
                audit.decided(outcome);
            }
        }
    }
}

#[cfg(test)]
mod tests;
