//! Why a journal cannot be read or written.

use std::io;
use std::path::PathBuf;

use crate::Flaw;

/// A journal that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The disk, or the rights of the file.
    #[error("the journal cannot be used")]
    Io(#[from] io::Error),
    /// A line that is whole but does not check, with others behind it.
    #[error("{path}: line {line} {flaw}; the journal was changed by something other than hardway, or the disk is failing",
            path = path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Counted from one.
        line: u64,
        /// What is wrong with it.
        flaw: Flaw,
    },
    /// An event that one line cannot hold.
    #[error("an event of kind {kind} is {bytes} bytes long; the journal takes {limit}", limit = crate::record::LONGEST_LINE)]
    TooLong {
        /// Its kind.
        kind: String,
        /// As one line.
        bytes: usize,
    },
}

impl JournalError {
    /// What a person can do.
    pub fn fix(&self) -> &'static str {
        match self {
            Self::Io(_) => "see that the working folder is on a disk with space left and is writable by you",
            Self::Damaged { .. } => {
                "look at the line; when a copy of the file is at hand, put it back; otherwise move the journal \
                 away: what is already done is found again by looking at the machines, only its history is lost"
            }
            Self::TooLong { .. } => {
                "this is a mistake in hardway: events are small, artefacts lie in files of their own"
            }
        }
    }
}
