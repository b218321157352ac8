//! `hardway completion`

use clap::CommandFactory as _;

use crate::cli::{Cli, CompletionArgs};
use crate::report::{Exit, Report};
use crate::terminal::Output;

/// The completion script of a shell.
pub(crate) fn run(args: &CompletionArgs, out: &Output) -> Result<Exit, Report> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "hardway", &mut script);
    out.data(&String::from_utf8_lossy(&script));
    Ok(Exit::Done)
}
