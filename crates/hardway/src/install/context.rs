//! What all phases share.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hardway_assets::Cluster;
use hardway_assets::inventory::{Host, Role};
use hardway_assets::work_paths;
use hardway_base::{files, podman};
use hardway_journal::{FILE_NAME, Follower, History, Journal, LiveHistory};
use hardway_machines::actions::{self, Action, Executor, ExecutorError};
use hardway_machines::host_progress::{HostReport, HostReports, TrackedHost};
use hardway_machines::providers::{LabSite, Provider};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::background::Background;
use super::view::InstallView;
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
    pub(crate) lab: Option<LabSite>,
    pub(crate) options: super::InstallOptions,
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
        mut options: super::InstallOptions,
        view: impl FnOnce(&History, &Log) -> Arc<dyn InstallView>,
    ) -> Result<Self, Report> {
        let dir = std::path::absolute(workdir.path("")).map_err(|error| at(&workdir.path(""), &error))?;
        let cluster = match options.only_looks {
            true => project::cluster_before_release(&workdir, &inputs)?,
            false => project::cluster_to_build(&workdir, &inputs)?,
        };
        let lab = machines::lab_site(&cluster, &inputs)?;
        suit_lab(lab.as_ref(), &cluster, &mut options.make);
        let scratch = match options.only_looks {
            true => Some(
                files::private_folder("hardway-")
                    .map_err(|error| Report::from_error(Code::WorkdirUnusable, &error))?,
            ),
            false => None,
        };
        let path_of =
            |name: &str| scratch.as_ref().map_or_else(|| workdir.path(name), |dir| dir.path().join(name));
        let journal = Journal::open(&path_of(FILE_NAME)).map_err(|error| journal_report(&error))?;
        let log = Log::open(&path_of(work_paths::INSTALL_LOG))?;
        let mut history = LiveHistory::of(&workdir.path(FILE_NAME));
        let followed = FollowedHosts::new(&cluster, &workdir.path(""));
        let view = view(history.now().map_err(|error| journal_report(&error))?, &log);
        Ok(Self {
            dir,
            inputs,
            cluster,
            lab,
            options,
            out: Output::into_log(log.clone()).with_progress({
                let view = view.clone();
                Arc::new(move |sentence| view.progress(sentence))
            }),
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
    pub(super) fn host_states(&self, hosts: &[&Host]) -> Result<Vec<HostReport>, Report> {
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
        for action in actions {
            self.go_on()?;
            self.view.waits_for(&format!("{} ({})", action.id, action.why));
            let (view, id) = (self.view.clone(), action.id.clone());
            // A program that takes half an hour says which of its steps it is at.
            let heard = move |line: &str| {
                if line.starts_with("step ") {
                    view.waits_for(&format!("{id}: {line}"));
                }
            };
            Executor::new(&self.dir, &self.journal, &clock::now)
                .on(machines::outside().hearing(heard))
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
fn suit_lab(site: Option<&LabSite>, cluster: &Cluster, make: &mut MakeOptions) {
    let Some(site) = site else { return };
    make.release.registry.plain_http.extend(site.plain_http(cluster));
    make.render.podman_options.extend(podman::runtime_here());
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

/// How far every machine of the inventory is, by the journal. Each line of the journal is read once, however often is asked.
struct FollowedHosts {
    journal: Follower,
    states: HostReports,
}

impl FollowedHosts {
    fn new(cluster: &Cluster, dir: &Path) -> Self {
        let hosts = cluster.inventory.hosts.iter().map(|host| TrackedHost::new(cluster, host));
        let hosts: Vec<TrackedHost> = hosts.collect();
        Self { journal: Follower::new(&dir.join(FILE_NAME)), states: HostReports::new(&hosts) }
    }

    /// Of these machines by now, in their order.
    fn now(&mut self, hosts: &[&Host]) -> Result<Vec<HostReport>, Report> {
        let news = self.journal.news().map_err(|error| journal_report(&error))?;
        self.states.follow(&news);
        let state = |host: &&Host| self.states.states().iter().find(|state| state.host == host.name);
        Ok(hosts.iter().filter_map(state).cloned().collect())
    }
}
