//! Making files: everything a cluster is made from is read (the two files, the release, the secrets, what is on disk),
//! planned, and written.
//!
//! ```text
//! Checked    both files and the release, without a mistake
//! Project    with secrets and what is on disk: everything a plan needs
//! Forecast   what a run will make, before the nodes are rendered      forecast.rs
//! make       carries it out, or tells what it would do                make.rs, dry_run.rs, render_nodes.rs
//! host_kubeconfigs, next_generation   of hosts of a cluster that runs    host_identity.rs
//! ```

mod dry_run;
mod forecast;
mod host_identity;
mod make;
mod render_nodes;

pub(crate) use dry_run::{join, kept_in};
pub(crate) use forecast::Forecast;
pub(crate) use host_identity::{host_kubeconfigs, next_generation};
pub(crate) use make::{MakeOptions, RenderOptions, Wanted, keep_fetched, make, make_checked};

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::{Mutex, PoisonError};

use hardway_assets::graph::{Asset, Graph, GraphError, Lock, LockedRelease, MakeError, Plan, Stale};
use hardway_assets::install_config::{InstallConfig, Rules, architecture};
use hardway_assets::inventory::{Errors, Inventory};
use hardway_assets::release_payload::{ReleasePayload, RenderedConfig, SAMPLE, sample};
use hardway_assets::secrets::{SecretBundle, SecretsError};
use hardway_assets::violation::Violation;
use hardway_assets::yaml::Node;
use hardway_assets::{Cluster, OnDisk, ProjectError, Tree, example};
use jiff::Timestamp;

use crate::clock;
use crate::inputs::{
    InputFile, InputFiles, Purpose, Workdir, architecture_in, check_before, invalid, release_image,
    unready_note, version_in,
};
use crate::release::{self, Chosen, Reach, unusable};
use crate::report::{Code, Report};
use crate::terminal::Output;

/// Both files, checked, and the release.
pub(crate) struct Checked {
    pub(crate) config: InstallConfig,
    pub(crate) inventory: Inventory,
    pub(crate) release: Chosen,
    /// What machines need to boot that the inventory does not say yet, in a line.
    pub(crate) unready: Option<String>,
    config_file: InputFile,
    config_node: Node,
}

/// Everything a plan needs, with what only the program knows about it.
pub(crate) struct Project {
    assets: hardway_assets::Project,
    /// Whether the release's node configs came with it, so that nothing is rendered here.
    pub(crate) is_rendered: bool,
    /// What the lock will say about the release.
    locked_release: Option<LockedRelease>,
    pub(crate) secrets_on_disk: SecretBundle,
    /// What could not be made, by asset; none where the first of them ends everything.
    broken: Option<Mutex<BTreeMap<String, Report>>>,
}

impl Checked {
    /// Reads and checks; shows every mistake of both files at once. Which fields exist depends on the version of the
    /// release: what its name tells of that is enough to stop at mistakes before a registry is asked.
    pub(crate) fn load(workdir: &Workdir, reach: Reach<'_>, out: &Output) -> Result<Self, Report> {
        Self::of(workdir, &InputFiles::open(workdir)?, reach, out)
    }

    /// The same, of files that were read before.
    pub(crate) fn of(
        workdir: &Workdir,
        files: &InputFiles,
        reach: Reach<'_>,
        out: &Output,
    ) -> Result<Self, Report> {
        let InputFiles { config, inventory, .. } = files;
        let image = release_image(inventory);
        let is_fips = host_is_fips(out);
        check_before(files, image.as_deref(), is_fips)?;
        let release = Chosen::find(workdir, config, image.as_deref(), reach, out)?;
        let rules = Rules::for_version(&release.payload.version)
            .of_architecture(&release.payload.architecture)
            .on_fips_host(is_fips);
        let read = files.check(rules, Purpose::Files)?;
        read.config.warnings.iter().for_each(|warning| out.finding(&config.warning(warning)));
        read.inventory.warnings.iter().for_each(|warning| out.finding(&inventory.warning(warning)));
        let checked = Self {
            config: read.config.value.clone(),
            inventory: read.inventory.value.clone(),
            release,
            unready: unready_note(inventory, &read.unready),
            config_file: config.clone(),
            config_node: read.config.node.clone(),
        };
        checked.refuse(architecture(&checked.config, &checked.release.payload.architecture))?;
        Ok(checked)
    }

    /// Why the release has to be fetched before anything can be said, if so.
    pub(crate) fn reason_to_fetch(workdir: &Workdir, files: &InputFiles) -> Result<Option<Stale>, Report> {
        let image = release_image(&files.inventory).filter(|image| image != SAMPLE);
        let Some(image) = image else { return Ok(None) };
        check_before(files, Some(&image), true)?;
        release::reason_to_fetch(workdir, &image)
    }

