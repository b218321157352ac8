//! The command line.

mod args;

pub(crate) use args::*;

use std::process::ExitCode;

/// Prints clap's own message. Help and version are no errors; everything else is exit code 2.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    let _ = error.print();
    ExitCode::from(if error.use_stderr() { crate::report::EXIT_USAGE } else { 0 })
}
