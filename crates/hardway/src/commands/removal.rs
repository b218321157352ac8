//! Taking things away: a dry run tells what would go, a person is asked first, and what goes is told as it goes.

use std::io::{BufRead as _, IsTerminal as _, Write as _};

use hardway_base::counted;
use hardway_machines::actions::{Action, ActionListener, ActionOutcome};

use crate::cli::RemovalArgs;
use crate::report::{Code, Report};
use crate::terminal::Output;

/// What a command is about to take away.
pub(super) struct Removal<'r> {
    /// All of it, as a dry run tells it.
    pub(super) what: &'r str,
    /// What a person hears besides, before being asked.
    pub(super) warning: &'r str,
    /// What a person types to agree; none where nothing would go, and nobody has to be asked.
    pub(super) name: Option<&'r str>,
    /// What is true if nobody agrees, such as [`NOTHING_REMOVED`].
    pub(super) kept: &'r str,
}

/// Of what takes things away.
pub(super) const NOTHING_REMOVED: &str = "nothing was removed";

impl Removal<'_> {
    /// Whether to go on: not in a dry run, and not unless a person who can be asked agrees.
    pub(super) fn is_agreed(&self, args: RemovalArgs, out: &Output) -> Result<bool, Report> {
        if args.dry_run {
            out.data(&format!("{}\n", self.what.trim_end()));
            return Ok(false);
        }
        if let Some(name) = self.name {
            confirm(&format!("{}{}", self.what, self.warning), name, self.kept, args.yes, out)?;
        }
        Ok(true)
    }
}

/// Done when a person types the name of what goes, or when `--yes` was given. Where there is nobody to ask, a pipeline or a script has
/// to say so.
fn confirm(what: &str, name: &str, kept: &str, yes: bool, out: &Output) -> Result<(), Report> {
    if yes {
        return Ok(());
    }
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        let what = format!("there is no terminal to ask on, and --yes was not given: {kept}");
        return Err(Report::new(Code::Usage, what).fix("pass --yes; --dry-run shows what would be done"));
    }
    out.always(what);
    let mut stderr = std::io::stderr();
    let _ = write!(stderr, "Type {name} to confirm: ").and_then(|()| stderr.flush());
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    match read {
        Ok(_) if answer.trim() == name => Ok(()),
        _ => Err(Report::new(Code::Interrupted, format!("not confirmed: {kept}"))
            .fix(format!("type {name} when asked, or pass --yes"))),
    }
}

/// Prints each action as it is done or taken back, and counts them.
pub(super) struct ActionPrinter<'o> {
    out: &'o Output,
    pub(super) count: usize,
}

impl<'o> ActionPrinter<'o> {
    pub(super) fn new(out: &'o Output) -> Self {
        Self { out, count: 0 }
    }
}

impl ActionListener for ActionPrinter<'_> {
    fn holds(&mut self, action: &Action, outcome: ActionOutcome) {
        match outcome {
            ActionOutcome::AlreadyHeld => self.out.debug(&format!("{}: holds", action.id)),
            ActionOutcome::Done => {
                self.count += 1;
                self.out.info(&format!("{}: done", action.id));
            }
        }
    }

    fn undone(&mut self, action: &str) {
        self.count += 1;
        self.out.info(&format!("{action}: undone"));
    }
}

/// How much was taken back.
pub(super) fn taken_back(count: usize) -> String {
    match count {
        0 => "nothing to undo: the journal records no changes to this host or its machines".to_owned(),
        count => format!("{} undone", counted(count, "change")),
    }
}
