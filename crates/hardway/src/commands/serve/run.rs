//! In the foreground, until a signal.

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::screen::Screen;
use crate::cli::ServeFormat;
use crate::report::{Exit, Report};
use crate::runtime::{self, Listener, Stop};
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
    let mut signals = Signals::catch().map_err(|error| failed(&error))?;
    let log = prepared.journal.as_deref().map(Log::open).transpose()?;
    let mut screen = Screen::new(format, out)?;
    let service = Service::start(prepared, options, log, &mut screen).await?;
    let mut ended_by = None;
    let told = async { ended_by = Some(signals.any().await) };
    if !service.run(told, &mut screen).await {
        out.warn("some requests did not end in time and were cut off");
    }
    screen.finish()?;
    match ended_by {
        Some(Stop::Interrupted) => Err(runtime::interrupted("serving")),
        Some(Stop::Terminated) | None => Ok(Exit::Done),
    }
}

/// What a server is told to end with.
struct Signals {
    terminate: Signal,
    presses: Listener,
}

impl Signals {
    fn catch() -> std::io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, presses: Listener::new() })
    }

    async fn any(&mut self) -> Stop {
        tokio::select! {
            _ = self.terminate.recv() => Stop::Terminated,
            () = self.presses.pressed() => Stop::Interrupted,
        }
    }
}
