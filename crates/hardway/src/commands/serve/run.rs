//! In the foreground, until a signal.

use super::screen::Screen;
use crate::cli::ServeFormat;
use crate::report::{Exit, Report};
use crate::runtime::{self, Stop, Stops};
use crate::server::{Log, Options, Prepared, Service, failed};
use crate::terminal::Output;

/// Serves until SIGTERM, which is a good end, or SIGINT, which is a person's.
pub(super) async fn run(
    prepared: Prepared,
    options: &Options,
    format: ServeFormat,
    out: &Output,
) -> Result<Exit, Report> {
    // Before anybody can be served: a signal that comes as early as that must still end the server cleanly.
    let mut stops = Stops::listen().map_err(|error| failed(&error))?;
    let log = prepared.journal.as_deref().map(Log::open).transpose()?;
    let mut screen = Screen::new(format, out)?;
    let service = Service::start(prepared, options, log, &mut screen).await?;
    let mut ended_by = None;
    let told = async { ended_by = Some(stops.next().await) };
    if !service.run(told, &mut screen).await {
        out.warn("some requests did not end in time and were cut off");
    }
    screen.finish()?;
    match ended_by {
        Some(Stop::Interrupted) => Err(runtime::interrupted("serving")),
        Some(Stop::Terminated) | None => Ok(Exit::Done),
    }
}
