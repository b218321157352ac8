//! Why a journal cannot be read or written.

use std::io;
use std::path::PathBuf;

use crate::{CsrVerdict, Flaw, VERSION};

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
    #[error("{path}: line {line} has version {version}, but this hardway reads journals up to version {VERSION}",
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
    #[error("an event of kind {kind} is {bytes} bytes long; the limit is {limit}", limit = crate::record::LONGEST_LINE)]
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
            Self::Io(_) => "check that the working folder is writable and the disk is not full",
            Self::Damaged { .. } => {
                "restore the file from a backup. Moving it away is the last resort: hardway finds out again which phases are done by \
                 looking at the machines, but who fetched a config or joined is lost, so `hardway serve` hands out every config once \
                 more; and so is what was done to this host, which is in its action-started lines, each with the steps to undo it"
            }
            Self::Newer { .. } => {
                "use the hardway that wrote it, or a newer one; `hardway version` shows the version of this one"
            }
            Self::Impossible { .. } => {
                "a line before it is missing or was added by hand; restore the file from a backup. Moving it away is the last \
                 resort: hardway finds out again which phases are done by looking at the machines, but who fetched a config or joined \
                 is lost, so `hardway serve` hands out every config once more; and so is what was done to this host, which is in its \
                 action-started lines, each with the steps to undo it"
            }
            Self::TooLong { .. } => {
                "this is a bug in hardway: events are small, artefacts are in their own files"
            }
        }
    }
}

/// Two events that cannot both have happened, or not in this order.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Impossible {
    /// An end of something that never began.
    #[error("line {line} has {end} for {of}, but no line before it has {beginning} for it")]
    NeverBegun {
        /// Counted from one.
        line: u64,
        /// The kind of that line.
        end: &'static str,
        /// The kind that is missing.
        beginning: &'static str,
        /// Of which phase or action.
        of: String,
    },
    /// A request that was both approved and denied.
    #[error(
        "line {line} has {verdict} for certificate request {request}, but line {before} has {other} for it"
    )]
    DecidedBothWays {
        /// Counted from one.
        line: u64,
        /// What it says.
        verdict: CsrVerdict,
        /// Of which request, by its uid.
        request: String,
        /// The line that says otherwise.
        before: u64,
        /// What that one says.
        other: CsrVerdict,
    },
}
