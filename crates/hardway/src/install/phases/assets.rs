//! fetch-release, make-pki, make-kubeconfigs, make-manifests, render-nodes, make-ignition: the files of the working folder.

use hardway_assets::Phase;
use hardway_assets::graph::{FileState, PlanStep};
use hardway_assets::guide::{self, Page};
use hardway_assets::release_payload::{ReleaseWord, SAMPLE};
use hardway_journal::PhaseState;

use crate::inputs::LOCK;
use crate::install::Install;
use crate::install::work::{Effect, Observed, Work};
use crate::journal::recorded;
use crate::project::{self, Checked, Forecast, Goal, Project, join, note_forecast};
use crate::release::Reach;
use crate::report::Report;

pub(super) struct FetchRelease<'i>(pub(super) &'i Install);

/// One of the phases that only make files.
pub(super) struct MakeAssets<'i> {
    pub(super) install: &'i Install,
    pub(super) phase: Phase,
}

pub(super) struct RenderNodes<'i>(pub(super) &'i Install);

impl Work for FetchRelease<'_> {
    fn observe(&self) -> Result<Observed, Report> {
        if let Some(done) = settled(self.0)? {
            return Ok(done);
        }
        if self.0.options.make.release.release_dir.is_some() {
            return Ok(Observed::Done("the release comes from a folder".to_owned()));
        }
        Ok(match Checked::reason_to_fetch(&self.0.workdir, &self.0.inputs)? {
            Some(why) => Observed::Todo(why.to_string()),
            None if self.image() == SAMPLE => {
                Observed::Done("the built-in sample needs no registry".to_owned())
            }
            None => Observed::Done(format!("{} is kept in release/", self.image())),
        })
    }

    fn run(&self) -> Result<String, Report> {
        self.0.view.waits_for(&format!("{} from its registry", self.image()));
        let Install { workdir, inputs, options, out, .. } = self.0;
        let checked = Checked::of(workdir, inputs, Reach::Registry(&options.make.release), out)?;
        project::keep_fetched(workdir, checked, &options.make, out)
    }

    fn plan(&self) -> Result<Vec<Effect>, Report> {
        Ok(vec![Effect::of(match self.image() {
            SAMPLE => "uses the built-in sample release; asks no registry".to_owned(),
            image if ReleaseWord::read(image).is_some() => {
                format!(
                    "asks for the digest of {image} if it is not in assets.lock, and reads that release from its registry into release/"
                )
            }
            image => format!("reads {image} from its registry into release/"),
        })])
    }
}

impl FetchRelease<'_> {
    fn image(&self) -> &str {
        &self.0.cluster.inventory.release.image
    }
}

impl Work for MakeAssets<'_> {
    fn observe(&self) -> Result<Observed, Report> {
        if let Some(done) = settled(self.install)? {
            return Ok(done);
        }
        if !self.install.workdir.path(LOCK).exists() {
            return Ok(Observed::Todo("nothing has been made yet".to_owned()));
        }
        let project = open(self.install)?;
        let forecast = Forecast::of(&project, |asset| asset.phase() <= self.phase)?;
        note(self.install, &project, &forecast);
        let steps = forecast.steps();
        let stale: Vec<&&PlanStep> =
            steps.iter().filter(|step| step.phase == self.phase && is_written(step)).collect();
        let files: usize =
            steps.iter().filter(|step| step.phase == self.phase).map(|step| step.files.len()).sum();
        Ok(match stale.first() {
            None => Observed::Done(format!("{files} files are up to date")),
            Some(step) => Observed::Todo(format!("{}: {}", step.asset, join(&step.reasons))),
        })
    }

    fn run(&self) -> Result<String, Report> {
        let install = self.install;
        let wanted = Goal::UpTo(self.phase);
        project::make(&install.workdir, &install.inputs, &install.options.make, &install.out, wanted)
    }

    fn plan(&self) -> Result<Vec<Effect>, Report> {
        let gives = guide::page(self.phase.name()).map(Page::gives).unwrap_or_default();
        Ok(vec![Effect::of(format!(
            "writes {gives} (`hardway create ignition-configs --dry-run` names each file)"
        ))])
    }
}

impl Work for RenderNodes<'_> {
    fn observe(&self) -> Result<Observed, Report> {
        if let Some(done) = settled(self.0)? {
            return Ok(done);
        }
        let project = open(self.0)?;
        let forecast = Forecast::of(&project, |_| true)?;
        note(self.0, &project, &forecast);
        Ok(match forecast.render.is_empty() {
            true => Observed::Done("node configs are rendered".to_owned()),
            false => Observed::Todo(join(&forecast.render)),
        })
    }

    fn run(&self) -> Result<String, Report> {
        self.0.view.waits_for(
            "podman, which renders the node configs with the release's own machine-config-operator",
        );
        let Install { workdir, inputs, options, out, .. } = self.0;
        project::make(workdir, inputs, &options.make, out, Goal::UpTo(Phase::RenderNodes))
    }

    fn plan(&self) -> Result<Vec<Effect>, Report> {
        Ok(vec![Effect::of(
            "runs the release's machine-config-operator twice in podman, without a network, on manifests/",
        )])
    }
}

/// Machines that have booted from these files would not learn of others. What differs by now is shown by `hardway status`.
fn settled(install: &Install) -> Result<Option<Observed>, Report> {
    let history = install.history()?;
    let state = history.phases.state(recorded(Phase::InstallOs));
    let is_installed = matches!(state, PhaseState::Finished { .. });
    Ok(is_installed.then(|| Observed::Done("machines were installed from these files".to_owned())))
}

/// Files may have been made before this install began: what is seen of them is known from here on.
fn note(install: &Install, project: &Project, forecast: &Forecast) {
    if !install.options.only_looks {
        note_forecast(&install.workdir, project, forecast, &install.out);
    }
}

fn open(install: &Install) -> Result<Project, Report> {
    let checked = Checked::of(
        &install.workdir,
        &install.inputs,
        Reach::local(install.options.make.release.release_dir.as_deref()),
        &install.out,
    )?;
    Project::look(&install.workdir, checked)
}

fn is_written(step: &PlanStep) -> bool {
    step.files.iter().any(|(_, state)| *state == FileState::Written)
}
