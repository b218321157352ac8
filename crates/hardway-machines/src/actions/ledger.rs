//! What was done to this host and not yet taken back.

use std::collections::BTreeMap;
use std::path::Path;

use hardway_journal::{Fact, Follower, JournalError, Record};
use serde::{Deserialize, Serialize};

use super::Step;

/// An action is about to be carried out. Written before its first step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ActionStarted {
    /// Its name.
    pub action: String,
    /// What it is for.
    pub why: String,
    /// What will be done, as a person reads it.
    pub does: Vec<String>,
    /// What takes it back. Kept here, because the inventory may say something else by then.
    pub undo: Vec<Step>,
}

/// It holds now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ActionFinished {
    /// Its name.
    pub action: String,
}

/// It has been taken back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ActionUndone {
    /// Its name.
    pub action: String,
}

impl Fact for ActionStarted {
    const KIND: &'static str = "action-started";
}

impl Fact for ActionFinished {
    const KIND: &'static str = "action-finished";
}

impl Fact for ActionUndone {
    const KIND: &'static str = "action-undone";
}

/// An action that hardway has begun, and how to take it back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owned {
    /// Its name.
    pub action: String,
    /// Of the first time it was done, and of every later time that differed.
    pub undo: Vec<Step>,
    /// Whether its end was seen. What was begun may be there in part, and is taken back too.
    pub is_finished: bool,
}

/// All of them, in the order in which they were begun.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    order: Vec<String>,
    owned: BTreeMap<String, Owned>,
}

/// A ledger that is kept current. Whoever makes many machines reads each line of the journal once, not once a machine.
#[derive(Debug)]
pub struct Books {
    follower: Follower,
    ledger: Ledger,
}

impl Books {
    /// Of the cluster in this working folder.
    pub fn of(folder: &Path) -> Self {
        Self { follower: Follower::new(&folder.join(hardway_journal::FILE_NAME)), ledger: Ledger::default() }
    }

    /// The ledger as of now.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn ledger(&mut self) -> Result<&Ledger, JournalError> {
        for record in self.follower.news()? {
            // A journal that began anew says nothing about the one before it.
            if record.seq == 1 {
                self.ledger = Ledger::default();
            }
            self.ledger.apply(&record);
        }
        Ok(&self.ledger)
    }
}

impl Ledger {
    /// From the journal. Records of other kinds are passed over.
    pub fn fold<'r>(records: impl IntoIterator<Item = &'r Record>) -> Self {
        let mut ledger = Self::default();
        records.into_iter().for_each(|record| ledger.apply(record));
        ledger
    }

    /// One more record.
    pub fn apply(&mut self, record: &Record) {
        if let Some(Ok(started)) = record.fact::<ActionStarted>() {
            self.start(started);
        } else if let Some(Ok(finished)) = record.fact::<ActionFinished>() {
            if let Some(owned) = self.owned.get_mut(&finished.action) {
                owned.is_finished = true;
            }
        } else if let Some(Ok(undone)) = record.fact::<ActionUndone>() {
            self.owned.remove(&undone.action);
            self.order.retain(|action| *action != undone.action);
        }
    }

    /// What hardway has begun under this name.
    pub fn get(&self, action: &str) -> Option<&Owned> {
        self.owned.get(action)
    }

    /// In the order in which they were begun.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Owned> {
        self.order.iter().filter_map(|action| self.owned.get(action))
    }

    fn start(&mut self, started: ActionStarted) {
        if let Some(owned) = self.owned.get_mut(&started.action) {
            owned.is_finished = false;
            let new = started.undo.into_iter().filter(|step| !owned.undo.contains(step)).collect::<Vec<_>>();
            owned.undo.extend(new);
        } else {
            self.order.push(started.action.clone());
            let owned = Owned { action: started.action.clone(), undo: started.undo, is_finished: false };
            self.owned.insert(started.action, owned);
        }
    }
}
