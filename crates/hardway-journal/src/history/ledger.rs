//! What was done to this host and not yet taken back.

use std::collections::{BTreeMap, BTreeSet};

use crate::{ActionFinished, ActionStarted, ActionUndone, Event, Fact as _, Impossible, Step};

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
    /// By when they were begun.
    owned: BTreeMap<u64, Owned>,
    /// Where each is.
    places: BTreeMap<String, u64>,
    ever_begun: BTreeSet<String>,
}

impl Ledger {
    /// What hardway has begun under this name.
    pub fn get(&self, action: &str) -> Option<&Owned> {
        self.owned.get(self.places.get(action)?)
    }

    /// In the order in which they were begun.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Owned> {
        self.owned.values()
    }

    pub(super) fn check(&self, event: &Event, line: u64) -> Result<(), Impossible> {
        let (end, action) = match event {
            Event::ActionFinished(ActionFinished { action }) => (ActionFinished::KIND, action),
            Event::ActionUndone(ActionUndone { action }) => (ActionUndone::KIND, action),
            _ => return Ok(()),
        };
        if self.ever_begun.contains(action) {
            return Ok(());
        }
        Err(Impossible::NeverBegun { line, end, beginning: ActionStarted::KIND, of: action.clone() })
    }

    pub(super) fn apply(&mut self, event: &Event) {
        match event {
            Event::ActionStarted(started) => self.start(started),
            Event::ActionFinished(ActionFinished { action }) => {
                if let Some(owned) = self.get_mut(action) {
                    owned.is_finished = true;
                }
            }
            Event::ActionUndone(ActionUndone { action }) => {
                if let Some(place) = self.places.remove(action) {
                    self.owned.remove(&place);
                }
            }
            _ => {}
        }
    }

    fn get_mut(&mut self, action: &str) -> Option<&mut Owned> {
        self.owned.get_mut(self.places.get(action)?)
    }

    fn start(&mut self, started: &ActionStarted) {
        let ActionStarted { action, undo, .. } = started;
        self.ever_begun.insert(action.clone());
        if let Some(owned) = self.get_mut(action) {
            owned.is_finished = false;
            let new: Vec<Step> = undo.iter().filter(|step| !owned.undo.contains(step)).cloned().collect();
            owned.undo.extend(new);
        } else {
            let place = self.owned.last_key_value().map_or(0, |(last, _)| last + 1);
            self.places.insert(action.clone(), place);
            self.owned
                .insert(place, Owned { action: action.clone(), undo: undo.clone(), is_finished: false });
        }
    }
}
