//! How far the install is: one pure function over the journal.

use std::collections::{BTreeMap, BTreeSet};

use hardway_assets::Phase;
use hardway_journal::Record;
use jiff::{SignedDuration, Timestamp};

use super::event::{Interrupted, MachineRetired, PhaseFailed, PhaseFinished, PhaseReset, PhaseStarted};

/// What the journal says about each phase.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct History {
    phases: BTreeMap<Phase, State>,
    took: BTreeMap<Phase, SignedDuration>,
    retired: BTreeSet<String>,
}

/// What became of a phase. The journal remembers; only a look at the world knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// It was begun, and nothing more is known: it is at work, or its process was killed.
    Begun { since: Timestamp },
    /// It gave up.
    Failed { at: Timestamp, code: String, what: String },
    /// It held.
    Finished { at: Timestamp, evidence: String },
    /// A person stopped it.
    Interrupted { at: Timestamp },
    /// Nothing was done yet, or somebody wants it done again.
    Untouched,
}

impl History {
    /// From the journal; records of other kinds are passed over.
    pub(crate) fn fold<'r>(records: impl IntoIterator<Item = &'r Record>) -> Self {
        let mut history = Self::default();
        records.into_iter().for_each(|record| history.apply(record));
        history
    }

    pub(crate) fn state(&self, phase: Phase) -> &State {
        self.phases.get(&phase).unwrap_or(&State::Untouched)
    }

    /// How long it worked the last time it did work.
    pub(crate) fn took(&self, phase: Phase) -> Option<SignedDuration> {
        self.took.get(&phase).copied()
    }

    /// Whether a machine has done its part and is gone for good.
    pub(crate) fn is_retired(&self, host: &str) -> bool {
        self.retired.contains(host)
    }

    /// One more record.
    pub(crate) fn apply(&mut self, record: &Record) {
        let at = record.time;
        if let Some(Ok(PhaseStarted { phase, .. })) = record.fact() {
            self.set(&phase, State::Begun { since: at });
        } else if let Some(Ok(PhaseFinished { phase, evidence })) = record.fact() {
            self.finish(&phase, at, evidence);
        } else if let Some(Ok(PhaseFailed { phase, code, what })) = record.fact() {
            self.set(&phase, State::Failed { at, code, what });
        } else if let Some(Ok(Interrupted { phase })) = record.fact() {
            self.set(&phase, State::Interrupted { at });
        } else if let Some(Ok(MachineRetired { host })) = record.fact() {
            self.retired.insert(host);
        } else if let Some(Ok(PhaseReset { phase })) = record.fact() {
            self.phases.retain(|known, _| known.name() != phase);
        }
    }

    fn finish(&mut self, name: &str, at: Timestamp, evidence: String) {
        let Some(phase) = named(name) else { return };
        if let State::Begun { since } = self.state(phase) {
            self.took.insert(phase, at.duration_since(*since));
        }
        self.phases.insert(phase, State::Finished { at, evidence });
    }

    /// A phase that this hardway does not know is another one's.
    fn set(&mut self, name: &str, state: State) {
        if let Some(phase) = named(name) {
            self.phases.insert(phase, state);
        }
    }
}

fn named(name: &str) -> Option<Phase> {
    Phase::ALL.into_iter().find(|phase| phase.name() == name)
}

#[cfg(test)]
mod tests {
    use hardway_journal::{Entry, Fact};

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn record<F: Fact>(second: i64, fact: &F) -> Record {
        let Entry { time, kind, body } = Entry::of(at(second), fact);
        Record { seq: 1, time, kind, body }
    }

    fn started(second: i64) -> Record {
        record(second, &PhaseStarted { phase: "make-pki".into(), why: String::new() })
    }

    fn finished(second: i64) -> Record {
        record(second, &PhaseFinished { phase: "make-pki".into(), evidence: "made".into() })
    }

    #[test]
    fn the_last_word_about_a_phase_counts() {
        let failed = record(3, &PhaseFailed { phase: "make-pki".into(), code: "c".into(), what: "w".into() });
        let reset = record(9, &PhaseReset { phase: "make-pki".into() });
        let stranger = record(9, &PhaseReset { phase: "make-coffee".into() });
        let done = State::Finished { at: at(8), evidence: "made".into() };
        for (records, state) in [
            (vec![], State::Untouched),
            (vec![started(1)], State::Begun { since: at(1) }),
            (
                vec![started(1), failed.clone()],
                State::Failed { at: at(3), code: "c".into(), what: "w".into() },
            ),
            (vec![started(1), failed.clone(), started(5), finished(8)], done.clone()),
            (vec![started(5), finished(8), stranger], done),
            (vec![started(5), finished(8), reset], State::Untouched),
        ] {
            assert_eq!(History::fold(&records).state(Phase::MakePki), &state, "{records:?}");
        }
    }

    #[test]
    fn a_machine_that_was_retired_stays_so() {
        let retired = [record(5, &MachineRetired { host: "bootstrap".into() }), started(7)];
        let history = History::fold(&retired);
        assert!(history.is_retired("bootstrap") && !history.is_retired("master-0"));
    }

    #[test]
    fn how_long_it_took_is_of_the_last_time_it_worked() {
        let found_again = [started(5), finished(8), finished(100)];
        assert_eq!(History::fold(&found_again).took(Phase::MakePki), Some(SignedDuration::from_secs(3)));
        assert_eq!(History::fold(&[finished(8)]).took(Phase::MakePki), None);
    }
}
