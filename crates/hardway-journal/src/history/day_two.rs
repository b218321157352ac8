//! Steps of day two that were begun and are not taken back.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::{DayTwoApplied, DayTwoBegun, DayTwoUndone, Event, Former};

/// What the journal says of day two, by step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DayTwo {
    steps: BTreeMap<String, DayTwoState>,
}

/// A step that was begun.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DayTwoState {
    /// What was there before it first touched an object, by object.
    pub objects: BTreeMap<String, Former>,
    /// When it was last applied in whole; none if it was only begun.
    pub applied: Option<Timestamp>,
}

impl DayTwo {
    /// The step of this name, if it was begun and is not taken back.
    pub fn step(&self, name: &str) -> Option<&DayTwoState> {
        self.steps.get(name)
    }

    pub(super) fn apply(&mut self, event: &Event, at: Timestamp) {
        match event {
            Event::DayTwoBegun(DayTwoBegun { step, objects }) => {
                let state = self.steps.entry(step.clone()).or_default();
                for object in objects {
                    // Later looks see what the step itself has made.
                    state.objects.entry(object.object.clone()).or_insert(object.was);
                }
            }
            Event::DayTwoApplied(DayTwoApplied { step }) => {
                self.steps.entry(step.clone()).or_default().applied = Some(at);
            }
            Event::DayTwoUndone(DayTwoUndone { step }) => _ = self.steps.remove(step),
            _ => {}
        }
    }
}
