//! One long-running reconciler that keeps the declared workers of a hosted cluster true.
//!
//! ```text
//! watch events ──► Watches ──► Snapshot ──► reconcile::plan ──► Steps ──► Executor: API servers, machines ──► journal
//!                  watches.rs  snapshot.rs                      run.rs    executor.rs, node_upgrade.rs
//!                                                               tasks.rs  pool_resize.rs: as many workers as the NodePool says
//! journal ──► journal_news.rs        records ──► expected ──► the approver of the hosted cluster: csr_approver.rs
//! Leases ──► which of several controllers acts: run.rs
//! ```
//!
//! Two leases keep several controllers from doing everything twice: one for the cluster (joins, labels, drains, upgrades), one for
//! machines, which only a controller with a provider stands for. Without them nothing would break: records are written into the very
//! version that was judged.

mod csr_approver;
mod executor;
mod journal_news;
mod metrics;
mod metrics_server;
mod node_upgrade;
mod ovn_keeper;
mod pool_resize;
mod run;
mod snapshot;
mod tasks;
mod watches;

use std::path::PathBuf;
use std::sync::Arc;

use hardway_base::Secret;
use hardway_journal::Now;
use jiff::SignedDuration;

pub use metrics::{Metrics, stretches};
pub use metrics_server::MetricsServer;
pub use run::Until;

use crate::error::ReleaseUnread;
use crate::expected::Witness;
use crate::machine_maker::MachineMaker;
use crate::management::Management;
use crate::pointer::OwnServer;
use crate::pool_hosts::PoolHosts;
use crate::reconcile::{RoundSettings, StepKind};

/// A controller.
#[derive(Clone)]
pub struct Controller {
    /// The management cluster.
    pub management: Management,
    /// The hosted cluster.
    pub hosted: kube::Client,
    /// Who makes machines; without one, machines are left to another controller.
    pub machines: Option<MachineMaker>,
    /// Of which hosts. Pools that have their own have as many workers as their NodePool says.
    pub hosts: PoolHosts,
    /// The working folder, for journal and log.
    pub folder: PathBuf,
    /// Patience and limits.
    pub settings: RoundSettings,
    /// How long a config must have stood.
    pub rest: SignedDuration,
    /// What certificate requests are judged by.
    pub policy: hardway_cluster::csr_policy::PolicySettings,
    /// Whose word it is that a machine fetched its config.
    pub witness: Witness,
    /// A server of ours that machines fetch from, in place of HyperShift's.
    pub server: Option<OwnServer>,
    /// The machine-config-operator's image, for upgrades in place, where a person names one.
    pub daemon_image: Option<String>,
    /// Who looks into the release for it otherwise.
    pub releases: Option<Arc<dyn Releases>>,
    /// A name that no other controller has.
    pub identity: String,
    /// The clock.
    pub now: Now,
    /// What is counted.
    pub metrics: Arc<Metrics>,
    /// Who is told what happens.
    pub tell: Arc<dyn Fn(&ControllerEvent) + Send + Sync>,
}

/// Who can look into a release.
pub trait Releases: Send + Sync {
    /// The image of the machine-config-operator in a release, for machines of an architecture, read with these logins. It blocks on a
    /// registry, so it must not be called on a thread of the async runtime. It may be asked again and again.
    ///
    /// # Errors
    /// Why it is not known.
    fn daemon_image(
        &self,
        release: &str,
        architecture: &str,
        logins: &Secret,
    ) -> Result<String, ReleaseUnread>;
}

/// What a controller stands for election for; each has a Lease of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Duty {
    /// Joins, labels, drains, upgrades.
    Cluster,
    /// Booting and removing machines.
    Machines,
}

impl std::fmt::Display for Duty {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Cluster => "cluster",
            Self::Machines => "machines",
        })
    }
}

/// What happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ControllerEvent {
    /// This replica leads from now on.
    Leading(Duty),
    /// A step was taken.
    Took {
        /// Whose.
        worker: String,
        /// Which.
        step: StepKind,
    },
    /// A step failed; it is tried again.
    Failed {
        /// Whose.
        worker: String,
        /// Which.
        step: StepKind,
        /// Why.
        why: String,
    },
    /// A machine is to be switched on by a person.
    ByHand {
        /// Whose.
        worker: String,
        /// What to do, step by step.
        steps: Vec<String>,
    },
    /// A certificate request was decided.
    Decided {
        /// Of which node.
        node: String,
        /// How, and why.
        what: String,
    },
    /// A cluster does not answer, or not well.
    Trouble(String),
}
