//! Which requests are to be decided, and which are being decided: each once, in order, a bounded number at a time, and never two of
//! one node.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use hardway_journal::{CsrDecided, Entry, Reason};
use kube::ResourceExt as _;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::audit::Audit;
use super::events::Event;
use super::reconciler::{Reconciler, Trouble};
use super::record::{CsrOutcome, Written};
use super::{ApproverError, Expected, News, Summary};
use crate::csr_policy::{CsrVerdict, ReasonCode, State};

/// Requests decided at the same time. More would only lengthen the API server's own queue.
const PARALLEL: usize = 8;

/// The work of a running approver.
pub(crate) struct Work {
    reconciler: Arc<Reconciler>,
    audit: Option<Audit>,
    queue: Queue,
    tasks: JoinSet<(Queued, Result<Option<CsrOutcome>, Trouble>)>,
    /// Names of those being decided.
    deciding: BTreeSet<String>,
    /// Held requests by name, with uid and reason: each is reported once, and decided again when that may have changed.
    held: BTreeMap<String, (String, Reason)>,
    /// To be retried, because the API server was away.
    again: Vec<String>,
    last_trouble: Option<Trouble>,
    summary: Summary,
}

impl Work {
    /// Without an audit nothing is recorded.
    pub(crate) fn new(reconciler: Arc<Reconciler>, audit: Option<Audit>) -> Self {
        Self {
            reconciler,
            audit,
            queue: Queue::default(),
            tasks: JoinSet::new(),
            deciding: BTreeSet::new(),
            held: BTreeMap::new(),
            again: Vec::new(),
            last_trouble: None,
            summary: Summary::default(),
        }
    }

    pub(crate) fn push(&mut self, names: impl IntoIterator<Item = String>) {
        let now = Instant::now();
        let view = self.reconciler.view();
        for name in names {
            let turn = if view.is_vouched_for(&name) { Turn::First } else { Turn::InOrder };
            self.queue.push(name, turn, now);
        }
    }

    /// Everything that is pending.
    pub(crate) fn push_pending(&mut self) {
        let pending = self.reconciler.view().pending();
        self.push(pending);
    }

    /// Other nodes are expected from now on. Held requests are decided again, and so are those in flight, which may have been
    /// judged by the old list: nothing else would bring them back, since being unexpected does not change with time.
    pub(crate) fn expect(&mut self, expected: &Expected) {
        self.reconciler.view().expect(expected);
        let again: Vec<String> = self.held.keys().chain(&self.deciding).cloned().collect();
        self.push(again);
    }

    /// Applies an event, and queues the requests it may decide.
    pub(crate) fn apply(&mut self, event: Event) {
        let mut view = self.reconciler.view();
        let names = match event {
            Event::Request(object) => {
                let name = object.name_any();
                view.see_request(&object);
                match view.request(&name) {
                    // Deciding one may decide its rivals, and a new one is a rival to those already there.
                    Some(examined) => {
                        let mut names = examined.node().map(|node| view.pending_of(node)).unwrap_or_default();
                        names.extend((examined.request.state == State::Pending).then_some(name));
                        names
                    }
                    None => Vec::new(),
                }
            }
            Event::RequestGone(name) => {
                view.forget_request(&name);
                self.held.remove(&name);
                Vec::new()
            }
            Event::Requests(names) => {
                view.keep_requests(&names);
                self.held.retain(|name, _| names.contains(name));
                view.pending()
            }
            Event::Node(name) => {
                let is_new = view.see_node(&name);
                if is_new { view.pending_of(&name) } else { Vec::new() }
            }
            Event::NodeGone(name) => {
                view.forget_node(&name);
                view.pending_of(&name)
            }
            Event::Nodes(names) => {
                view.keep_nodes(&names);
                Vec::new()
            }
            Event::Trouble(_) => Vec::new(),
        };
        drop(view);
        self.push(names);
    }

    /// Starts as many as fit.
    pub(crate) fn begin(&mut self) -> Result<(), ApproverError> {
        if self.queue.is_empty() || self.tasks.len() >= PARALLEL {
            return Ok(());
        }
        self.reconciler.read_journal()?;
        while self.tasks.len() < PARALLEL {
            let view = self.reconciler.view();
            let node = |name: &str| {
                view.request(name).and_then(|examined| examined.node()).unwrap_or(name).to_owned()
            };
            let Some(queued) = self.queue.take(node) else { break };
            drop(view);
            self.deciding.insert(queued.name.clone());
            let reconciler = Arc::clone(&self.reconciler);
            self.tasks.spawn(async move {
                let result = reconciler.reconcile(&queued).await;
                (queued, result)
            });
        }
        Ok(())
    }

