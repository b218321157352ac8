//! One run: phases one after the other, with a view that is kept alive and a person who may stop it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::IsTerminal as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hardway_assets::Phase;
use hardway_journal::{Follower, History};
use hardway_machines::host_progress::{HostStates, Tracked};
use jiff::SignedDuration;

use super::engine::Engine;
use super::view::{Lines, Logged, Progress, Screen, View};
use super::{Install, work_of};
use crate::inputs::Workdir;
use crate::project::MakeOptions;
use crate::report::{Code, Exit, Report};
use crate::terminal::Log;

/// What can be said about a run.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// How files are made.
    pub(crate) make: MakeOptions,
    /// Checks of this host that are left out, by name.
    pub(crate) skip_checks: BTreeSet<String>,
    /// Nothing new for so long ends a wait.
    pub(crate) stall_after: SignedDuration,
    /// Nothing is written into the folder, not even a journal.
    pub(crate) only_looks: bool,
    /// A person says that the bootstrap host has left a load balancer of theirs.
    pub(crate) load_balancer_changed: bool,
}

/// Opens the folder, with a view of these phases.
pub(crate) fn open(workdir: Workdir, options: Options, phases: &[Phase]) -> Result<Install, Report> {
    let view = |history: &History, log: &Log| -> Arc<dyn View> {
        let progress = Progress::new(phases.iter().copied(), history);
        let view: Arc<dyn View> = match std::io::stderr().is_terminal() {
            true => Arc::new(Screen::new(progress, width())),
            false => Arc::new(Lines::new(progress)),
        };
        Arc::new(Logged { log: log.clone(), view })
    };
    Install::open(workdir, options, view)
}

/// Runs phases in order; ends at the first that gives up. Those in `known` were looked at a moment ago by the process that
/// started this one.
pub(crate) fn run(install: &Install, phases: &[Phase], known: &[Phase]) -> Result<(), Report> {
    listen_for_signals(install)?;
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (tracked, view) = (Tracked::all(&install.cluster), install.view.clone());
        let (journal, over) = (install.workdir.path(hardway_journal::FILE_NAME), &over);
        scope.spawn(move || keep_alive(&journal, &tracked, view.as_ref(), over));
        let _ends = Ends(over);
        let engine = Engine { install };
        phases.iter().try_for_each(|phase| match known.contains(phase) {
            true => {
                install.view.already(*phase, "seen a moment ago");
                Ok(())
            }
            false => engine
                .phase(*phase, work_of(install, *phase).as_ref())
                .map_err(|report| install.diagnosed(*phase, report)),
        })
    })?;
    install.view.tick();
    Ok(())
}

/// Says that it is over when it goes, so that a panic in a phase ends the run instead of leaving it drawing for ever.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The first signal asks to stop at the next good moment; the second does not ask.
fn listen_for_signals(install: &Install) -> Result<(), Report> {
    use tokio::signal::unix::{SignalKind, signal};
    let _context = install.runtime.enter();
    let failed = |error: std::io::Error| Report::from_error(Code::WorkdirUnusable, &error);
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    let (stop, view) = (install.stop.clone(), install.view.clone());
    install.runtime.spawn(async move {
        loop {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            if stop.swap(true, Ordering::Relaxed) {
                at_once();
            }
            view.event("stopping at the next good moment; once more to stop at once");
        }
    });
    Ok(())
}

/// Locks go with the process, and what is half done is in the journal: that is what it is for.
#[expect(clippy::exit, clippy::disallowed_methods, reason = "asked for twice")]
fn at_once() -> ! {
    std::process::exit(i32::from(Exit::Interrupted.number()))
}

/// Draws, and tells how far each machine is.
fn keep_alive(journal: &Path, tracked: &[Tracked], view: &dyn View, over: &AtomicBool) {
    let (mut follower, mut hosts) = (Follower::new(journal), HostStates::new(tracked));
    let mut told: BTreeMap<String, String> = BTreeMap::new();
    while !over.load(Ordering::Relaxed) {
        if let Ok(news) = follower.news()
            && !news.is_empty()
        {
            hosts.read(&news);
            for state in hosts.states() {
                let now = state.state.to_string();
                if told.get(&state.host) != Some(&now) {
                    view.host(&state.host, &now);
                    told.insert(state.host.clone(), now);
                }
            }
        }
        view.tick();
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// Of the terminal, as it says itself.
fn width() -> usize {
    let columns = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    columns
        .or_else(|| {
            rustix::termios::tcgetwinsize(std::io::stderr()).ok().map(|size| usize::from(size.ws_col))
        })
        .filter(|width| *width > 20)
        .unwrap_or(100)
}
