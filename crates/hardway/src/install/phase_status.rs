//! How far an install is, as the journal tells it.

use hardway_assets::Phase;
use hardway_journal::{FILE_NAME, LiveHistory, PhaseState};
use jiff::Timestamp;
use serde::Serialize;

use crate::inputs::{FolderLock, Workdir};
use crate::journal::{journal_report, recorded};
use crate::report::Report;

/// One phase.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PhaseStatus {
    pub(crate) phase: &'static str,
    /// `untouched`, `running`, `interrupted`, `failed`, `finished`.
    pub(crate) state: &'static str,
    /// Since when.
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) seconds: Option<i64>,
    /// What was seen, or what went wrong.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) detail: String,
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
    let statuses: Vec<PhaseStatus> = Phase::ALL
        .into_iter()
        .map(|phase| {
            // What was begun by a process that is gone was cut off.
            let begun = if is_held { "running" } else { "interrupted" };
            let (state, at, detail): (_, Option<&Timestamp>, _) = match history.phases.state(recorded(phase))
            {
                PhaseState::Untouched => ("untouched", None, String::new()),
                PhaseState::Begun { since } => (begun, Some(since), String::new()),
                PhaseState::Interrupted { at } => ("interrupted", Some(at), String::new()),
                PhaseState::Failed { at, code, what } => ("failed", Some(at), format!("{code}: {what}")),
                PhaseState::Finished { at, evidence } => ("finished", Some(at), evidence.clone()),
            };
            let seconds = history.phases.took(recorded(phase)).map(|took| took.as_secs());
            PhaseStatus { phase: phase.name(), state, since: at.map(ToString::to_string), seconds, detail }
        })
        .collect();
    let is_begun = statuses.iter().any(|status| status.state != "untouched");
    Ok(if is_begun { statuses } else { Vec::new() })
}
