//! Asks before something is taken away for good.

use std::io::{BufRead as _, IsTerminal as _, Write as _};

use super::Output;
use crate::report::{Code, Report};

/// Done when a person types the name of what goes, when `--yes` was given, or when there is nobody to ask: pipelines and scripts have
/// said what they want.
pub(crate) fn confirm(what: &str, name: &str, yes: bool, out: &Output) -> Result<(), Report> {
    if yes || !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Ok(());
    }
    out.always(what);
    let mut stderr = std::io::stderr();
    let _ = write!(stderr, "Type {name} to go on: ").and_then(|()| stderr.flush());
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    match read {
        Ok(_) if answer.trim() == name => Ok(()),
        _ => Err(Report::new(Code::Interrupted, "not confirmed: nothing was taken away")
            .fix(format!("type {name} when asked, or give --yes"))),
    }
}
