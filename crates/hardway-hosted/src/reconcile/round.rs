//! One round over a pool: the limits it goes by, what it looks at, and what it writes into records.

use jiff::{SignedDuration, Timestamp};

use super::{PoolView, ReconcileStep, node};
use crate::gates::{Gate, first_held};
use crate::names;
use crate::node_view::NodeView;
use crate::token::TokenSecret;
use crate::worker::{Trouble, TroubleReason, Worker};

/// The patience of the controller, and its limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoundSettings {
    /// Machines that may be booting at the same time.
    pub boots_at_once: usize,
    /// From being switched on to being a node. What HyperShift would give other platforms: 20 minutes.
    pub startup: SignedDuration,
    /// A node that is not ready for longer is unwell. What HyperShift would give platform None: 16 minutes.
    pub unready: SignedDuration,
    /// With more unwell workers than this, nothing is replaced: the fault is likely elsewhere.
    pub most_unwell: usize,
    /// Workers of a pool that are replaced within an hour, at most.
    pub repairs_per_hour: usize,
    /// Pods that have not left after this long are told of. A node that is not ready is removed all the same then; one that is, only after
    /// the pool's `nodeDrainTimeout`, if it has one.
    pub drain: SignedDuration,
    /// Pods of a node that has not answered for this long are not waited for.
    pub unreachable: SignedDuration,
    /// An upgrade that takes longer is stuck.
    pub upgrade: SignedDuration,
    /// Whether upgrades are driven at all.
    pub upgrades: bool,
}

impl Default for RoundSettings {
    fn default() -> Self {
        Self {
            boots_at_once: 20,
            startup: SignedDuration::from_mins(20),
            unready: SignedDuration::from_mins(16),
            most_unwell: 2,
            repairs_per_hour: 3,
            drain: SignedDuration::from_mins(10),
            unreachable: SignedDuration::from_mins(5),
            upgrade: SignedDuration::from_mins(45),
            upgrades: true,
        }
    }
}

/// One look at a pool, and what follows from it for all of its workers.
pub(super) struct Round<'r> {
    pub(super) view: &'r PoolView,
    pub(super) settings: &'r RoundSettings,
    pub(super) now: Timestamp,
    /// The gate that is held, if one is.
    pub(super) held: Option<&'r Gate>,
    /// The pool's config.
    pub(super) config_hash: Option<&'r str>,
    /// Workers that are unwell now, by name.
    pub(super) unwell: Vec<&'r str>,
}

impl<'r> Round<'r> {
    pub(super) fn new(view: &'r PoolView, settings: &'r RoundSettings, now: Timestamp) -> Self {
        let held = first_held(&view.gates);
        let mut round =
            Self { view, settings, now, held, config_hash: view.pool.config_hash(), unwell: Vec::new() };
        let is_unwell = |worker: &&Worker| node::is_unwell(worker, &round).is_some();
        round.unwell = view.workers.iter().filter(is_unwell).map(|worker| worker.name.as_str()).collect();
        round
    }

    pub(super) fn node(&self, worker: &Worker) -> Option<&'r NodeView> {
        self.view.nodes.get(&worker.name)
    }

    /// The node that the worker's machine became, and no other of that name: one that was there before the machine, that came without
    /// one, or that another pool labelled, is somebody else's.
    pub(super) fn own_node(&self, worker: &Worker) -> Option<&'r NodeView> {
        let history = &worker.history;
        let pool = self.view.pool.metadata.name.as_deref();
        self.node(worker).filter(|node| {
            history.booted.is_some_and(|booted| node.created.as_second() >= booted.as_second())
                && node.labels.get(names::NODE_LABEL).is_none_or(|label| Some(label.as_str()) == pool)
        })
    }

    pub(super) fn token(&self, config_hash: &str) -> Option<&'r TokenSecret> {
        self.view.tokens.iter().find(|token| token.config_hash == config_hash)
    }

    /// Machines that are on and not nodes yet.
    pub(super) fn booting(&self) -> usize {
        let is_booting = |worker: &&Worker| {
            worker.history.booted.is_some()
                && worker.history.joined.is_none()
                && worker.history.removed.is_none()
        };
        self.view.workers.iter().filter(is_booting).count()
    }

    /// The record of a worker, brought up to date with what is seen.
    pub(super) fn observed(&self, worker: &Worker) -> Worker {
        let mut seen = worker.clone();
        let Some(booted) = worker.history.booted else { return seen };
        if worker.history.removed.is_some() {
            return seen;
        }
        let history = &mut seen.history;
        if let Some(news) = self.view.news.get(&worker.name) {
            let since = |time: &Timestamp| *time >= booted;
            if history.fetched.is_none() {
                history.fetched = news.fetched.filter(since);
            }
            if history.asked.is_none() {
                history.asked = news.asked.as_ref().map(|(at, _)| *at).filter(since);
            }
        }
        let is_same = |uid: Option<&str>, node: &NodeView| uid.is_none_or(|uid| uid == node.uid);
        if let Some(node) = self.own_node(worker).filter(|node| is_same(history.node_uid.as_deref(), node)) {
            history.joined.get_or_insert(node.created);
            history.node_uid.get_or_insert_with(|| node.uid.clone());
            if node.is_ready() {
                history.ready.get_or_insert(node.ready_since.max(node.created));
                // What kept it from coming up is over.
                if history.trouble.as_ref().is_some_and(|trouble| trouble.reason.ends_with_ready()) {
                    history.trouble = None;
                }
            }
        }
        seen
    }

    /// Records why a worker does not come on, once for each reason.
    pub(super) fn trouble(
        &self,
        worker: &Worker,
        reason: TroubleReason,
        message: String,
    ) -> Option<ReconcileStep> {
        if worker.history.trouble.as_ref().is_some_and(|trouble| trouble.reason == reason) {
            return None;
        }
        let mut record = worker.clone();
        record.history.trouble = Some(Trouble { reason, message, since: self.now });
        Some(ReconcileStep::Record(Box::new(record)))
    }
}
