//! `hardway serve`
//!
//! ```text
//! prepare.rs   working folder, API server → faces, certificates, addresses: everything that can be wrong beforehand
//! run.rs       the server, the looks at the folder, the signals
//! view.rs      hosts and events as a table on a terminal
//! line.rs      an event as one line of text or JSON
//! printer.rs   standard output, which may be slow
//! ```

mod line;
mod prepare;
mod printer;
mod run;
mod view;

use crate::cli::{Global, ServeArgs};
use crate::output::Output;
use crate::report::Report;

/// Serves until told to end. Ends with 0 then: that is how a server ends well.
pub(crate) fn run(global: &Global, args: &ServeArgs, out: &Output) -> Result<u8, Report> {
    let prepared = prepare::prepare(global, args, out)?;
    let workers = std::thread::available_parallelism().map_or(2, usize::from).clamp(2, 8);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers)
        .enable_all()
        .build()
        .map_err(|error| Report::from_error("serve-failed", &error))?;
    runtime.block_on(run::run(prepared, args, out))
}
