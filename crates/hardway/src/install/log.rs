//! Everything that is shown, and more, in a file that stays.

use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use fs_err as fs;
use fs_err::os::unix::fs::OpenOptionsExt as _;
use hardway_assets::Phase;

use super::view::View;
use crate::clock;
use crate::report::Report;
use crate::workdir::io;

/// `logs/install.log`. Every run appends to it.
#[derive(Clone, Debug)]
pub(crate) struct Log(Arc<Mutex<fs::File>>);

/// Where it lies.
pub(crate) const FILE: &str = "logs/install.log";

impl Log {
    pub(crate) fn open(path: &Path) -> Result<Self, Report> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|error| io(&error))?;
        }
        let file = fs::OpenOptions::new().create(true).append(true).mode(0o600).open(path);
        Ok(Self(Arc::new(Mutex::new(file.map_err(|error| io(&error))?))))
    }

    /// One line. A log that cannot be written holds nothing up: the journal is what counts.
    pub(crate) fn line(&self, text: &str) {
        let time = clock::now().map(|now| format!("{now:.3} ")).unwrap_or_default();
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for line in text.lines() {
            let _ = writeln!(file, "{time}{line}");
        }
    }
}

/// A view that is written down as well.
pub(crate) struct Logged {
    pub(crate) log: Log,
    pub(crate) view: Arc<dyn View>,
}

impl View for Logged {
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
        self.log.line(&format!("{phase}: gave up\n{}", report.render()));
        self.view.gave_up(phase, report);
    }

    fn waits_for(&self, sentence: &str) {
        self.log.line(&format!("waits for {sentence}"));
        self.view.waits_for(sentence);
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
