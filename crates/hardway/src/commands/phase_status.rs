//! How far an install is, shown once or whenever it changes.

use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use hardway_journal::{FILE_NAME, LiveHistory};

use crate::inputs::{FolderLock, Workdir};
use crate::install::{PhaseProgress, PhaseStatus, phase_statuses_by, short};
use crate::report::{Exit, Report};
use crate::terminal::{Output, sieved};

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
pub(super) fn follow(workdir: &Workdir, out: &Output) -> Result<Exit, Report> {
    let (mut shown, mut lines) = (String::new(), 0);
    let mut history = LiveHistory::of(&workdir.path(FILE_NAME));
    loop {
        let phases = phase_statuses_by(&mut history, workdir)?;
        let text = sieved(&phase_lines(&phases)).into_owned();
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
        let is_over = !phases.is_empty() && phases.iter().all(|phase| phase.state == PhaseProgress::Finished);
        if is_over {
            return Ok(Exit::Done);
        }
        if !FolderLock::is_taken(workdir) {
            out.info(match phases.is_empty() {
                true => "no install was started from this folder yet: start it with `hardway create cluster`",
                false => "no install is running: continue with `hardway create cluster`",
            });
            return Ok(Exit::Done);
        }
        std::thread::sleep(Duration::from_millis(500));
    }
}
