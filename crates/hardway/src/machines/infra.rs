//! What machines need around them, and the machines themselves, off: made to hold, and taken back.

use std::path::{Path, PathBuf};

use hardway_assets::Cluster;
use hardway_assets::host_services::InstallStage;
use hardway_journal::{FILE_NAME, Journal};
use hardway_machines::actions::{Action, ActionListener, Executor};
use hardway_machines::load_balancer::{self, Change};
use hardway_machines::providers::{LoadBalancer, Provider, descriptor};

use super::{answered, failed_action, outside, provider_kind, provider_of, stage};
use crate::clock;
use crate::inputs::{FolderLock, InputFiles, Workdir, io};
use crate::journal::{history, journal_report};
use crate::project;
use crate::report::Report;

/// What the input files ask for.
pub(crate) struct Infra {
    pub(crate) cluster: Cluster,
    files: InputFiles,
    /// The working folder, absolute.
    dir: PathBuf,
    stage: InstallStage,
}

/// What holds now, by what was planned.
pub(crate) struct Held {
    /// Everything that was asked for.
    pub(crate) actions: Vec<Action>,
    /// What a person has to change at a load balancer of their own.
    pub(crate) changes: Vec<Change>,
}

/// One thing, as it is.
pub(crate) struct ActionStatus {
    pub(crate) id: String,
    pub(crate) state: ActionState,
    /// Whether it was done from here.
    pub(crate) is_ours: bool,
    pub(crate) why: String,
}

/// Whether a thing is as it is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ActionState {
    /// Was done, and is not wanted.
    Extra,
    Holds,
    Missing,
}

impl ActionState {
    /// The same word everywhere.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Extra => "extra",
            Self::Holds => "holds",
            Self::Missing => "missing",
        }
    }
}

impl Infra {
    /// To look at.
    pub(crate) fn open(workdir: &Workdir) -> Result<Self, Report> {
        let files = InputFiles::open(workdir)?;
        Self::of(workdir, project::cluster_before_release(workdir, &files)?, files)
    }

    /// For a script that somebody will run: what it makes is named after the cluster's identity, so that is kept from now on.
    pub(crate) fn to_build(workdir: &Workdir) -> Result<Self, Report> {
        let _held = FolderLock::take(workdir)?;
        // Mistakes in the provider's settings leave no trace.
        let looked = Self::open(workdir)?;
        looked.provider()?;
        Self::of(workdir, project::cluster_to_build(workdir, &looked.files)?, looked.files)
    }

    /// Makes everything hold, and tells the listener of each thing.
    pub(crate) fn up(workdir: &Workdir, listener: &mut dyn ActionListener) -> Result<Held, Report> {
        let _held = FolderLock::take(workdir)?;
        // Mistakes in the provider's settings leave no trace, nor does a provider that does not answer.
        let inputs = InputFiles::open(workdir)?;
        let looked = Self::of(workdir, project::cluster_before_release(workdir, &inputs)?, inputs.clone())?;
        answered(&*looked.provider()?, looked.cluster.inventory.machines.provider)?;
        let infra = Self::of(workdir, project::cluster_to_build(workdir, &inputs)?, inputs)?;
        let provider = infra.provider()?;
        let actions = provider.infrastructure();
        let journal = Journal::open(&workdir.path(FILE_NAME)).map_err(|error| journal_report(&error))?;
        let kind = infra.cluster.inventory.machines.provider;
        let done = executor(&infra.dir, &journal).up(&actions, listener);
        done.map_err(|error| failed_action(Some(kind), &error))?;
        let changes = infra.changes(&*provider);
        Ok(Held { actions, changes })
    }

    /// Takes back whatever the journal says was done, and gives what the provider leaves as it is.
    pub(crate) fn down(
        workdir: &Workdir,
        listener: &mut dyn ActionListener,
    ) -> Result<Option<&'static str>, Report> {
        let _held = FolderLock::take(workdir)?;
        let journal = Journal::open(&workdir.path(FILE_NAME)).map_err(|error| journal_report(&error))?;
        let kind = provider_kind(workdir);
        let done = executor(&absolute(workdir)?, &journal).down(listener);
        done.map_err(|error| failed_action(kind, &error))?;
        Ok(kind.and_then(|kind| descriptor(kind).leaves))
    }

    /// What is asked for, as it is; and what was done beyond it.
    pub(crate) fn status(&self, workdir: &Workdir) -> Result<Vec<ActionStatus>, Report> {
        let ledger = history(workdir)?.actions;
        let provider = self.provider()?;
        let host = outside();
        answered(&*provider, self.cluster.inventory.machines.provider)?;
        let actions = provider.infrastructure();
        let planned = |id: &str| actions.iter().any(|action| action.id == id);
        let extra = ledger.iter().filter(|owned| !planned(&owned.action)).map(|owned| ActionStatus {
            id: owned.action.clone(),
            state: ActionState::Extra,
            is_ours: true,
            why: "Was made earlier; the inventory no longer asks for it.".to_owned(),
        });
        let extra: Vec<ActionStatus> = extra.collect();
        let wanted = actions.iter().map(|action| ActionStatus {
            id: action.id.clone(),
            state: if host.holds(&action.holds) { ActionState::Holds } else { ActionState::Missing },
            is_ours: ledger.get(&action.id).is_some(),
            why: action.why.clone(),
        });
        Ok(wanted.chain(extra).collect())
    }

    pub(crate) fn provider(&self) -> Result<Box<dyn Provider>, Report> {
        provider_of(&self.cluster, &self.files, &self.dir, self.stage)
    }

    /// What a person has to change at a load balancer of their own.
    pub(crate) fn changes(&self, provider: &dyn Provider) -> Vec<Change> {
        match provider.load_balancer() {
            LoadBalancer::External => load_balancer::changes(&self.cluster),
            LoadBalancer::ByConfiguration | LoadBalancer::Haproxy { .. } => Vec::new(),
        }
    }

    fn of(workdir: &Workdir, cluster: Cluster, files: InputFiles) -> Result<Self, Report> {
        let stage = stage(&cluster, &history(workdir)?);
        Ok(Self { dir: absolute(workdir)?, stage, cluster, files })
    }
}

fn executor<'d>(dir: &Path, journal: &'d Journal) -> Executor<'d> {
    Executor::new(dir, journal, &clock::now).on(outside())
}

fn absolute(workdir: &Workdir) -> Result<PathBuf, Report> {
    std::path::absolute(workdir.path("")).map_err(|error| io(&error))
}
