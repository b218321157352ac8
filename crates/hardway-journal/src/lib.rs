//! What happened to a cluster, in order: `journal.jsonl` of the working folder.
//!
//! ```text
//! Entry        what somebody wants to have written                        record.rs
//! Record       a line as it stands in the file, numbered and checked      record.rs
//! Journal      the file, open for appending                               journal.rs
//! read()       every record; Follower: those since the last look          follower.rs
//! Fact         an event with a type: all that can be said                 facts/
//! History      what happened so far: one fold, which refuses nonsense     history/
//! ```
//!
//! The install, the ignition server and the approver are processes of their own and write to one file. So every append
//! takes the file's lock, is one write and one sync, and an entry counts from the moment `append` has returned: what a
//! killed process left half-written was promised to nobody, and the next append cuts it off. Anything else that does not
//! check is damage; nothing is dropped silently.
//!
//! **Versions.** An older hardway can read what a newer one wrote, as long as it may pass over what it does not know: a kind,
//! a field, a word in a field. So kinds and fields are only ever added, and [`Event::of`] gives nothing for what it does not
//! know. Where passing over would be wrong (a step that has to be taken back, a field that changes its meaning) [`VERSION`] is
//! raised, and an older hardway refuses the journal at that line and says so. Lines from before there were versions are
//! read as they are. `docs/decisions/0012-journal.md` has the reasons.

mod error;
mod facts;
mod follower;
mod history;
mod journal;
mod record;

pub use error::{Impossible, JournalError};
pub use facts::actions::{ActionFinished, ActionStarted, ActionUndone, Program, Step};
pub use facts::certificates::{CsrDecided, CsrIntended, CsrVerdict, NodeJoined, Reason};
pub use facts::cluster::{
    ChainLink, EtcdMember, EtcdRole, EtcdSeen, NodeSeen, OperatorCondition, OperatorSeen,
};
pub use facts::day_two::{DayTwoApplied, DayTwoBegun, DayTwoObject, DayTwoUndone, Former};
pub use facts::etcd::{EtcdRestoreBegun, EtcdRestoreStep, RestoreStep};
pub use facts::files::{AssetSeen, AssetsSeen, CertificateSeen, CertificatesSeen};
pub use facts::hosted::{HostedMachine, HostedStep, WorkerStep};
pub use facts::hosts::{
    BootstrapComplete, HostSeen, InstallBegun, MachineGone, MachineRetired, MediumRead, Sight,
};
pub use facts::ignition::{AnyAddressAllowed, Face, IgnitionOffered, IgnitionRedeemed, PoolServed};
pub use facts::phases::{Interrupted, PhaseFailed, PhaseFinished, PhaseName, PhaseReset, PhaseStarted};
pub use facts::power::{ClusterStarted, ClusterStopped, ClusterStopping};
pub use facts::{Event, Fact};
pub use follower::{Appended, Follower, read};
pub use history::{
    ClusterSeen, DayTwo, DayTwoState, Decided, FilesSeen, History, Hosts, Ledger, LiveHistory, MachineOwner,
    MachineOwners, Owned, PhaseState, Phases, Power, Redeemed, Requests, Restores, SwitchedOff, Workers,
};
pub use journal::Journal;
pub use record::{Entry, Flaw, Record, VERSION};

/// Its name in a working folder.
pub const FILE_NAME: &str = "journal.jsonl";

/// Tells the time that records are given; tests have their own.
pub type Now = std::sync::Arc<dyn Fn() -> jiff::Timestamp + Send + Sync>;
