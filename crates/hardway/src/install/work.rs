//! What a phase can do.

use crate::report::{Code, Report};

/// The work of one phase. All that it knows it finds out by looking: it may have been cut off anywhere.
pub(crate) trait Work {
    /// Looks whether there is anything to do. Changes nothing.
    fn observe(&self) -> Result<Observed, Report>;

    /// Does it, and says at the end what holds now.
    fn run(&self) -> Result<String, Report>;

    /// Every command and change that running it would mean, for people to read beforehand.
    fn plan(&self) -> Result<Vec<Effect>, Report>;

    /// Undoes what keeps it from being done once more. Most phases need nothing: they are done again by being run.
    fn reset(&self) -> Result<Vec<String>, Report> {
        Ok(Vec::new())
    }
}

/// What a look at the world says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Observed {
    /// What the phase is for holds: with what was seen.
    Done(String),
    /// It does not: with what is missing.
    Todo(String),
}

/// One thing that a phase would do.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Effect {
    /// In a sentence.
    pub(crate) what: String,
    /// The action that it is, where it can be taken back by that name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) action: Option<String>,
    /// As a shell would do it; nothing for what hardway does itself.
    pub(crate) commands: Vec<String>,
}

impl Effect {
    pub(crate) fn of(what: impl Into<String>) -> Self {
        Self { what: what.into(), action: None, commands: Vec::new() }
    }
}

/// The end that a person asked for.
pub(crate) fn interrupted() -> Report {
    Report::new(Code::Interrupted, "stopped on request; everything done so far is kept")
        .fix("run the same command again to continue from here")
}
