//! How far an install is, as the journal tells it.

use std::fmt;

use hardway_assets::Phase;
use hardway_journal::{FILE_NAME, History, LiveHistory, PhaseState};
use jiff::Timestamp;
use serde::Serialize;

use crate::inputs::{FolderLock, Workdir};
use crate::journal::{journal_report, recorded};
use crate::report::Report;

/// One phase.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PhaseStatus {
    pub(crate) phase: Phase,
    pub(crate) state: PhaseProgress,
    /// Since when.
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) seconds: Option<i64>,
    /// What was seen, or what went wrong.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) detail: String,
    /// Of a phase that gave up: `hardway explain CODE` says more.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<String>,
    /// What was seen then.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    evidence: Vec<String>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
}

/// How far one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PhaseProgress {
    Untouched,
    Running,
    Interrupted,
    Failed,
    Finished,
}

/// Of every phase; none if nothing was ever installed from here.
pub(crate) fn phase_statuses(workdir: &Workdir) -> Result<Vec<PhaseStatus>, Report> {
    phase_statuses_by(&mut LiveHistory::of(&workdir.path(FILE_NAME)), workdir)
}

/// The same, of a journal that is followed.
pub(crate) fn phase_statuses_by(
    history: &mut LiveHistory,
    workdir: &Workdir,
) -> Result<Vec<PhaseStatus>, Report> {
    if !workdir.path(FILE_NAME).exists() {
        return Ok(Vec::new());
    }
    let history = history.now().map_err(|error| journal_report(&error))?;
    let is_held = FolderLock::is_taken(workdir);
    let statuses: Vec<PhaseStatus> =
        Phase::ALL.into_iter().map(|phase| PhaseStatus::of(history, phase, is_held)).collect();
    let is_begun = statuses.iter().any(|status| status.state != PhaseProgress::Untouched);
    Ok(if is_begun { statuses } else { Vec::new() })
}

impl PhaseStatus {
    /// What a history says of it; `is_held` is whether somebody works in the folder.
    pub(crate) fn of(history: &History, phase: Phase, is_held: bool) -> Self {
        let seconds = history.phases.took(recorded(phase)).map(|took| took.as_secs());
        let state = PhaseProgress::Untouched;
        let untouched = Self {
            phase,
            state,
            since: None,
            seconds,
            detail: String::new(),
            code: None,
            evidence: Vec::new(),
            fix: None,
        };
        let at = |state, at: &Timestamp| Self { state, since: Some(at.to_string()), ..untouched.clone() };
        match history.phases.state(recorded(phase)) {
            PhaseState::Untouched => untouched,
            // What was begun by a process that is gone was cut off.
            PhaseState::Begun { since } if is_held => at(PhaseProgress::Running, since),
            PhaseState::Begun { since: then } | PhaseState::Interrupted { at: then } => {
                at(PhaseProgress::Interrupted, then)
            }
            PhaseState::Failed { at: then, code, what, evidence, fix } => Self {
                detail: format!("{code}: {what}"),
                code: Some(code.clone()),
                evidence: evidence.clone(),
                fix: fix.clone(),
                ..at(PhaseProgress::Failed, then)
            },
            PhaseState::Finished { at: then, evidence } => {
                Self { detail: evidence.clone(), ..at(PhaseProgress::Finished, then) }
            }
        }
    }
}

impl PhaseProgress {
    /// As it is printed.
    fn word(self) -> &'static str {
        match self {
            Self::Untouched => "untouched",
            Self::Running => "running",
            Self::Interrupted => "interrupted",
            Self::Failed => "failed",
            Self::Finished => "finished",
        }
    }
}

impl fmt::Display for PhaseProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}
