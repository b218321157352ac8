//! What the journal of a working folder says about its install.

mod event;
mod history;

pub(crate) use event::{Interrupted, MachineRetired, PhaseFailed, PhaseFinished, PhaseReset, PhaseStarted};
pub(crate) use history::{History, State};

use std::path::Path;

use hardway_journal::{Follower, JournalError, Record};

use crate::inputs::Workdir;
use crate::report::Report;

/// The records of a journal, kept up to date: only what was appended since the last look is read.
#[derive(Clone, Debug)]
pub(crate) struct FollowedJournal {
    follower: Follower,
    records: Vec<Record>,
}

impl FollowedJournal {
    /// The file need not be there yet.
    pub(crate) fn new(path: &Path) -> Self {
        Self { follower: Follower::new(path), records: Vec::new() }
    }

    /// All of them by now.
    pub(crate) fn records(&mut self) -> Result<&[Record], Report> {
        self.look()?;
        Ok(&self.records)
    }

    /// All of them, if there are any new ones.
    pub(crate) fn news(&mut self) -> Result<Option<&[Record]>, Report> {
        Ok(self.look()?.then_some(self.records.as_slice()))
    }

    /// Whether there are any new ones.
    fn look(&mut self) -> Result<bool, Report> {
        let news = self.follower.news().map_err(|error| journal_report(&error))?;
        // A journal that began anew is told from its first record on.
        if news.first().is_some_and(|first| self.records.last().is_some_and(|last| first.seq <= last.seq)) {
            self.records.clear();
        }
        let is_news = !news.is_empty();
        self.records.extend(news);
        Ok(is_news)
    }

    /// How far the install is.
    pub(crate) fn history(&mut self) -> Result<History, Report> {
        Ok(History::fold(self.records()?))
    }
}

/// What the journal of a folder says.
pub(crate) fn history(workdir: &Workdir) -> Result<History, Report> {
    let path = workdir.path(hardway_journal::FILE_NAME);
    if !path.exists() {
        return Ok(History::default());
    }
    let records = hardway_journal::read(&path).map_err(|error| journal_report(&error))?;
    Ok(History::fold(&records))
}

/// The journal cannot be used.
pub(crate) fn journal_report(error: &JournalError) -> Report {
    Report::from_error("journal-damaged", error).fix(error.fix())
}
