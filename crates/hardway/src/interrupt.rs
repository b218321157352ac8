//! A person presses Ctrl-C: exit code 8, in every command that takes its time.

use tokio::signal::unix::{SignalKind, signal};

use crate::report::{EXIT_INTERRUPTED, Report};

/// Done when it is pressed.
pub(crate) async fn pressed() {
    // Without a handler for it the signal ends the process as always.
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// What ended something that runs until it is told to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// A person: SIGINT.
    Interrupted,
    /// A service manager: SIGTERM.
    Terminated,
}

/// Done when it is told to stop, by whomever.
pub(crate) async fn told_to_stop() -> Stop {
    let Ok(mut terminate) = signal(SignalKind::terminate()) else {
        pressed().await;
        return Stop::Interrupted;
    };
    tokio::select! {
        _ = terminate.recv() => Stop::Terminated,
        () = pressed() => Stop::Interrupted,
    }
}

/// What is said then.
pub(crate) fn interrupted(doing: &str) -> Report {
    Report::new("interrupted", format!("interrupted while {doing}"))
        .exit(EXIT_INTERRUPTED)
        .fix("run the same command again: it goes on with what is there")
}
