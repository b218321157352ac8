//! Which requests are to be decided, and which are being decided: each once, in order, a bounded number at a time, and never two of
//! one node.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use hardway_journal::{CsrDecided, Entry, Reason};
use kube::ResourceExt as _;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::audit::Audit;
use super::events::ApproverEvent;
use super::reconciler::{Reconciler, Trouble};
use super::record::{CsrOutcome, Written};
use super::refusals::Refusals;
use super::{ApproverError, Expected, News, Summary};
use crate::csr_policy::{CsrVerdict, ReasonCode, RequestState};

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
    /// Held requests by name: each is reported once, and decided again when that may have changed.
    held: BTreeMap<String, Held>,
    refusals: Refusals,
    /// To be retried, because the API server was away.
    again: Vec<String>,
    last_trouble: Option<Trouble>,
    summary: Summary,
}

/// A request that waits.
struct Held {
    uid: String,
    reason: Reason,
    /// Whether there is a line that says so. Then its end gets one, too.
    is_told: bool,
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
            refusals: Refusals::new(),
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
            let node = view.request(&name).and_then(|examined| examined.node()).unwrap_or(&name).to_owned();
            self.queue.push(name, node, turn, now);
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
    pub(crate) fn apply(&mut self, event: ApproverEvent) {
        let mut view = self.reconciler.view();
        let names = match event {
            ApproverEvent::Request(object) => {
                let name = object.name_any();
                view.see_request(&object);
                match view.request(&name) {
                    // Deciding one may decide its rivals, and a new one is a rival to those already there.
                    Some(examined) => {
                        let mut names = examined.node().map(|node| view.pending_of(node)).unwrap_or_default();
                        names.extend((examined.request.state == RequestState::Pending).then_some(name));
                        names
                    }
                    None => Vec::new(),
                }
            }
            ApproverEvent::RequestGone(name) => {
                view.forget_request(&name);
                self.held.remove(&name);
                Vec::new()
            }
            ApproverEvent::Requests(names) => {
                view.keep_requests(&names);
                self.held.retain(|name, _| names.contains(name));
                view.pending()
            }
            ApproverEvent::Node(name) => {
                let is_new = view.see_node(&name);
                if is_new { view.pending_of(&name) } else { Vec::new() }
            }
            ApproverEvent::NodeGone(name) => {
                view.forget_node(&name);
                view.pending_of(&name)
            }
            ApproverEvent::Nodes(names) => {
                view.keep_nodes(&names);
                Vec::new()
            }
            ApproverEvent::Trouble(_) => Vec::new(),
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
            let Some(queued) = self.queue.take() else { break };
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
        self.queue.done(&queued.node);
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
        let by_time = self.held.iter().filter(|(_, held)| {
            ReasonCode::named(held.reason.word()).is_some_and(ReasonCode::changes_with_time)
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
            view.note_joined(&joined, now);
            (self.reconciler.approver.tell)(News::Joined(&joined.fact.host));
            audit.happened(Entry::of(now, &joined.fact));
        }
        for mut found in view.take_unrecorded() {
            let decided = &mut found.decided;
            let more = match decided.verdict {
                CsrVerdict::Approve => Some(0),
                _ => self.refusals.count(decided, view.asker(decided), now),
            };
            if let Some(more) = more {
                decided.more = more;
                audit.found(&found);
            }
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
        let known = self.held.remove(name).filter(|held| held.uid == *uid);
        let is_news = known.as_ref().is_none_or(|held| held.reason != *reason);
        let was_told = known.is_some_and(|held| held.is_told);
        let worth = match verdict {
            CsrVerdict::Approve => Some(0),
            _ if is_news => self.worth(&outcome.decided, was_told),
            _ => None,
        };
        match verdict {
            CsrVerdict::Hold => {
                let is_told = was_told || worth.is_some();
                self.held.insert(name.to_owned(), Held { uid: uid.clone(), reason: reason.clone(), is_told });
            }
            CsrVerdict::Approve => self.summary.approved += 1,
            CsrVerdict::Deny => self.summary.denied += 1,
            CsrVerdict::Leave => {}
        }
        if let Some(more) = worth {
            let mut outcome = outcome.clone();
            outcome.decided.more = more;
            self.tell(&outcome);
        }
    }

    /// Whether a refusal is worth a line, and how many before it were not. One that ends what was told is.
    fn worth(&mut self, decided: &CsrDecided, was_told: bool) -> Option<u64> {
        let asker = self.reconciler.view().asker(decided);
        let more = self.refusals.count(decided, asker, (self.reconciler.approver.now)());
        more.or((was_told && decided.verdict != CsrVerdict::Hold).then_some(0))
    }

    fn tell(&self, outcome: &CsrOutcome) {
        (self.reconciler.approver.tell)(News::Decided(outcome));
        // Only the leader records: the others see its verdicts too.
        let is_recorded = self.reconciler.leadership.is_ours();
        if let Some(audit) = self.audit.as_ref().filter(|_| is_recorded || outcome.written == Written::Yes) {
            audit.decided(outcome);
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

/// Requests, each once: those that the API server vouches for before the others. Nodes take turns, so that whoever asks a thousand times
/// for one holds up no other; those of one node are in the order they came.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    first: Lane,
    order: Lane,
    since: BTreeMap<String, Instant>,
    busy: BTreeSet<String>,
}

/// Those whose turn is the same.
#[derive(Debug, Default)]
struct Lane {
    /// Nodes for which somebody waits, each once.
    nodes: VecDeque<String>,
    waiting: BTreeMap<String, VecDeque<String>>,
}

/// A request taken from the queue.
#[derive(Debug)]
pub(crate) struct Queued {
    pub(crate) name: String,
    /// Its node, which is busy until [`Queue::done`].
    pub(crate) node: String,
    pub(crate) since: Instant,
}

impl Queue {
    /// At the end of those of its node, unless it is in it.
    pub(crate) fn push(&mut self, name: String, node: String, turn: Turn, now: Instant) {
        if !self.since.contains_key(&name) {
            self.since.insert(name.clone(), now);
            match turn {
                Turn::First => self.first.push(name, node),
                Turn::InOrder => self.order.push(name, node),
            }
        }
    }

    /// The next whose node is not being decided about.
    pub(crate) fn take(&mut self) -> Option<Queued> {
        let (name, node) = self.first.take(&self.busy).or_else(|| self.order.take(&self.busy))?;
        let since = self.since.remove(&name)?;
        self.busy.insert(node.clone());
        Some(Queued { name, node, since })
    }

    /// Others of that node may follow.
    pub(crate) fn done(&mut self, node: &str) {
        self.busy.remove(node);
    }

    /// Nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.since.is_empty()
    }
}

impl Lane {
    fn push(&mut self, name: String, node: String) {
        let waiting = self.waiting.entry(node.clone()).or_default();
        if waiting.is_empty() {
            self.nodes.push_back(node);
        }
        waiting.push_back(name);
    }

    /// A request, and its node, which is last now. Few are busy at a time, so that few are passed over.
    fn take(&mut self, busy: &BTreeSet<String>) -> Option<(String, String)> {
        let place = self.nodes.iter().position(|node| !busy.contains(node))?;
        let node = self.nodes.remove(place)?;
        let waiting = self.waiting.get_mut(&node)?;
        let name = waiting.pop_front()?;
        if waiting.is_empty() {
            self.waiting.remove(&node);
        } else {
            self.nodes.push_back(node.clone());
        }
        Some((name, node))
    }
}

#[cfg(test)]
mod tests;
