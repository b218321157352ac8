//! What is wrong with the files of a release, in a folder or fetched: all of it at once, file by file.

use std::fmt;
use std::io;
use std::path::PathBuf;

use hardway_assets::release_payload::VersionError;
use hardway_assets::yaml::SyntaxError;

/// A release folder that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the release folder {} cannot be used:{}", .dir.display(), listed(.faults))]
pub struct FolderError {
    /// The folder.
    pub dir: PathBuf,
    /// Everything found, by file.
    pub faults: Vec<Fault>,
}

/// A release image that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the release {image} cannot be used:{}", listed(.faults))]
pub struct ReleaseError {
    /// Its pull spec.
    pub image: String,
    /// Everything found, by file.
    pub faults: Vec<Fault>,
}

/// One thing wrong with one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Path below the folder; `.` is the folder itself.
    pub file: String,
    /// What.
    pub reason: FaultReason,
}

/// What can be wrong with a file of a release.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FaultReason {
    /// An image that is named by tag, or not at all.
    #[error("{name}: {pull_spec:?} is not a pull spec by digest (registry/name@sha256:…)")]
    NotByDigest {
        /// The tag name in `image-references`, or `release image`.
        name: String,
        /// What stands there.
        pull_spec: String,
    },
    /// Something stands twice that may stand once.
    #[error("{what} is also in {other}, with different content")]
    Conflict {
        /// Such as `CRD file x.yaml`.
        what: String,
        /// The file read before.
        other: String,
    },
    /// A field is missing or of the wrong type.
    #[error("{0} is missing or malformed")]
    Field(String),
    /// The file is not there.
    #[error("missing: {0}")]
    Missing(&'static str),
    /// Not UTF-8.
    #[error("not UTF-8 text")]
    NotText,
    /// Not YAML or JSON.
    #[error("line {line}: {message}")]
    Syntax {
        /// From 1.
        line: usize,
        /// Why.
        message: String,
    },
    /// A value outside a fixed set.
    #[error("{field} is {found:?}, expected {expected}")]
    Unexpected {
        /// Which field.
        field: String,
        /// What it should be.
        expected: String,
        /// What it is.
        found: String,
    },
    /// The file could not be read.
    #[error("cannot be read: {0}")]
    Unreadable(io::ErrorKind),
    /// The version is no version, or too old.
    #[error("{0}")]
    Version(VersionError),
}

impl FaultReason {
    /// Syntax errors of a document that begins at byte `start` of a file.
    pub(crate) fn syntax(file: &str, start: usize, errors: Vec<SyntaxError>) -> Vec<Self> {
        let line = |at: usize| file.bytes().take(at).filter(|b| *b == b'\n').count() + 1;
        errors
            .into_iter()
            .map(|error| Self::Syntax { line: line(start + error.span.start), message: error.message })
            .collect()
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file, self.reason)
    }
}

fn listed(faults: &[Fault]) -> String {
    faults.iter().map(|fault| format!("\n  {fault}")).collect()
}