    /// An error when there are violations of install-config.yaml.
    pub(crate) fn refuse(&self, violations: Vec<Violation>) -> Result<(), Report> {
        if violations.is_empty() {
            return Ok(());
        }
        let placed: Vec<Violation> = violations
            .into_iter()
            .map(|violation| Violation { span: Some(self.config_node.locate(&violation.path)), ..violation })
            .collect();
        let errors = Errors { install_config: placed, ..Errors::default() };
        Err(invalid(&self.config_file, &self.config_file, &errors))
    }
}

type MakeProject = fn(
    InstallConfig,
    Inventory,
    ReleasePayload,
    OnDisk,
    Timestamp,
) -> Result<hardway_assets::Project, ProjectError>;

impl Deref for Project {
    type Target = hardway_assets::Project;

    fn deref(&self) -> &Self::Target {
        &self.assets
    }
}

impl Project {
    /// With the secrets as they are on disk; missing ones are drawn in memory, and the caller writes them down.
    pub(crate) fn load(workdir: &Workdir, checked: Checked) -> Result<Self, Report> {
        Self::with(workdir, checked, hardway_assets::Project::new)
    }

    /// The same to look at: nothing is drawn that takes time, and nothing of it may be written.
    pub(crate) fn look(workdir: &Workdir, checked: Checked) -> Result<Self, Report> {
        Self::with(workdir, checked, hardway_assets::Project::look)
    }

    fn with(workdir: &Workdir, checked: Checked, make: MakeProject) -> Result<Self, Report> {
        let now = clock::now();
        let secrets_on_disk = workdir.secrets()?;
        let tree = workdir.tree()?;
        let lock = workdir.lock(&tree)?;
        let on_disk = OnDisk { secrets: secrets_on_disk.clone(), tree, lock };
        let Chosen { payload, is_rendered, locked: locked_release } = checked.release;
        let assets = make(checked.config, checked.inventory, payload, on_disk, now);
        let assets = assets.map_err(|error| match error {
            ProjectError::Secrets(error) => damaged(&error),
            ProjectError::Graph(error) => unordered(&error),
            error @ ProjectError::Files(_) => Report::from_error(Code::AssetFailed, &error),
        })?;
        Ok(Self { assets, is_rendered, locked_release, secrets_on_disk, broken: None })
    }

    /// Plans around what cannot be made.
    pub(crate) fn around_the_broken(self) -> Self {
        Self { broken: Some(Mutex::default()), ..self }
    }

    /// What could not be made so far, by asset.
    pub(crate) fn broken(&self) -> BTreeMap<String, Report> {
        let broken = self.broken.as_ref().map(|broken| broken.lock().unwrap_or_else(PoisonError::into_inner));
        broken.map(|mut broken| std::mem::take(&mut *broken)).unwrap_or_default()
    }

    /// What would be made of the assets that are wanted, and why.
    pub(crate) fn plan(&self, wanted: impl Fn(&dyn Asset) -> bool) -> Result<Plan, Report> {
        let mut plan = match &self.broken {
            None => {
                let plan = self.assets.plan_of(wanted);
                plan.map_err(|failed| self.failed(&failed.asset, &failed.error))?
            }
            Some(broken) => {
                let (plan, failed) = self.assets.plan_around(wanted);
                let told = failed.into_iter().map(|failed| {
                    let report = self.failed(&failed.asset, &failed.error);
                    (failed.asset, report)
                });
                broken.lock().unwrap_or_else(PoisonError::into_inner).extend(told);
                plan
            }
        };
        plan.lock.release.clone_from(&self.locked_release);
        Ok(plan)
    }

    /// The same after a plan was carried out, with these node configs.
    pub(crate) fn after(
        mut self,
        plan: &Plan,
        rendered: BTreeMap<String, RenderedConfig>,
    ) -> Result<Self, Report> {
        self.secrets_on_disk = self.secrets().clone();
        self.assets = self.assets.after(plan).map_err(|error| unordered(&error))?;
        self.take_rendered(rendered)?;
        Ok(self)
    }

    /// The same with these node configs.
    pub(crate) fn take_rendered(&mut self, rendered: BTreeMap<String, RenderedConfig>) -> Result<(), Report> {
        self.assets.set_rendered(rendered).map_err(|error| unordered(&error))
    }

    /// Secrets that files were made from and that are no longer there: they are drawn anew.
    pub(crate) fn lost_secrets(&self) -> Vec<&str> {
        self.assets.lost_secrets(&self.secrets_on_disk)
    }

    fn failed(&self, asset: &str, error: &MakeError) -> Report {
        let making = |report: Report| Report { what: format!("making {asset}: {}", report.what), ..report };
        match error {
            MakeError::BadFile { path, reason, offset: Some(offset) } => {
                let place = place(self.tree().get(path).unwrap_or_default(), *offset);
                making(Report::new(Code::AssetFailed, format!("{path}:{place}: {reason}")))
            }
            MakeError::Image(_) | MakeError::Release(_) => making(unusable(error)),
            MakeError::Secret(error) => making(damaged(error)),
            _ => making(Report::from_error(Code::AssetFailed, error)),
        }
    }
}

