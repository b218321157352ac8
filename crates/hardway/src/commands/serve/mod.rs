//! `hardway serve`
//!
//! ```text
//! run.rs         in the foreground, until a signal
//! screen.rs      what happens, on a terminal or line by line
//! view.rs        hosts and events as a table
//! line.rs        an event as one line of text or JSON
//! printer.rs     standard output, which may be slow
//! ```

mod line;
mod printer;
mod run;
mod screen;
mod view;

use crate::cli::{Global, ServeArgs};
use crate::report::{Exit, Report};
use crate::runtime;
use crate::server::{self, Folder};
use crate::terminal::Output;

/// Serves until told to end. Ends with 0 then: that is how a server ends well.
pub(crate) fn run(global: &Global, args: &ServeArgs, out: &Output) -> Result<Exit, Report> {
    let options = server::Options::from(args);
    let folder = match server::needs_folder(&options) {
        true => Some(Folder::open(&global.dir, args.release_dir.as_deref(), out)?),
        false => None,
    };
    let prepared = server::prepare(&global.dir, folder, &options, &|what| out.warn(what))?;
    runtime::run_to_its_end(run::run(prepared, &options, args.output, out))
}
