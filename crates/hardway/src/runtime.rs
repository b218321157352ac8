//! What runs until it is done or somebody ends it. A person presses Ctrl-C: exit code 8, in every command that takes its time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::runtime::{Handle, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

use crate::report::{Code, Exit, Report};
use crate::terminal::Output;

static RUNTIME: Mutex<Option<Runtime>> = Mutex::new(None);

/// How many parts of the program would end it themselves now.
static LISTENERS: AtomicUsize = AtomicUsize::new(0);

/// Told of every press that is not the end of the program. Only one thread hears the signal itself: were there two, the one that ends
/// the program could be late, and find nobody listening any more because the others had already ended as they were told.
static PRESSES: LazyLock<watch::Sender<()>> = LazyLock::new(|| watch::Sender::new(()));

/// Whoever holds it ends the program when a person presses Ctrl-C.
struct Listener(watch::Receiver<()>);

impl Listener {
    fn new() -> Self {
        // First the ear, then the promise: a press in between ends the program, and none is lost.
        let presses = PRESSES.subscribe();
        LISTENERS.fetch_add(1, Ordering::SeqCst);
        Self(presses)
    }

    /// Done when Ctrl-C is pressed, or was since this was last asked.
    async fn pressed(&mut self) {
        // The sender is never dropped: there is no error to tell.
        let _ = self.0.changed().await;
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        LISTENERS.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Ctrl-C ends every command with the same exit code, also those that never look for it. Locks go with the process, and files are
/// written by rename: what is half done is done again by the next run.
pub(crate) fn end_when_pressed(tell: impl Fn(&Report) + Send + 'static) {
    let built = tokio::runtime::Builder::new_current_thread().enable_io().build();
    let Ok(runtime) = built else { return };
    let pressed = {
        let _context = runtime.enter();
        signal(SignalKind::interrupt())
    };
    // Without a handler for it the signal ends the process as always.
    let Ok(mut pressed) = pressed else { return };
    std::thread::spawn(move || {
        runtime.block_on(async {
            while pressed.recv().await.is_some() {
                if LISTENERS.load(Ordering::SeqCst) == 0 {
                    let report = interrupted("working");
                    tell(&report);
                    at_once();
                }
                PRESSES.send_replace(());
            }
        });
    });
}

/// Without unwinding, which other threads would not see.
#[expect(clippy::exit, clippy::disallowed_methods, reason = "a person does not want to wait")]
pub(crate) fn at_once() -> ! {
    std::process::exit(i32::from(Exit::Interrupted.number()))
}

/// What ended something that runs until it is told to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// A person: SIGINT.
    Interrupted,
    /// A service manager: SIGTERM.
    Terminated,
}

/// Hears what tells a command to stop, from the moment on that it is made.
pub(crate) struct Stops {
    terminate: Signal,
    presses: Listener,
}

impl Stops {
    /// Inside the runtime.
    pub(crate) fn listen() -> std::io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, presses: Listener::new() })
    }

    /// Done when it is told to stop, by whomever.
    pub(crate) async fn next(&mut self) -> Stop {
        tokio::select! {
            _ = self.terminate.recv() => Stop::Terminated,
            () = self.presses.pressed() => Stop::Interrupted,
        }
    }
}

/// Done when it is told to stop, by whomever.
pub(crate) async fn told_to_stop() -> Stop {
    match Stops::listen() {
        Ok(mut stops) => stops.next().await,
        Err(_) => {
            Listener::new().pressed().await;
            Stop::Interrupted
        }
    }
}

/// What is said then.
pub(crate) fn interrupted(doing: &str) -> Report {
    Report::new(Code::Interrupted, format!("interrupted while {doing}"))
        .fix("run the same command again to continue")
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
    // Until all of it is dropped: the press that ends it must not end the program meanwhile, with a Lease still held, say.
    let _listener = Listener::new();
    block_on(future)?
}

/// Waits for a future, on the one runtime of the program. Not to be called inside it.
pub(crate) fn block_on<F: Future>(future: F) -> Result<F::Output, Report> {
    Ok(handle()?.block_on(future))
}

/// The one runtime of the program, begun when it is first needed.
pub(crate) fn handle() -> Result<Handle, Report> {
    let mut runtime = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(runtime) = &*runtime {
        return Ok(runtime.handle().clone());
    }
    let workers = std::thread::available_parallelism().map_or(2, usize::from).clamp(2, 8);
    let built = tokio::runtime::Builder::new_multi_thread().worker_threads(workers).enable_all().build();
    let built = built.map_err(|error| Report::from_error(Code::WorkdirUnusable, &error))?;
    Ok(runtime.insert(built).handle().clone())
}

/// At the end of the program. A task that does not answer is not waited for.
pub(crate) fn end() {
    if let Some(runtime) = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner).take() {
        runtime.shutdown_background();
    }
}
