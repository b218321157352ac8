//! What happened so far: one fold over the records of a journal.
//!
//! ```text
//! Phases          how far the install is                              phases.rs
//! Ledger          what was done to this host and is not taken back    ledger.rs
//! Hosts           what was offered to hosts, and what became of them  hosts.rs
//! MachineOwners   whose machines are                                  machine_owners.rs
//! Requests        certificate requests that were decided              requests.rs
//! ClusterSeen     what was last seen of operators and etcd            cluster.rs
//! FilesSeen       what was last seen of assets and certificates       files.rs
//! DayTwo          steps of day two that are not taken back            day_two.rs
//! Power           whether the cluster was switched off                power.rs
//! Restores        how far the last restore of etcd is                 restores.rs
//! Workers         what was last done for hosted workers               workers.rs
//! ```
//!
//! [`History::next`] refuses what cannot have happened, and names both events. What machines and people do is always
//! possible: a machine may fetch its config twice, after it was retired, or without being switched on by anybody here. So is
//! what a kill, a second run or another process leaves: beginnings without an end, ends that are found to hold without
//! having been begun, the same thing begun or taken back twice. Impossible is what no writer writes:
//!
//! ```text
//! phase-failed, install-interrupted      of a phase that no line has started: both are written by whoever started it
//! action-finished, action-undone         of an action that no line has started: both are read from the ledger first
//! csr-decided approve and deny           of one request: the API server takes only one
//! ```
//!
//! Nothing is refused where the beginning may lie elsewhere: in lines that have no version, behind a line whose writer went
//! on from a journal that is gone ([`Record::continues`]), and behind a known kind with words of a newer hardway.

mod cluster;
mod day_two;
mod files;
mod hosts;
mod ledger;
mod machine_owners;
mod phases;
mod power;
mod requests;
mod restores;
mod workers;

use std::path::{Path, PathBuf};

pub use cluster::ClusterSeen;
pub use day_two::{DayTwo, DayTwoState};
pub use files::FilesSeen;
pub use hosts::{Hosts, Redeemed};
pub use ledger::{Ledger, Owned};
pub use machine_owners::{MachineOwner, MachineOwners};
pub use phases::{PhaseState, Phases};
pub use power::{Power, SwitchedOff};
pub use requests::{Decided, Requests};
pub use restores::Restores;
pub use workers::Workers;

use crate::{Appended, Event, Follower, Impossible, JournalError, Record};

/// All that a journal says, by what it is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// How far the install is.
    pub phases: Phases,
    /// What was done to this host and is not taken back.
    pub actions: Ledger,
    /// What was offered to hosts, and what became of them.
    pub hosts: Hosts,
    /// Whose machines are.
    pub owners: MachineOwners,
    /// Certificate requests.
    pub requests: Requests,
    /// What was last seen of operators and etcd.
    pub cluster: ClusterSeen,
    /// What was last seen of assets and certificates in the folder.
    pub files: FilesSeen,
    /// Steps of day two.
    pub day_two: DayTwo,
    /// Whether the cluster was switched off.
    pub power: Power,
    /// The last restore of etcd.
    pub restores: Restores,
    /// Workers of hosted clusters.
    pub workers: Workers,
    /// Whether something may have begun that is not in here.
    is_partial: bool,
}

impl History {
    /// Of the journal in that file. A file that is not there has none.
    ///
    /// # Errors
    /// When it cannot be read, or says what cannot have happened.
    pub fn read(path: &Path) -> Result<Self, JournalError> {
        let mut live = LiveHistory::of(path);
        live.now()?;
        Ok(live.history)
    }

    /// Of these records, from the first on.
    ///
    /// # Errors
    /// At the first that cannot have followed those before it.
    pub fn fold<'r>(records: impl IntoIterator<Item = &'r Record>) -> Result<Self, Impossible> {
        let mut history = Self::default();
        records.into_iter().try_for_each(|record| history.next(record))?;
        Ok(history)
    }

    /// One more record. Kinds that this hardway does not know change nothing.
    ///
    /// # Errors
    /// When it cannot have followed those before it; then nothing is changed.
    pub fn next(&mut self, record: &Record) -> Result<(), Impossible> {
        self.is_partial |= record.continues;
        let Some(event) = Event::of(record) else {
            self.is_partial |= Event::KINDS.contains(&record.kind.as_str());
            return Ok(());
        };
        if record.version > 0 && !self.is_partial {
            self.phases.check(&event, record.seq)?;
            self.actions.check(&event, record.seq)?;
            // A cluster that was restored is as it was once: what was decided since then may be decided otherwise.
            if !self.restores.is_any_begun() {
                self.requests.check(&event, record.seq)?;
            }
        }
        self.phases.apply(&event, record.time);
        self.actions.apply(&event);
        self.hosts.apply(&event, record.time);
        self.owners.apply(&event);
        self.requests.apply(&event, record.seq, record.time);
        self.cluster.apply(&event, record.time);
        self.files.apply(&event, record.time);
        self.day_two.apply(&event, record.time);
        self.power.apply(&event, record.time);
        self.restores.apply(&event);
        self.workers.apply(&event, record.time);
        Ok(())
    }
}

/// A history that is kept current: each line of the journal is read once.
#[derive(Clone, Debug)]
pub struct LiveHistory {
    path: PathBuf,
    follower: Follower,
    history: History,
}

impl LiveHistory {
    /// Of the journal in that file. It need not be there yet.
    pub fn of(path: &Path) -> Self {
        Self { path: path.to_owned(), follower: Follower::new(path), history: History::default() }
    }

    /// What happened by now.
    ///
    /// # Errors
    /// When the journal cannot be read, or says what cannot have happened; so does every later call.
    pub fn now(&mut self) -> Result<&History, JournalError> {
        let Appended { began_anew, records } = self.follower.news()?;
        if began_anew {
            self.history = History::default();
        }
        for record in records {
            if let Err(impossible) = self.history.next(&record) {
                *self = Self::of(&self.path);
                return Err(JournalError::Impossible { path: self.path.clone(), impossible });
            }
        }
        Ok(&self.history)
    }
}
