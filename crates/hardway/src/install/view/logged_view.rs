//! A view that is written down as well.

use std::sync::Arc;

use hardway_assets::Phase;

use super::InstallView;
use crate::report::{Report, plain};
use crate::terminal::Log;

/// A view that is written down as well.
pub(crate) struct LoggedView {
    pub(crate) log: Log,
    pub(crate) view: Arc<dyn InstallView>,
}

impl InstallView for LoggedView {
    fn tick(&self) {
        self.view.tick();
    }

    fn clear(&self) {
        self.view.clear();
    }

    fn looks_at(&self, phase: Phase) {
        self.view.looks_at(phase);
    }

    fn already(&self, phase: Phase, evidence: &str) {
        self.log.line(&format!("{phase}: already done: {evidence}"));
        self.view.already(phase, evidence);
    }

    fn started(&self, phase: Phase, why: &str) {
        self.log.line(&format!("{phase}: begins: {why}"));
        self.view.started(phase, why);
    }

    fn finished(&self, phase: Phase, evidence: &str) {
        self.log.line(&format!("{phase}: done: {evidence}"));
        self.view.finished(phase, evidence);
    }

    fn gave_up(&self, phase: Phase, report: &Report) {
        self.log.line(&format!("{phase}: failed\n{}", plain(&report.render(str::to_owned))));
        self.view.gave_up(phase, report);
    }

    fn waits_for(&self, sentence: &str) {
        self.log.line(&format!("waiting for {sentence}"));
        self.view.waits_for(sentence);
    }

    fn progress(&self, sentence: &str) {
        self.view.progress(sentence);
    }

    fn event(&self, sentence: &str) {
        self.log.line(sentence);
        self.view.event(sentence);
    }

    fn host(&self, name: &str, state: &str) {
        self.log.line(&format!("{name}: {state}"));
        self.view.host(name, state);
    }
}
