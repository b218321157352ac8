//! What to do next: a pure function from what is wanted and what is seen to steps.
//!
//! At most one step a worker and round: each step changes what is seen, and the next round goes on from there. So it does not
//! matter when, or how often, a controller is killed.

mod leaving;
mod observing;
mod settings;
pub mod staying;
mod upgrading;
mod waiting;

use std::collections::BTreeMap;

use jiff::Timestamp;

pub use settings::Settings;

use crate::gates::{Gate, first_held};
use crate::node_view::NodeView;
use crate::objects::NodePool;
use crate::token::TokenSecret;
use crate::worker::{Wanted, Worker};

/// Everything about one pool that counts.
#[derive(Clone, Debug)]
pub struct PoolView {
    /// The pool.
    pub pool: NodePool,
    /// Its gates.
    pub gates: Vec<Gate>,
    /// Its token Secrets: of the current config, and of outdated ones.
    pub tokens: Vec<TokenSecret>,
    /// Its workers.
    pub workers: Vec<Worker>,
    /// Nodes of the hosted cluster, by name.
    pub nodes: BTreeMap<String, NodeView>,
    /// What is known of workers from elsewhere.
    pub news: BTreeMap<String, WorkerNews>,
}

/// What is known of a worker besides its record and its node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkerNews {
    /// When it last fetched a config from a server of ours.
    pub fetched: Option<Timestamp>,
    /// When a first request of it was last decided, and what came of it.
    pub asked: Option<(Timestamp, String)>,
}

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Give the machine a fresh pointer and switch it on.
    Boot {
        /// Which.
        worker: String,
        /// With which config.
        config_hash: String,
    },
    /// Write the record.
    Record(Box<Worker>),
    /// Put the pool's labels and taints on the node.
    Dress {
        /// Which.
        worker: Box<Worker>,
    },
    /// Let no new pods come.
    Cordon {
        /// Which.
        node: String,
    },
    /// Ask pods to leave.
    Drain {
        /// Which.
        worker: Box<Worker>,
    },
    /// Switch the machine off, and give back what was made for it.
    RemoveMachine {
        /// Which.
        worker: Box<Worker>,
    },
    /// Remove the node.
    DeleteNode {
        /// Which.
        node: String,
        /// Only this one.
        uid: String,
    },
    /// Remove the record.
    Forget {
        /// Which.
        worker: String,
    },
    /// Ask the machine-config-daemon for another config.
    Upgrade {
        /// Which.
        worker: Box<Worker>,
        /// To which config.
        config_hash: String,
    },
    /// The config is applied: take the daemon away.
    EndUpgrade {
        /// Which; with its new config.
        worker: Box<Worker>,
    },
}

/// The steps of one round. They are about different workers, and can be taken at the same time.
pub fn plan(view: &PoolView, settings: &Settings, now: Timestamp) -> Vec<Step> {
    let round = Round::new(view, settings, now);
    let mut booting = round.booting();
    let mut away = upgrading::away(&round);
    let mut steps = Vec::new();
    for worker in &view.workers {
        let seen = observing::observed(worker, &round);
        if seen != *worker {
            steps.push(Step::Record(Box::new(seen)));
            continue;
        }
        let step = match worker.wanted {
            Wanted::Absent | Wanted::Replaced => leaving::step(worker, &round),
            Wanted::Present if worker.history.booted.is_none() => waiting::step(worker, &round, &mut booting),
            Wanted::Present => staying::step(worker, &round, &mut away),
        };
        steps.extend(step);
    }
    steps
}

/// One round.
struct Round<'r> {
    view: &'r PoolView,
    settings: &'r Settings,
    now: Timestamp,
    /// The gate that is held, if one is.
    held: Option<&'r Gate>,
    /// The pool's config.
    config_hash: Option<&'r str>,
    /// Workers that are unwell now, by name.
    unwell: Vec<&'r str>,
}

impl<'r> Round<'r> {
    fn new(view: &'r PoolView, settings: &'r Settings, now: Timestamp) -> Self {
        let held = first_held(&view.gates);
        let mut round =
            Self { view, settings, now, held, config_hash: view.pool.config_hash(), unwell: Vec::new() };
        let is_unwell = |worker: &&Worker| staying::is_unwell(worker, &round).is_some();
        round.unwell = view.workers.iter().filter(is_unwell).map(|worker| worker.name.as_str()).collect();
        round
    }

    fn node(&self, worker: &Worker) -> Option<&'r NodeView> {
        self.view.nodes.get(&worker.name)
    }

    fn token(&self, config_hash: &str) -> Option<&'r TokenSecret> {
        self.view.tokens.iter().find(|token| token.config_hash == config_hash)
    }

    /// Machines that are on and not nodes yet.
    fn booting(&self) -> usize {
        let is_booting = |worker: &&Worker| {
            worker.history.booted.is_some()
                && worker.history.joined.is_none()
                && worker.history.removed.is_none()
        };
        self.view.workers.iter().filter(is_booting).count()
    }
}

impl Step {
    /// Whose it is. Of two steps of the same worker, the second waits.
    pub fn worker(&self) -> &str {
        match self {
            Self::Boot { worker, .. } | Self::Forget { worker } => worker,
            Self::Record(worker)
            | Self::Dress { worker }
            | Self::Drain { worker }
            | Self::RemoveMachine { worker }
            | Self::Upgrade { worker, .. }
            | Self::EndUpgrade { worker } => &worker.name,
            Self::Cordon { node } | Self::DeleteNode { node, .. } => node,
        }
    }

    /// Whether it is for whoever makes machines.
    pub fn is_about_machines(&self) -> bool {
        matches!(self, Self::Boot { .. } | Self::RemoveMachine { .. })
    }

    /// In a word, for metrics and the journal.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Boot { .. } => "boot",
            Self::Record(_) => "record",
            Self::Dress { .. } => "dress",
            Self::Cordon { .. } => "cordon",
            Self::Drain { .. } => "drain",
            Self::RemoveMachine { .. } => "remove-machine",
            Self::DeleteNode { .. } => "delete-node",
            Self::Forget { .. } => "forget",
            Self::Upgrade { .. } => "upgrade",
            Self::EndUpgrade { .. } => "end-upgrade",
        }
    }
}

#[cfg(test)]
mod tests;
