//! How far an install is, as the journal tells it.

use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use hardway_assets::Phase;
use hardway_journal::{FILE_NAME, LiveHistory, PhaseState};
use jiff::Timestamp;
use serde::Serialize;

use crate::inputs::{FolderLock, Workdir};
use crate::install::short;
use crate::journal::{journal_report, recorded};
use crate::report::{Exit, Report};

/// One phase.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PhaseStatus {
    phase: &'static str,
    /// `untouched`, `running`, `interrupted`, `failed`, `finished`.
    state: &'static str,
    /// Since when.
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<i64>,
    /// What was seen, or what went wrong.
    #[serde(skip_serializing_if = "String::is_empty")]
    detail: String,
}

/// Of every phase; none if nothing was ever installed from here.
pub(super) fn phases(workdir: &Workdir) -> Result<Vec<PhaseStatus>, Report> {
    phases_by(&mut LiveHistory::of(&workdir.path(FILE_NAME)), workdir)
}

fn phases_by(history: &mut LiveHistory, workdir: &Workdir) -> Result<Vec<PhaseStatus>, Report> {
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

/// As a table.
pub(super) fn phase_lines(phases: &[PhaseStatus]) -> String {
    let mut text = String::new();
    for PhaseStatus { phase, state, seconds, detail, .. } in phases {
        let took = seconds.map(|seconds| short(jiff::SignedDuration::from_secs(seconds))).unwrap_or_default();
        let _ = writeln!(text, "{phase:20} {state:12} {took:>12}  {detail}");
    }
    if !phases.is_empty() {
        text.push('\n');
    }
    text
}

/// Shows it again whenever it changes, until every phase is finished, or one failed and nobody is at work.
pub(super) fn follow(workdir: &Workdir) -> Result<Exit, Report> {
    let (mut shown, mut lines) = (String::new(), 0);
    let mut history = LiveHistory::of(&workdir.path(FILE_NAME));
    loop {
        let phases = phases_by(&mut history, workdir)?;
        let text = phase_lines(&phases);
        if text != shown {
            let up = if lines > 0 && std::io::stdout().is_terminal() {
                format!("\x1b[{lines}A\x1b[J")
            } else {
                String::new()
            };
            let mut stdout = std::io::stdout();
            // The reader may go away at any time.
            if write!(stdout, "{up}{text}").and_then(|()| stdout.flush()).is_err() {
                return Ok(Exit::Done);
            }
            lines = text.lines().count();
            shown = text;
        }
        let is_over = !phases.is_empty() && phases.iter().all(|phase| phase.state == "finished");
        if is_over || !FolderLock::is_taken(workdir) {
            return Ok(Exit::Done);
        }
        std::thread::sleep(Duration::from_millis(500));
    }
}
