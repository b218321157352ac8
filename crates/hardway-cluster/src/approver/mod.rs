//! Carrying the policy out on a cluster, once or for its whole life.
//!
//! ```text
//! Event ──────► ClusterView: plain data ──► Work: queued, in flight, held ──► Reconciler: read, decide, write ──► Audit: journal, log, event
//! events.rs     view.rs,                    work_queue.rs                     reconciler.rs, our_condition.rs    audit.rs, record.rs
//!               redemptions.rs,                                                                                  refusals.rs
//!               unrecorded.rs
//! run.rs: once, or as long as the cluster lives; of several approvers, the leader writes (crate::leader_election)
//! ```
//!
//! Two approvers that write at the same time would do no harm: each verdict is written into the very version of a request that
//! was judged, and each sees what the other approved. Leader election keeps them from doing everything twice, and has whoever knows
//! most go first: see [`Approver::standing`].

mod audit;
mod events;
mod our_condition;
mod reconciler;
mod record;
mod redemptions;
mod refusals;
mod run;
mod unrecorded;
mod view;
mod work_queue;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hardway_journal::{JournalError, Now};
use jiff::Timestamp;

pub use record::{CsrOutcome, Written};
pub use view::ClusterView;

use crate::csr_policy::PolicySettings;
use crate::declared::Declared;
use crate::leader_election::Standing;

/// The namespace of the approvers' Lease: it exists in every cluster from the first second on.
const LEASE_NAMESPACE: &str = "kube-system";
const LEASE_NAME: &str = "hardway-approver";

/// Is told what happens.
pub type Listener = Arc<dyn Fn(News<'_>) + Send + Sync>;

/// How long one answer of the API server may take.
pub(crate) const REQUEST_LIMIT: Duration = Duration::from_secs(10);

/// Approves certificate requests of one cluster.
#[derive(Clone)]
pub struct Approver {
    /// The cluster.
    pub client: kube::Client,
    /// Where journal and log are: the working folder, for the cluster it is of.
    pub folder: PathBuf,
    /// Another folder, whose journal says who fetched a config, and is read for nothing else: that of the servers, where the cluster is
    /// a hosted one. Its administrators are others than the folder's, and what they have decided there must not count here.
    pub fetches: Option<PathBuf>,
    /// Who is expected.
    pub declared: Declared,
    /// What can be set.
    pub settings: PolicySettings,
    /// A name that no other approver has.
    pub identity: String,
    /// Whether it goes before others. One that knows who fetched which config can let in nodes that the others have to hold.
    pub standing: Standing,
    /// Decide, and write nothing anywhere.
    pub dry_run: bool,
    /// The clock.
    pub now: Now,
    /// Who is told what happens.
    pub tell: Listener,
}

/// Who is expected now, where that changes while the approver runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    /// Who is expected.
    pub declared: Declared,
    /// Nodes that may come once more, and since when.
    pub rejoin: BTreeMap<String, Timestamp>,
    /// Pools of nodes that share their pool's token, by node: `<namespace>/<name>` of the NodePool.
    pub pools: BTreeMap<String, String>,
    /// When their machines were switched on, by node, in whole seconds.
    pub switched_on: BTreeMap<String, Timestamp>,
    /// When their machines fetched their configs, by node, where somebody else saw it whose word counts.
    pub fetched: BTreeMap<String, Timestamp>,
}

/// What happens.
#[derive(Clone, Copy, Debug)]
pub enum News<'n> {
    /// A decision was taken.
    Decided(&'n CsrOutcome),
    /// This one writes from now on.
    Leading,
    /// Another one writes.
    Following(&'n str),
    /// A host has become a node.
    Joined(&'n str),
    /// The API server does not answer, or not well; it is tried again.
    Trouble(&'n str),
}

/// How many of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Approved, or in a dry run to be approved.
    pub approved: usize,
    /// Denied, or in a dry run to be denied.
    pub denied: usize,
    /// Held for a person.
    pub held: usize,
    /// Of those, not written because another approver writes.
    pub left_to_another: usize,
}

/// Why the approver stopped.
#[derive(Debug, thiserror::Error)]
pub enum ApproverError {
    /// The API server, when there is nobody to wait for it.
    #[error("the API server does not answer")]
    Api(#[source] Box<kube::Error>),
    /// The API server took too long, when there is nobody to wait for it.
    #[error("the API server takes longer than {0} seconds to answer")]
    TooSlow(u64),
    /// The journal: what cannot be recorded is not decided.
    #[error("cannot record decisions")]
    Journal(#[source] JournalError),
    /// The log.
    #[error("cannot log decisions")]
    Log(#[source] std::io::Error),
    /// Something in here.
    #[error("a bug in hardway: {0}")]
    Bug(String),
}

impl ApproverError {
    /// What a person can do.
    pub fn fix(&self) -> String {
        match self {
            Self::Api(_) | Self::TooSlow(_) => {
                "check that the address in the kubeconfig is reachable from this host: DNS, load balancer, port 6443"
                    .to_owned()
            }
            Self::Journal(error) => error.fix().to_owned(),
            Self::Log(_) => {
                "check that logs/ in the working folder is writable and the disk is not full"
                    .to_owned()
            }
            Self::Bug(_) => "please report it, with the output of --log-level debug".to_owned(),
        }
    }
}
