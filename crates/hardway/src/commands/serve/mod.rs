//! `hardway serve`
//!
//! ```text
//! folder.rs      the working folder: hosts, pools, what tokens are made with
//! prepare.rs     arguments, folder → faces, certificates, addresses: everything that can be wrong beforehand
//! service.rs     the servers, and the loop that tells what happens
//! watched.rs     what is looked at again and again
//! hosted.rs      the management cluster of hosted workers
//! run.rs         in the foreground, until a signal
//! background.rs  in a thread, for a command that boots machines meanwhile
//! screen.rs      what happens, on a terminal or line by line
//! view.rs        hosts and events as a table
//! line.rs        an event as one line of text or JSON
//! printer.rs     standard output, which may be slow
//! ```

mod background;
mod folder;
mod hosted;
mod line;
mod prepare;
mod printer;
mod run;
mod screen;
mod service;
mod view;
mod watched;

pub(crate) use background::{Background, Told};
pub(crate) use folder::Folder;
pub(crate) use line::words;

use crate::cli::{Global, ServeArgs};
use crate::output::Output;
use crate::report::Report;

/// Serves until told to end. Ends with 0 then: that is how a server ends well.
pub(crate) fn run(global: &Global, args: &ServeArgs, out: &Output) -> Result<u8, Report> {
    let folder = match prepare::needs_folder(args) {
        true => Some(Folder::open(&global.dir, args.release_dir.as_deref(), out)?),
        false => None,
    };
    let prepared = prepare::prepare(&global.dir, folder, args, &|what| out.warn(what))?;
    runtime()?.block_on(run::run(prepared, args, out))
}

fn runtime() -> Result<tokio::runtime::Runtime, Report> {
    let workers = std::thread::available_parallelism().map_or(2, usize::from).clamp(2, 8);
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers)
        .enable_all()
        .build()
        .map_err(|error| service::failed(&error))
}
