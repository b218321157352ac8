//! What somebody wants to have written.

use jiff::Timestamp;
use serde_json::Value;

use crate::Fact;

/// An event that has no number yet.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// When it happened, by the clock of whoever saw it.
    pub time: Timestamp,
    /// What kind of event; the reader picks by it.
    pub kind: String,
    /// The event itself. Never a secret: the journal is shown on pages and goes into bundles. Times, text and whole numbers:
    /// what has a fraction need not be read back to the last digit.
    pub body: Value,
}

impl Entry {
    /// An event of a known type.
    ///
    /// # Panics
    /// When the type cannot be written as JSON, which only a map with keys that are not text can cause.
    pub fn of<F: Fact>(time: Timestamp, fact: &F) -> Self {
        let body = serde_json::to_value(fact).expect("a fact can be written as JSON");
        Self { time, kind: F::KIND.to_owned(), body }
    }
}