    /// Waits for one to finish; for ever when none is in flight.
    pub(crate) async fn done(&mut self) -> Result<(), ApproverError> {
        let Some(joined) = self.tasks.join_next().await else { return std::future::pending().await };
        let (queued, result) = joined.map_err(|error| ApproverError::Bug(error.to_string()))?;
        self.queue.done(&queued.key);
        self.deciding.remove(&queued.name);
        match result {
            Ok(Some(outcome)) => self.decided(&queued.name, &outcome),
            Ok(None) => {
                self.held.remove(&queued.name);
            }
            Err(trouble) => {
                (self.reconciler.approver.tell)(News::Trouble(&trouble.to_string()));
                self.again.push(queued.name);
                self.last_trouble = Some(trouble);
            }
        }
        Ok(())
    }

    /// Nothing is queued and nothing is in flight.
    pub(crate) fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.tasks.is_empty()
    }

    /// Waits until nothing is in flight.
    pub(crate) async fn finish(&mut self) -> Result<(), ApproverError> {
        while !self.tasks.is_empty() {
            self.done().await?;
        }
        Ok(())
    }

    /// Queues what failed, and what the passing of time may have changed.
    pub(crate) fn requeue(&mut self) {
        let again = std::mem::take(&mut self.again);
        let by_time = self.held.iter().filter(|(_, (_, reason))| {
            ReasonCode::named(reason.word()).is_some_and(ReasonCode::changes_with_time)
        });
        let by_time: Vec<String> = by_time.map(|(name, _)| name.clone()).collect();
        self.push(again);
        self.push(by_time);
    }

    /// Records hosts that have become nodes, and verdicts in the cluster that are missing from the journal.
    pub(crate) fn record_news(&mut self) -> Result<(), ApproverError> {
        let is_news = self.reconciler.view().has_news();
        let Some(audit) = self.audit.as_ref().filter(|_| is_news && self.reconciler.leadership.is_ours())
        else {
            return Ok(());
        };
        // Another approver may have recorded it.
        self.reconciler.read_journal()?;
        let now = (self.reconciler.approver.now)();
        let mut view = self.reconciler.view();
        for joined in view.newly_joined() {
            view.note_joined(&joined.host, now);
            (self.reconciler.approver.tell)(News::Joined(&joined.host));
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

    fn decided(&mut self, name: &str, outcome: &CsrOutcome) {
        if outcome.written == Written::NotOurs {
            // The leader decides it; if that becomes us again, it must not be forgotten.
            self.summary.left_to_another += 1;
            self.again.push(name.to_owned());
            return;
        }
        let CsrDecided { uid, reason, verdict, .. } = &outcome.decided;
        let is_news = self.held.get(name) != Some(&(uid.clone(), reason.clone()));
        match verdict {
            CsrVerdict::Hold => {
                self.held.insert(name.to_owned(), (uid.clone(), reason.clone()));
            }
            CsrVerdict::Approve => self.summary.approved += 1,
            CsrVerdict::Deny => self.summary.denied += 1,
            CsrVerdict::Leave => {}
        }
        if *verdict != CsrVerdict::Hold {
            self.held.remove(name);
        }
        if is_news {
            (self.reconciler.approver.tell)(News::Decided(outcome));
            // Only the leader records: the others see its verdicts too.
            let is_recorded = self.reconciler.leadership.is_ours();
            if let Some(audit) =
                self.audit.as_ref().filter(|_| is_recorded || outcome.written == Written::Yes)
            {
                audit.decided(outcome);
            }
        }
    }
}

/// When a request is decided about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Before all that strangers may ask, however many these are: they could hold a host up else.
    First,
    InOrder,
}

/// Requests in the order they came, each once; those that the API server vouches for before the others.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    first: VecDeque<String>,
    order: VecDeque<String>,
    since: BTreeMap<String, Instant>,
    busy: BTreeSet<String>,
}

/// A request taken from the queue.
#[derive(Debug)]
pub(crate) struct Queued {
    pub(crate) name: String,
    /// What is busy until [`Queue::done`].
    pub(crate) key: String,
    pub(crate) since: Instant,
}

impl Queue {
    /// At the end of those whose turn is the same, unless it is in it.
    pub(crate) fn push(&mut self, name: String, turn: Turn, now: Instant) {
        if !self.since.contains_key(&name) {
            self.since.insert(name.clone(), now);
            match turn {
                Turn::First => self.first.push_back(name),
                Turn::InOrder => self.order.push_back(name),
            }
        }
    }

    /// The first whose node is not being decided about.
    pub(crate) fn take(&mut self, key_of: impl Fn(&str) -> String) -> Option<Queued> {
        let free = |names: &mut VecDeque<String>| {
            let place = names.iter().position(|name| !self.busy.contains(&key_of(name)))?;
            names.remove(place)
        };
        let name = free(&mut self.first).or_else(|| free(&mut self.order))?;
        let key = key_of(&name);
        let since = self.since.remove(&name)?;
        self.busy.insert(key.clone());
        Some(Queued { name, key, since })
    }

    /// Others of that node may follow.
    pub(crate) fn done(&mut self, key: &str) {
        self.busy.remove(key);
    }

    /// Nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_empty() && self.order.is_empty()
    }
}

#[cfg(test)]
mod tests;
