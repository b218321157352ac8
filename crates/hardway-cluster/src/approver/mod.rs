//! Carrying the policy out on a cluster, once or for its whole life.
//!
//! ```text
//! watch events, journal ──► View ──► Queue ──► handle: read again, decide, write ──► Audit: journal, log, event
//! watching.rs              view.rs   queue.rs   handling.rs, writing.rs, working.rs   audit.rs, record.rs
//! Lease: only one of several approvers writes                                         lease.rs, leadership.rs
//! ```
//!
//! Two approvers that write at the same time would do no harm: each verdict is written into the very version of a request that
//! was judged, and what one has approved the other sees. The Lease keeps them from doing everything twice.

mod audit;
mod error;
mod handling;
mod leadership;
pub mod lease;
mod queue;
mod record;
mod redemptions;
mod run;
mod view;
mod watching;
mod working;
mod writing;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

pub use audit::LOG;
pub use error::ApproverError;
pub use leadership::{Elector, Leadership, NAME as LEASE_NAME, NAMESPACE as LEASE_NAMESPACE};
pub use record::{Outcome, Written};
pub use view::View;

use crate::csr_policy::{Declared, Settings};

/// The clock.
pub type Now = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Who is told what happens.
pub type Listener = Arc<dyn Fn(News<'_>) + Send + Sync>;

/// How long one answer of the API server may take.
pub(crate) const REQUEST_LIMIT: Duration = Duration::from_secs(10);

/// One that approves.
#[derive(Clone)]
pub struct Approver {
    /// The cluster.
    pub client: kube::Client,
    /// The working folder, for journal and log.
    pub folder: PathBuf,
    /// Who is expected.
    pub declared: Declared,
    /// What can be set.
    pub settings: Settings,
    /// A name that no other approver has.
    pub identity: String,
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
}

/// What happens.
#[derive(Clone, Copy, Debug)]
pub enum News<'n> {
    /// A decision was taken.
    Decided(&'n Outcome),
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
