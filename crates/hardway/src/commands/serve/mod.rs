//! `hardway serve`
//!
//! ```text
//! screen.rs      what happens, on a terminal or line by line
//! view.rs        hosts and events as a table
//! line.rs        an event as one line of text or JSON
//! printer.rs     standard output, which may be slow
//! ```

mod line;
mod printer;
mod screen;
mod view;

use self::screen::Screen;
use crate::cli::{FaceArg, Global, ServeArgs, ServeFormat};
use crate::inputs::ServeLock;
use crate::report::{Exit, Report};
use crate::runtime::{self, Stop, Stops};
use crate::server::{self, Prepared, ServeOptions, ServedFolder, ServedJournal, Service, failed};
use crate::terminal::Output;

/// Serves until told to end. Ends with 0 then: that is how a server ends well.
pub(crate) fn run(global: &Global, args: &ServeArgs, out: &Output) -> Result<Exit, Report> {
    let options = ServeOptions::from(args);
    let is_by_address = args.face.contains(&FaceArg::Host) || args.boot.is_some();
    if args.from_any_address && !is_by_address {
        out.warn("--from-any-address has no effect here: only --face host and --boot check host addresses");
    }
    if args.from_any_address && is_by_address {
        out.warn("--from-any-address: anyone with a host's pointer, or the path it boots from, can fetch its config from anywhere: only for hosts behind NAT, and only while they are installed");
    }
    if args.face.contains(&FaceArg::Pool) {
        out.warn("--face pool: anyone who reaches this port can fetch the config of a pool, pull secret included, without a token: only on the machines' network, and only while machines are installed");
    }
    let folder = match server::needs_folder(&options) {
        true => Some(ServedFolder::open(&global.dir, args.release_dir.as_deref(), out)?),
        false => None,
    };
    let _served = folder.as_ref().map(|_| ServeLock::begin(&global.dir)).transpose()?;
    let prepared = server::prepare(&global.dir, folder, &options, &|what| out.warn(what))?;
    runtime::run_to_its_end(serve(prepared, &options, args.output, out))
}

/// Serves until SIGTERM, which is a good end, or SIGINT, which is a person's.
async fn serve(
    prepared: Prepared,
    options: &ServeOptions,
    format: ServeFormat,
    out: &Output,
) -> Result<Exit, Report> {
    // Before anybody can be served: a signal that comes as early as that must still end the server cleanly.
    let mut stops = Stops::listen().map_err(|error| failed(&error))?;
    let log = prepared.journal.as_deref().map(ServedJournal::open).transpose()?;
    let mut screen = Screen::new(format, out)?;
    let service = Service::start(prepared, options, log, &mut screen).await?;
    let mut ended_by = None;
    let told = async { ended_by = Some(stops.next().await) };
    if !service.run(told, &mut screen).await {
        out.warn("some requests did not finish in time and were aborted");
    }
    screen.finish()?;
    match ended_by {
        Some(Stop::Interrupted) => Err(runtime::interrupted("serving")),
        Some(Stop::Terminated) | None => Ok(Exit::Done),
    }
}