/// The graph of the cluster that the files describe.
pub(crate) fn graph_of(workdir: &Workdir, checked: Checked) -> Result<Graph, Report> {
    let mut secrets = workdir.secrets()?;
    let cluster = cluster(checked.config, checked.inventory, &mut secrets, clock::now())?;
    let tree = workdir.tree()?;
    let lock = workdir.lock(&tree)?;
    Graph::of(&cluster, &checked.release.payload, &tree, &lock).map_err(|error| unordered(&error))
}

/// The graph of a made-up cluster.
pub(crate) fn example_graph() -> Result<Graph, Report> {
    Graph::of(&example::cluster(), &sample(), &Tree::default(), &Lock::default())
        .map_err(|error| unordered(&error))
}

/// The cluster that the files describe; what was never drawn is made up for the moment.
pub(crate) fn cluster_of(workdir: &Workdir, checked: Checked) -> Result<Cluster, Report> {
    cluster(checked.config, checked.inventory, &mut workdir.secrets()?, clock::now())
}

/// The cluster that the files describe, before its release is known. Which fields exist is then judged by the version in
/// the release's name, by the release that is kept, or by the newest that is known. An infra id that nobody has drawn yet is
/// the same at every look.
pub(crate) fn cluster_before_release(workdir: &Workdir, files: &InputFiles) -> Result<Cluster, Report> {
    let mut secrets = workdir.secrets()?;
    let is_drawn = secrets.identity().is_ok();
    let mut cluster = before_release(workdir, files, &mut secrets)?;
    if !is_drawn {
        let id = &mut cluster.identity.infra_id;
        id.truncate(id.len() - UNDRAWN.len());
        id.push_str(UNDRAWN);
    }
    Ok(cluster)
}

/// Stands for the five letters that are drawn. It has vowels, which are never drawn.
pub(crate) const UNDRAWN: &str = "later";

/// The same for somebody who builds: what is built may be named after the cluster's identity, so that is kept from now on,
/// before any other secret is drawn.
pub(crate) fn cluster_to_build(workdir: &Workdir, files: &InputFiles) -> Result<Cluster, Report> {
    let on_disk = workdir.secrets()?;
    let mut secrets = on_disk.clone();
    let cluster = before_release(workdir, files, &mut secrets)?;
    workdir.write_secrets(&on_disk, &secrets)?;
    Ok(cluster)
}

fn before_release(
    workdir: &Workdir,
    files: &InputFiles,
    secrets: &mut SecretBundle,
) -> Result<Cluster, Report> {
    let read = files.check(rules_before_release(workdir, &files.inventory), Purpose::Machines)?;
    cluster(read.config.value.clone(), read.inventory.value.clone(), secrets, clock::now())
}

/// By the release that is kept, by the version in the name of the one that is wanted, or by the newest that is known.
pub(crate) fn rules_before_release(workdir: &Workdir, inventory: &InputFile) -> Rules {
    let kept = workdir.path("release/release-image").exists().then(|| workdir.path("release"));
    let kept = kept
        .and_then(|folder| hardway_release::read_folder(&folder).ok())
        .map(|release| (release.version, release.architecture));
    let tag = release_image(inventory).and_then(|image| {
        let (_, tag) = image.rsplit_once(':')?;
        Some((version_in(tag)?.to_owned(), architecture_in(tag).to_owned()))
    });
    let (version, architecture) = kept.or(tag).unwrap_or_else(|| (sample().version, String::new()));
    Rules::for_version(&version).of_architecture(&architecture).on_fips_host(true)
}

fn cluster(
    config: InstallConfig,
    inventory: Inventory,
    secrets: &mut SecretBundle,
    now: Timestamp,
) -> Result<Cluster, Report> {
    Cluster::of(config, inventory, secrets, now).map_err(|error| damaged(&error))
}

fn unordered(error: &GraphError) -> Report {
    Report::from_error(Code::AssetFailed, error)
}

fn damaged(error: &SecretsError) -> Report {
    Report::from_error(Code::SecretsDamaged, error)
        .fix("restore the file from a copy; a new one means a new cluster")
}

/// `line:column`, both from one.
fn place(bytes: &[u8], offset: usize) -> String {
    let before = String::from_utf8_lossy(&bytes[..offset.min(bytes.len())]).into_owned();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    format!("{line}:{column}")
}

/// Whether this host runs in FIPS mode, or its user takes that on themselves, with openshift-install's variable.
fn host_is_fips(out: &Output) -> bool {
    const SKIP: &str = "OPENSHIFT_INSTALL_SKIP_HOSTCRYPT_VALIDATION";
    if std::env::var_os(SKIP).is_some() {
        out.warn(&format!(
            "{SKIP} is set: whether this host may make keys for a FIPS cluster is not checked"
        ));
        return true;
    }
    fs_err::read_to_string("/proc/sys/crypto/fips_enabled").is_ok_and(|text| text.trim() == "1")
}
