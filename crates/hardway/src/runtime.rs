//! What runs until it is done or somebody ends it. A person presses Ctrl-C: exit code 8, in every command that takes its time.

use std::time::{Duration, Instant};

use tokio::signal::unix::{SignalKind, signal};

use crate::report::{Code, Report};
use crate::terminal::Output;

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
    Report::new(Code::Interrupted, format!("interrupted while {doing}"))
        .fix("run the same command again: it goes on with what is there")
}

/// Runs a command that talks to a cluster, until it is done or somebody ends it. What it holds is dropped then, and with it
/// half-written files and the programs it has started.
pub(crate) fn run<T>(doing: &str, future: impl Future<Output = Result<T, Report>>) -> Result<T, Report> {
    run_to_its_end(async {
        tokio::select! {
            done = future => done,
            _ = told_to_stop() => Err(interrupted(doing)),
        }
    })
}

/// Says what is being done when it takes longer than three seconds, and then now and again.
pub(crate) async fn aloud<T>(out: &Output, doing: impl Fn() -> String, future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    let (began, mut pause) = (Instant::now(), Duration::from_millis(2500));
    loop {
        match tokio::time::timeout(pause, &mut future).await {
            Ok(done) => return done,
            Err(_) => out.info(&format!("{}, for {:.0} s", doing(), began.elapsed().as_secs_f32())),
        }
        pause = Duration::from_secs(12);
    }
}

/// Runs a command that ends by itself when it is told to.
pub(crate) fn run_to_its_end<T>(future: impl Future<Output = Result<T, Report>>) -> Result<T, Report> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|error| Report::from_error(Code::WorkdirUnusable, &error))?;
    let done = runtime.block_on(future);
    // Somebody who does not answer is not waited for.
    runtime.shutdown_background();
    done
}
