//! What to do next: a pure function from what is wanted and what is seen to steps.
//!
//! ```text
//! plan()     every worker's next step               mod.rs
//! Round      one look at a pool, and its limits     round.rs
//! machine    off, to be booted, or to go            machine.rs
//! node       on: joined, labelled, well or unwell   node.rs, upgrade.rs
//! ```
//!
//! A worker's steps are taken one at a time: each changes what is seen, and the next round goes on from there. So it does not
//! matter when, or how often, a controller is killed.

mod machine;
mod node;
mod round;
mod upgrade;

use std::collections::BTreeMap;

/// Steps without their details, as they stand in the journal.
pub use hardway_journal::WorkerStep as StepKind;
use jiff::Timestamp;

pub use node::node_labels;
pub use round::RoundSettings;

use self::round::Round;
use crate::gates::Gate;
use crate::node_view::NodeView;
use crate::objects::NodePool;
use crate::token::TokenSecret;
use crate::worker::{WantedState, Worker};

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
pub enum ReconcileStep {
    /// Give the machine a fresh pointer and switch it on.
    Boot {
        /// Which.
        worker: String,
        /// With which config.
        config_hash: String,
    },
    /// Write what was seen into the record. Whoever sees it: what is in the journal of one controller another may never see.
    Observe(Box<Worker>),
    /// Write the record.
    Record(Box<Worker>),
    /// Put the pool's labels and taints on the node.
    Label {
        /// Which.
        worker: Box<Worker>,
    },
    /// Take away what only its first boot needed.
    Settle {
        /// Which.
        worker: String,
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

/// Whose business a step is, where the two leases are in different hands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hand {
    /// Of whoever acts for the cluster.
    Cluster,
    /// Of whoever makes machines.
    Machines,
    /// Of either; records are written into the very version that was judged, so one of two succeeds.
    Either,
}

/// The steps of one round. Those of different workers can be taken at the same time. A worker has one, and perhaps another behind it for
/// whoever makes machines.
pub fn plan(view: &PoolView, settings: &RoundSettings, now: Timestamp) -> Vec<ReconcileStep> {
    let round = Round::new(view, settings, now);
    let mut booting = round.booting();
    let mut away = upgrade::away(&round);
    let mut steps = Vec::new();
    for worker in &view.workers {
        let seen = round.observed(worker);
        if seen != *worker {
            steps.push(ReconcileStep::Observe(Box::new(seen)));
            continue;
        }
        let step = match worker.wanted {
            WantedState::Absent | WantedState::Replaced => machine::remove(worker, &round),
            WantedState::Present if worker.history.booted.is_none() => {
                machine::boot(worker, &round, &mut booting)
            }
            WantedState::Present => node::step(worker, &round, &mut away),
        };
        steps.extend(step);
        // Behind the others: a drive that cannot be emptied keeps nobody from an upgrade.
        if worker.wanted == WantedState::Present
            && worker.history.labelled.is_some()
            && worker.history.settled.is_none()
        {
            steps.push(ReconcileStep::Settle { worker: worker.name.clone() });
        }
    }
    steps
}

impl ReconcileStep {
    /// Whose it is. Of two steps of the same worker, the second waits.
    pub fn worker(&self) -> &str {
        match self {
            Self::Boot { worker, .. } | Self::Forget { worker } | Self::Settle { worker } => worker,
            Self::Observe(worker)
            | Self::Record(worker)
            | Self::Label { worker }
            | Self::Drain { worker }
            | Self::RemoveMachine { worker }
            | Self::Upgrade { worker, .. }
            | Self::EndUpgrade { worker } => &worker.name,
            Self::Cordon { node } | Self::DeleteNode { node, .. } => node,
        }
    }

    /// Who takes it.
    pub fn hand(&self) -> Hand {
        match self {
            Self::Boot { .. } | Self::RemoveMachine { .. } | Self::Settle { .. } => Hand::Machines,
            Self::Observe(_) => Hand::Either,
            _ => Hand::Cluster,
        }
    }

    /// Without its details.
    pub fn kind(&self) -> StepKind {
        match self {
            Self::Boot { .. } => StepKind::Boot,
            Self::Observe(_) | Self::Record(_) => StepKind::Record,
            Self::Settle { .. } => StepKind::Settle,
            Self::Label { .. } => StepKind::Label,
            Self::Cordon { .. } => StepKind::Cordon,
            Self::Drain { .. } => StepKind::Drain,
            Self::RemoveMachine { .. } => StepKind::RemoveMachine,
            Self::DeleteNode { .. } => StepKind::DeleteNode,
            Self::Forget { .. } => StepKind::Forget,
            Self::Upgrade { .. } => StepKind::Upgrade,
            Self::EndUpgrade { .. } => StepKind::EndUpgrade,
        }
    }
}

#[cfg(test)]
mod tests;
