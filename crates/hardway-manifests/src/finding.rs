//! A mistake at its place in a file.

use hardway_assets::yaml::Span;

use crate::Mistake;

/// Something wrong in a file, or odd.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Path of the file, as it was given.
    pub file: String,
    /// The bytes of the text that it is about.
    pub span: Span,
    /// Where that begins, both from one.
    pub line: usize,
    /// In characters.
    pub column: usize,
    /// `ConfigMap test/a`; empty where the text could not be read.
    pub object: String,
    /// Whether it would be refused or dropped.
    pub severity: Severity,
    /// What is wrong.
    pub mistake: Mistake,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The API server, or the operator that reads the object, refuses it, or drops a part of it.
    Error,
    /// It is taken, and will hardly do what it is for.
    Warning,
}

impl Severity {
    /// `error` or `warning`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}
