//! One run: phases one after the other, with a view that is kept alive and a person who may stop it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::IsTerminal as _;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use hardway_assets::Phase;
use hardway_journal::{Appended, Entry, Follower, History, PhaseReset};
use hardway_machines::host_progress::{HostReports, TrackedHost};
use hardway_machines::preflight::CheckName;
use jiff::SignedDuration;

use super::engine::Engine;
use super::view::{InstallProgress, InstallView, Lines, LoggedView, Screen};
use super::{Install, work_of};
use crate::clock;
use crate::inputs::{InputFiles, Workdir};
use crate::journal::{journal_report, recorded};
use crate::project::MakeOptions;
use crate::report::{Code, Report};
use crate::runtime::{self, Stops};
use crate::terminal::Log;

/// Between two drawings.
const BEAT: Duration = Duration::from_millis(200);

/// What can be said about a run.
#[derive(Clone, Debug)]
pub(crate) struct InstallOptions {
    /// How files are made.
    pub(crate) make: MakeOptions,
    /// Checks of this host that are left out, by name.
    pub(crate) skip_checks: BTreeSet<CheckName>,
    /// A wait ends when nothing new has happened for this long.
    pub(crate) stall_after: SignedDuration,
    /// Nothing is written into the folder, not even a journal.
    pub(crate) only_looks: bool,
    /// A person says that the bootstrap host has left a load balancer of theirs.
    pub(crate) load_balancer_changed: bool,
}

/// Opens the folder, with a view of these phases.
pub(crate) fn open(
    workdir: Workdir,
    inputs: InputFiles,
    options: InstallOptions,
    phases: &[Phase],
) -> Result<Install, Report> {
    let view = |history: &History, log: &Log| -> Arc<dyn InstallView> {
        let progress = InstallProgress::new(phases.iter().copied(), history);
        let view: Arc<dyn InstallView> = match std::io::stderr().is_terminal() {
            true => Arc::new(Screen::new(progress, width())),
            false => Arc::new(Lines::new(progress)),
        };
        Arc::new(LoggedView { log: log.clone(), view })
    };
    Install::open(workdir, inputs, options, view)
}

/// Has a phase be done again: writes it down, and undoes what keeps it from being done once more. Gives what was undone.
pub(crate) fn reset(install: &Install, phase: Phase) -> Result<Vec<String>, Report> {
    let entry = Entry::of(clock::now(), &PhaseReset { phase: recorded(phase) });
    install.journal.append(&[entry]).map_err(|error| journal_report(&error))?;
    work_of(install, phase).reset()
}

/// Runs phases in order; ends at the first that gives up. Those in `known` were looked at a moment ago by the process that
/// started this one.
pub(crate) fn run(install: &Install, phases: &[Phase], known: &[Phase]) -> Result<(), Report> {
    listen_for_signals(install)?;
    let mut drawn = Drawn::of(install);
    alongside(
        move || drawn.beat(),
        || {
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
        },
    )?;
    install.view.tick();
    Ok(())
}

/// Works, while a thread beats a few times a second. However the work ends, the thread ends with it.
fn alongside<T>(mut beat: impl FnMut() + Send, work: impl FnOnce() -> T) -> T {
    let (over, is_over) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            while is_over.recv_timeout(BEAT) == Err(RecvTimeoutError::Timeout) {
                beat();
            }
        });
        // Dropped with the work, also when that panics: the thread waits for nothing else.
        let _over = over;
        work()
    })
}

/// The first signal asks to stop at the next good moment; the second does not ask.
fn listen_for_signals(install: &Install) -> Result<(), Report> {
    let runtime = runtime::handle()?;
    let _context = runtime.enter();
    let failed = |error: std::io::Error| Report::from_error(Code::WorkdirUnusable, &error);
    let mut stops = Stops::listen().map_err(failed)?;
    let (stop, view) = (install.stop.clone(), install.view.clone());
    runtime.spawn(async move {
        loop {
            stops.next().await;
            if stop.is_cancelled() {
                // Asked for twice: what is half done is in the journal.
                runtime::at_once();
            }
            stop.cancel();
            view.event("stopping at the next safe point; press Ctrl-C again to stop immediately");
        }
    });
    Ok(())
}

/// What is drawn again and again: the view, and how far each machine is.
struct Drawn {
    journal: Follower,
    hosts: HostReports,
    view: Arc<dyn InstallView>,
    /// The last state of each machine that was told.
    told: BTreeMap<String, String>,
}

impl Drawn {
    fn of(install: &Install) -> Self {
        Self {
            journal: Follower::new(&install.workdir.path(hardway_journal::FILE_NAME)),
            hosts: HostReports::new(&TrackedHost::all(&install.cluster)),
            view: install.view.clone(),
            told: BTreeMap::new(),
        }
    }

    fn beat(&mut self) {
        // What cannot be read is told by whoever needs it.
        let news = self.journal.news().unwrap_or_default();
        if news != Appended::default() {
            self.hosts.follow(&news);
            for host in self.hosts.states() {
                let state = host.progress.to_string();
                if self.told.insert(host.host.clone(), state.clone()).as_ref() != Some(&state) {
                    self.view.host(&host.host, &state);
                }
            }
        }
        self.view.tick();
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

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn a_panic_in_a_phase_ends_the_drawing_too() {
        let ended = catch_unwind(AssertUnwindSafe(|| alongside(|| {}, || panic!("a phase fell over"))));
        assert!(ended.is_err());
        assert_eq!(alongside(|| {}, || 7), 7);
    }
}
