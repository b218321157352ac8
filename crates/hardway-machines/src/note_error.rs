//! Why something that a server was told to write down is not.

use hardway_base::error_sentence;
use hardway_journal::JournalError;
use tokio::task::JoinError;

/// It is not on disk.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoteError {
    #[error("{0}")]
    Ended(#[from] JoinError),
    #[error("{}", error_sentence(.0))]
    Journal(#[from] JournalError),
}
