//! `hardway completion`

use clap::CommandFactory as _;

use crate::cli::{Cli, CompletionArgs};
use crate::report::Report;
use crate::terminal::Output;

/// The completion script of a shell.
pub(crate) fn run(args: &CompletionArgs, out: &Output) -> Result<u8, Report> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "hardway", &mut script);
    out.data(&String::from_utf8_lossy(&script));
    Ok(0)
}
