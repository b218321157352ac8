//! How far the install is.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use crate::{
    Event, Fact as _, Impossible, Interrupted, PhaseFailed, PhaseFinished, PhaseName, PhaseReset,
    PhaseStarted,
};

/// What the journal says about each phase.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Phases {
    states: BTreeMap<PhaseName, PhaseState>,
    took: BTreeMap<PhaseName, SignedDuration>,
    ever_begun: BTreeSet<PhaseName>,
}

/// What became of a phase. The journal remembers; only a look at the world knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PhaseState {
    /// It was begun, and nothing more is known: it is at work, or its process was killed.
    Begun {
        /// When.
        since: Timestamp,
    },
    /// It gave up.
    Failed {
        /// When.
        at: Timestamp,
        /// `hardway explain CODE` says more.
        code: String,
        /// In a sentence.
        what: String,
        /// What was seen, a text each.
        evidence: Vec<String>,
        /// What to do.
        fix: Option<String>,
    },
    /// It held.
    Finished {
        /// When.
        at: Timestamp,
        /// What was seen.
        evidence: String,
    },
    /// A person stopped it.
    Interrupted {
        /// When.
        at: Timestamp,
    },
    /// Nothing was done yet, or somebody wants it done again.
    Untouched,
}

impl Phases {
    /// What became of it.
    pub fn state(&self, phase: PhaseName) -> &PhaseState {
        self.states.get(&phase).unwrap_or(&PhaseState::Untouched)
    }

    /// How long it worked the last time it did work.
    pub fn took(&self, phase: PhaseName) -> Option<SignedDuration> {
        self.took.get(&phase).copied()
    }

    pub(super) fn check(&self, event: &Event, line: u64) -> Result<(), Impossible> {
        let (end, phase) = match event {
            Event::PhaseFailed(PhaseFailed { phase, .. }) => (PhaseFailed::KIND, phase),
            Event::Interrupted(Interrupted { phase }) => (Interrupted::KIND, phase),
            _ => return Ok(()),
        };
        if self.ever_begun.contains(phase) {
            return Ok(());
        }
        Err(Impossible::NeverBegun { line, end, beginning: PhaseStarted::KIND, of: phase.to_string() })
    }

    pub(super) fn apply(&mut self, event: &Event, at: Timestamp) {
        let (phase, state) = match event {
            Event::PhaseStarted(PhaseStarted { phase, .. }) => {
                self.ever_begun.insert(*phase);
                (phase, PhaseState::Begun { since: at })
            }
            Event::PhaseFinished(PhaseFinished { phase, evidence }) => {
                if let PhaseState::Begun { since } = self.state(*phase) {
                    self.took.insert(*phase, at.duration_since(*since));
                }
                (phase, PhaseState::Finished { at, evidence: evidence.clone() })
            }
            Event::PhaseFailed(failed) => {
                let PhaseFailed { code, what, evidence, fix, .. } = failed.clone();
                (&failed.phase, PhaseState::Failed { at, code, what, evidence, fix })
            }
            Event::Interrupted(Interrupted { phase }) => (phase, PhaseState::Interrupted { at }),
            Event::PhaseReset(PhaseReset { phase }) => (phase, PhaseState::Untouched),
            _ => return,
        };
        self.states.insert(*phase, state);
    }
}
