//! Everything that can be said in a journal: one type for each kind of event, in the room of what it is about.
//!
//! A fact is written by one process and read by others, perhaps of another release. So this is the only crate that has facts,
//! and their words are pinned by `tests/lines.rs`. See the crate's head for what may change without raising
//! [`VERSION`](crate::VERSION).

pub(crate) mod actions;
pub(crate) mod certificates;
pub(crate) mod cluster;
pub(crate) mod day_two;
pub(crate) mod etcd;
pub(crate) mod files;
pub(crate) mod hosted;
pub(crate) mod hosts;
pub(crate) mod ignition;
pub(crate) mod phases;
pub(crate) mod power;

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize as _, Serialize};

use self::actions::{ActionFinished, ActionStarted, ActionUndone};
use self::certificates::{CsrDecided, CsrIntended, NodeJoined};
use self::cluster::{EtcdSeen, NodeSeen, OperatorSeen};
use self::day_two::{DayTwoApplied, DayTwoBegun, DayTwoUndone};
use self::etcd::{EtcdRestoreBegun, EtcdRestoreStep};
use self::files::{AssetsSeen, CertificatesSeen};
use self::hosted::{HostedMachine, HostedStep};
use self::hosts::{BootstrapComplete, HostSeen, InstallBegun, MachineGone, MachineRetired, MediumRead};
use self::ignition::{AnyAddressAllowed, IgnitionOffered, IgnitionRedeemed, PoolServed};
use self::phases::{Interrupted, PhaseFailed, PhaseFinished, PhaseReset, PhaseStarted};
use self::power::{ClusterStarted, ClusterStopped, ClusterStopping};
use crate::{Entry, Record};

/// An event that is written and read as a type. Only this crate has any.
pub trait Fact: Serialize + DeserializeOwned + Into<Event> + sealed::Sealed {
    /// Its kind in the journal, in kebab-case.
    const KIND: &'static str;
}

impl Entry {
    /// An event of a known type.
    ///
    /// # Panics
    /// When the type cannot be written as JSON, which only a map with keys that are not text can cause.
    pub fn of<F: Fact>(time: Timestamp, fact: &F) -> Self {
        let body = serde_json::to_value(fact).expect("a fact can be written as JSON");
        Self { time, kind: F::KIND.to_owned(), body }
    }
}

impl Record {
    /// The event as a type, when it is of that kind.
    ///
    /// # Errors
    /// When it is of that kind but of another shape.
    pub fn fact<F: Fact>(&self) -> Option<Result<F, serde_json::Error>> {
        (self.kind == F::KIND).then(|| F::deserialize(&self.body))
    }
}

mod sealed {
    pub trait Sealed {}
}

/// Nothing is said of what did not happen.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

macro_rules! facts {
    ($($fact:ident, $kind:literal;)+) => {
        /// A record of a kind that this hardway knows.
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[allow(missing_docs, reason = "each is documented where it is declared")]
        pub enum Event { $($fact($fact),)+ }

        $(
            impl sealed::Sealed for $fact {}

            impl Fact for $fact {
                const KIND: &'static str = $kind;
            }

            impl From<$fact> for Event {
                fn from(fact: $fact) -> Self {
                    Self::$fact(fact)
                }
            }
        )+

        impl Event {
            /// Every kind there is.
            pub const KINDS: &'static [&'static str] = &[$($kind,)+];

            /// Its kind in the journal.
            pub fn kind(&self) -> &'static str {
                match self { $(Self::$fact(_) => $kind,)+ }
            }

            /// What a record says. None when its kind, or a word in it, is of a newer hardway.
            pub fn of(record: &Record) -> Option<Self> {
                match record.kind.as_str() {
                    $($kind => $fact::deserialize(&record.body).ok().map(Self::$fact),)+
                    _ => None,
                }
            }
        }
    };
}

facts! {
    ActionFinished, "action-finished";
    ActionStarted, "action-started";
    ActionUndone, "action-undone";
    AnyAddressAllowed, "any-address-allowed";
    AssetsSeen, "assets-seen";
    BootstrapComplete, "bootstrap-complete";
    CertificatesSeen, "certificates-seen";
    ClusterStarted, "cluster-started";
    ClusterStopped, "cluster-stopped";
    ClusterStopping, "cluster-stopping";
    CsrDecided, "csr-decided";
    CsrIntended, "csr-intended";
    DayTwoApplied, "day2-applied";
    DayTwoBegun, "day2-begun";
    DayTwoUndone, "day2-undone";
    EtcdRestoreBegun, "etcd-restore-begun";
    EtcdRestoreStep, "etcd-restore-step";
    EtcdSeen, "etcd-seen";
    HostSeen, "host-seen";
    HostedMachine, "hosted-machine";
    HostedStep, "hosted-step";
    IgnitionOffered, "ignition-offered";
    IgnitionRedeemed, "ignition-redeemed";
    InstallBegun, "install-begun";
    Interrupted, "install-interrupted";
    MachineGone, "machine-gone";
    MachineRetired, "machine-retired";
    MediumRead, "medium-read";
    NodeJoined, "node-joined";
    NodeSeen, "node-seen";
    OperatorSeen, "operator-seen";
    PhaseFailed, "phase-failed";
    PhaseFinished, "phase-finished";
    PhaseReset, "phase-reset";
    PhaseStarted, "phase-started";
    PoolServed, "ignition-pool-served";
}
