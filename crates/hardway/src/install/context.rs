//! What all phases share.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hardway_assets::Cluster;
use hardway_assets::inventory::{Host, Role};
use hardway_journal::{History, Journal, LiveHistory};
use hardway_machines::actions::{self, Action, Executor, ExecutorError};
use hardway_machines::host_progress::HostState;
use hardway_machines::providers::{Place, Provider};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::background::Background;
use super::followed_hosts::FollowedHosts;
use super::view::{InstallView, LOG_FILE};
use super::work::interrupted;
use crate::clock;
use crate::inputs::{InputFiles, Workdir, at};
use crate::journal::journal_report;
use crate::machines::{self, failed_action};
use crate::project::{self, MakeOptions};
use crate::report::{Code, Report};
use crate::runtime;
use crate::terminal::{Log, Output};

/// One cluster being installed.
pub(crate) struct Install {
    pub(crate) workdir: Workdir,
    /// The working folder, absolute.
    pub(crate) dir: PathBuf,
    /// Both input files, as they were when this run began.
    pub(crate) inputs: InputFiles,
    /// What the input files say. Whether they suit the release is told when it is known.
    pub(crate) cluster: Cluster,
    /// The lab, if that is where the machines are.
    pub(crate) place: Option<Place>,
    pub(crate) options: super::Options,
    /// What phases say in passing; it goes into the log.
    pub(crate) out: Output,
    pub(crate) log: Log,
    pub(crate) journal: Arc<Journal>,
    pub(crate) view: Arc<dyn InstallView>,
    /// Cancelled when a person wants the install to stop.
    pub(crate) stop: CancellationToken,
    history: Mutex<LiveHistory>,
    followed: Mutex<FollowedHosts>,
    background: Mutex<Background>,
    /// Where journal and log go when nothing may be left in the folder.
    _scratch: Option<TempDir>,
}

impl Install {
    /// Checks the input files and opens journal and log. The view is made from the history, so that it can tell how long
    /// things took before.
    pub(crate) fn open(
        workdir: Workdir,
        inputs: InputFiles,
        mut options: super::Options,
        view: impl FnOnce(&History, &Log) -> Arc<dyn InstallView>,
    ) -> Result<Self, Report> {
        let dir = std::path::absolute(workdir.path("")).map_err(|error| at(&workdir.path(""), &error))?;
        let cluster = match options.only_looks {
            true => project::cluster_before_release(&workdir, &inputs)?,
            false => project::cluster_to_build(&workdir, &inputs)?,
        };
        let place = machines::place(&cluster, &inputs)?;
        suit_lab(place.as_ref(), &cluster, &mut options.make)?;
        let scratch = match options.only_looks {
            true => {
                Some(tempfile::tempdir().map_err(|error| Report::from_error(Code::WorkdirUnusable, &error))?)
            }
            false => None,
        };
        let place_of =
            |name: &str| scratch.as_ref().map_or_else(|| workdir.path(name), |dir| dir.path().join(name));
        let journal =
            Journal::open(&place_of(hardway_journal::FILE_NAME)).map_err(|error| journal_report(&error))?;
        let log = Log::open(&place_of(LOG_FILE))?;
        let mut history = LiveHistory::of(&workdir.path(hardway_journal::FILE_NAME));
        let followed = FollowedHosts::new(&cluster, &workdir.path(""));
        let view = view(history.now().map_err(|error| journal_report(&error))?, &log);
        Ok(Self {
            dir,
            inputs,
            cluster,
            place,
            options,
            out: Output::into_log(log.clone()),
            log,
            journal: Arc::new(journal),
            view,
            stop: CancellationToken::new(),
            history: Mutex::new(history),
            followed: Mutex::new(followed),
            background: Mutex::default(),
            _scratch: scratch,
            workdir,
        })
    }

    /// What the journal says by now.
    pub(crate) fn history(&self) -> Result<History, Report> {
        let mut history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        history.now().cloned().map_err(|error| journal_report(&error))
    }

    /// How far these machines are by now, in their order.
    pub(super) fn host_states(&self, hosts: &[&Host]) -> Result<Vec<HostState>, Report> {
        self.followed.lock().unwrap_or_else(PoisonError::into_inner).now(hosts)
    }

    /// An error when a person wants the install to stop. To be asked between any two effects.
    pub(crate) fn go_on(&self) -> Result<(), Report> {
        if self.stop.is_cancelled() { Err(interrupted()) } else { Ok(()) }
    }

    /// Runs something that takes its time, until a person wants it to stop.
    pub(crate) fn block_on<T>(&self, future: impl Future<Output = Result<T, Report>>) -> Result<T, Report> {
        runtime::block_on(async {
            tokio::select! {
                result = future => result,
                () = self.stop.cancelled() => Err(interrupted()),
            }
        })?
    }

    /// Waits for a moment, or until a person wants an end.
    pub(crate) fn pause(&self, pause: Duration) -> Result<(), Report> {
        self.block_on(async {
            tokio::time::sleep(pause).await;
            Ok(())
        })
    }

    /// Hosts of a role that are still wanted.
    pub(crate) fn hosts(&self, role: Role) -> Result<Vec<&Host>, Report> {
        let history = self.history()?;
        Ok(self
            .cluster
            .inventory
            .with_role(role)
            .filter(|host| !history.hosts.is_retired(&host.name))
            .collect())
    }

    /// Who makes the machines that are still wanted.
    pub(crate) fn provider(&self) -> Result<Box<dyn Provider>, Report> {
        let stage = machines::stage(&self.cluster, &self.history()?);
        machines::provider_of(&self.cluster, &self.inputs, &self.dir, stage)
    }

    /// Works on this host, and writes down what is done to it.
    pub(crate) fn executor(&self) -> Executor<'_> {
        Executor::new(&self.dir, &self.journal, &clock::now).on(machines::outside())
    }

    /// Makes actions hold, one after the other.
    pub(crate) fn carry_out(&self, actions: &[Action]) -> Result<(), Report> {
        let executor = self.executor();
        for action in actions {
            self.go_on()?;
            self.view.waits_for(&format!("{}: {}", action.id, action.why));
            executor
                .up(std::slice::from_ref(action), &mut ActionReporter(self))
                .map_err(|error| self.failed(&error))?;
        }
        Ok(())
    }

    /// What to do about an action that failed, where these machines are made.
    pub(crate) fn failed(&self, error: &ExecutorError) -> Report {
        failed_action(Some(self.cluster.inventory.machines.provider), error)
    }

    /// What phases need beside them while they run.
    pub(crate) fn background(&self) -> MutexGuard<'_, Background> {
        self.background.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// In a lab the registry speaks plain HTTP, and podman may need options.
fn suit_lab(place: Option<&Place>, cluster: &Cluster, make: &mut MakeOptions) -> Result<(), Report> {
    let Some(place) = place else { return Ok(()) };
    make.release.registry.plain_http.extend(place.plain_http(cluster));
    let limits = actions::Host::default()
        .run(&place.podman_limits())
        .map_err(|error| Report::from_error(Code::ActionFailed, &error))?;
    make.render.podman_options.extend(limits.lines().map(str::to_owned));
    Ok(())
}

/// Says which actions were done on the way of an install.
struct ActionReporter<'i>(&'i Install);

impl actions::ActionListener for ActionReporter<'_> {
    fn holds(&mut self, action: &Action, outcome: actions::ActionOutcome) {
        match outcome {
            actions::ActionOutcome::Done => self.0.view.event(&format!("{}: done", action.id)),
            actions::ActionOutcome::AlreadyHeld => self.0.log.line(&format!("{}: held already", action.id)),
        }
    }
}
