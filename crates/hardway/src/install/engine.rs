//! Works on one phase: looks, writes down what it is about to do, and does it. `run.rs` has the order.

use hardway_assets::Phase;
use hardway_journal::{Entry, Fact, Interrupted, PhaseFailed, PhaseFinished, PhaseStarted, PhaseState};

use super::Install;
use super::work::{Observed, Work};
use crate::clock;
use crate::journal::{journal_report, recorded};
use crate::report::{Exit, Report, plain};

/// What a phase is worked on with.
pub(crate) struct Engine<'e> {
    pub(crate) install: &'e Install,
}

impl Engine<'_> {
    /// Looks at a phase, and works on it if what it is for does not hold.
    pub(crate) fn phase(&self, phase: Phase, work: &dyn Work) -> Result<(), Report> {
        let result = self.observe_and_run(phase, work);
        if let Err(report) = &result {
            self.install.view.gave_up(phase, report);
        }
        result
    }

    fn observe_and_run(&self, phase: Phase, work: &dyn Work) -> Result<(), Report> {
        self.install.go_on()?;
        self.install.view.looks_at(phase);
        let why = match work.observe()? {
            Observed::Done(evidence) => {
                // Said once: a phase that is found done a second time writes nothing.
                if !matches!(
                    self.install.history()?.phases.state(recorded(phase)),
                    PhaseState::Finished { .. }
                ) {
                    self.write(&PhaseFinished { phase: recorded(phase), evidence: evidence.clone() })?;
                }
                self.install.view.already(phase, &evidence);
                return Ok(());
            }
            Observed::Todo(why) => why,
        };
        self.write(&PhaseStarted { phase: recorded(phase), why: why.clone() })?;
        self.install.view.started(phase, &why);
        // Whatever failed because a person wanted an end, failed for that reason.
        let result = work.run().map_err(|report| self.install.go_on().err().unwrap_or(report));
        match result {
            Ok(evidence) => {
                self.write(&PhaseFinished { phase: recorded(phase), evidence: evidence.clone() })?;
                self.install.view.finished(phase, &evidence);
                Ok(())
            }
            Err(report) => {
                // The error itself matters more than that it could not be written down.
                let _ = self.write_end(phase, &report);
                Err(report)
            }
        }
    }

    fn write_end(&self, phase: Phase, report: &Report) -> Result<(), Report> {
        if report.exit == Exit::Interrupted {
            return self.write(&Interrupted { phase: recorded(phase) });
        }
        let failed = PhaseFailed {
            phase: recorded(phase),
            code: report.code.to_string(),
            what: report.what.clone(),
            evidence: report.evidence.iter().map(|text| plain(text)).collect(),
            fix: report.fix.clone(),
        };
        self.write(&failed)
    }

    fn write<F: Fact>(&self, fact: &F) -> Result<(), Report> {
        let entry = Entry::of(clock::now(), fact);
        self.install.journal.append(&[entry]).map(drop).map_err(|error| journal_report(&error))
    }
}
