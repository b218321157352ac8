//! What the journal of a working folder says about its install.

mod event;
mod history;

pub(crate) use event::{Interrupted, MachineRetired, PhaseFailed, PhaseFinished, PhaseReset, PhaseStarted};
pub(crate) use history::{History, State};

use hardway_journal::JournalError;

use crate::inputs::Workdir;
use crate::report::{Code, Report};

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
    Report::from_error(Code::JournalDamaged, error).fix(error.fix())
}
