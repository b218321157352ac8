//! What `hardway create … --dry-run` prints: every file it would touch, and why.

use std::fmt::Write as _;

use hardway_assets::graph::{FileState, PlanStep, Stale};
use hardway_assets::rendered_nodes;

use super::{Forecast, Project};
use crate::release::KeptRelease;

/// One line per file and per command, in the order in which they would be written and run. `commands` are those that
/// render nodes.
pub(crate) fn list(
    project: &Project,
    forecast: &Forecast,
    release: &KeptRelease,
    commands: &[String],
) -> String {
    let plan = &forecast.plan;
    let mut text = String::new();
    for (name, secret) in project.secrets().files() {
        let reason = match project.secrets_on_disk.get(name) {
            Ok(on_disk) if on_disk == secret => continue,
            Ok(_) => "certificates are renewed",
            Err(_) => "not made yet",
        };
        let _ = writeln!(text, "would write secrets/{name} ({reason})");
    }
    for step in forecast.steps() {
        let reasons = join(&step.reasons);
        if step.asset == rendered_nodes::ID && !commands.is_empty() {
            let _ = writeln!(text, "would render nodes ({reasons})");
            commands.iter().for_each(|command| text += &format!("would run {command}\n"));
        }
        for path in files_in(step, FileState::Written) {
            let _ = writeln!(text, "would write {path} ({reasons})");
        }
        for (path, kept) in kept_in(step) {
            let _ = match kept {
                Kept::Deleted => writeln!(text, "would leave {path} deleted ({})", kept.how()),
                Kept::Edited | Kept::Foreign => writeln!(text, "would keep {path} ({})", kept.how()),
            };
        }
    }
    for path in &plan.removals {
        let _ = writeln!(text, "would remove {path} (no longer needed)");
    }
    for path in &plan.left_behind {
        let _ = writeln!(text, "would keep {path} (no longer needed, but edited by hand)");
    }
    if let KeptRelease::Stale(_) = release {
        let _ = writeln!(text, "would write release/ (the release that is used)");
    }
    text
}

/// The paths of a step's files in this state.
fn files_in(step: &PlanStep, state: FileState) -> impl Iterator<Item = &str> {
    step.files.iter().filter(move |(_, found)| *found == state).map(|(output, _)| output.path.as_str())
}

/// What somebody did to a file of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    Deleted,
    Edited,
    Foreign,
}

impl Kept {
    /// What was done.
    pub(crate) fn how(self) -> &'static str {
        match self {
            Self::Deleted => "deleted by hand",
            Self::Edited => "edited by hand",
            Self::Foreign => "not written by hardway",
        }
    }

    /// What becomes of it.
    pub(crate) fn so(self) -> &'static str {
        match self {
            Self::Deleted => "stays deleted",
            Self::Edited | Self::Foreign => "is kept",
        }
    }
}

/// The paths of a step's files that are as somebody left them.
pub(crate) fn kept_in(step: &PlanStep) -> impl Iterator<Item = (&str, Kept)> {
    step.files.iter().filter_map(|(output, state)| {
        let kept = match state {
            FileState::DeletedByHand => Kept::Deleted,
            FileState::EditedByHand => Kept::Edited,
            FileState::NotOurs => Kept::Foreign,
            FileState::Unchanged | FileState::Written => return None,
        };
        Some((output.path.as_str(), kept))
    })
}

/// Reasons as one text.
pub(crate) fn join(reasons: &[Stale]) -> String {
    reasons.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
