//! What the journal of a working folder says about its install. The fold is the journal's own; here are its reports, and phases
//! by the names that it has for them.

use hardway_assets::Phase;
use hardway_journal::{History, JournalError, PhaseName};

use crate::inputs::Workdir;
use crate::report::{Code, Report};

/// What the journal of a folder says.
pub(crate) fn history(workdir: &Workdir) -> Result<History, Report> {
    History::read(&workdir.path(hardway_journal::FILE_NAME)).map_err(|error| journal_report(&error))
}

/// The journal cannot be used.
pub(crate) fn journal_report(error: &JournalError) -> Report {
    Report::from_error(Code::JournalDamaged, error).fix(error.fix())
}

/// A phase as it stands in the journal, which has the same word for it.
pub(crate) fn recorded(phase: Phase) -> PhaseName {
    let name = PhaseName::ALL.iter().find(|name| name.word() == phase.name());
    *name.expect("a test finds phases that the journal has no word for")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_and_their_names_in_the_journal_are_the_same() {
        assert_eq!(Phase::ALL.map(recorded), PhaseName::ALL, "all of them, in order");
        for phase in Phase::ALL {
            assert_eq!(phase.name(), recorded(phase).word());
        }
    }
}
