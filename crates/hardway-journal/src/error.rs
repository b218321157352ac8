//! Why a journal cannot be read or written.

use std::io;
use std::path::PathBuf;

use crate::{Flaw, Impossible, VERSION};

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
    /// A line that only a newer hardway can read.
    #[error("{path}: line {line} is of version {version}, and this hardway reads journals up to version {VERSION}",
            path = path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Counted from one.
        line: u64,
        /// Its version.
        version: u32,
    },
    /// Every line checks, but they cannot have been written one after the other.
    #[error("{path}: {impossible}", path = path.display())]
    Impossible {
        /// The file.
        path: PathBuf,
        /// Which lines, and why not.
        impossible: Impossible,
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
            Self::Newer { .. } => {
                "use the hardway that wrote it, or a newer one: `hardway version` tells which this is"
            }
            Self::Impossible { .. } => {
                "a line before it is missing or was put there by hand; when a copy of the file is at hand, put it back; otherwise \
                 move the journal away: what is already done is found again by looking at the machines; what was done to this \
                 host and is not taken back stands in its action-started lines, each with its way back"
            }
            Self::TooLong { .. } => {
                "this is a mistake in hardway: events are small, artefacts lie in files of their own"
            }
        }
    }
}
