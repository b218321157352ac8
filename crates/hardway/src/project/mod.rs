//! Making files: everything a cluster is made from is read (the two files, the release, the secrets, what is on disk),
//! planned, and written.
//!
//! ```text
//! Checked    both files and the release, without a mistake            checked.rs
//! Cluster    what they describe                                       cluster.rs
//! Project    with secrets and what is on disk: everything a plan needs
//! Forecast   what a run will make, before the nodes are rendered      forecast.rs
//! ImageCheck whether nodes will find their images                      images/
//! Judged     what the API server would say to the manifests            manifests.rs
//! make       carries it out, or tells what it would do                make.rs, dry_run.rs, render_nodes.rs, undo.rs
//! Trace      what follows from a file that somebody changed           trace.rs
//! note_forecast   what is seen of the files, for the journal          files_seen.rs
//! host_kubeconfigs, next_generation   of hosts of a cluster that runs    host_identity.rs
//! ```
//!
//! Two phases are not made by the graph. fetch-release comes before it, because which fields and assets there are depends on the
//! release. render-nodes comes in its middle: what does not depend on rendered nodes is planned and written, podman runs on it, and the
//! rest is planned with the result. Both have an asset in the graph that names what they depend on, so that the lock and the
//! reasons are the same as everywhere.

mod checked;
mod cluster;
mod drawn_keys;
mod dry_run;
mod files_seen;
mod forecast;
mod host_identity;
mod images;
mod make;
mod manifests;
mod render_nodes;
mod trace;
mod undo;

pub(crate) use checked::Checked;
pub(crate) use cluster::{
    UNDRAWN, cluster_before_release, cluster_of, cluster_to_build, rules_before_release,
};
pub(crate) use dry_run::{Kept, join, kept_in};
pub(crate) use files_seen::note_forecast;
pub(crate) use forecast::Forecast;
pub(crate) use host_identity::{host_kubeconfigs, next_generation};
pub(crate) use images::{Hole, HoleKind, ImageCheck, ImagesSought, OwnImage, declares_mirrors, own_images};
pub(crate) use make::{Goal, MakeOptions, RenderOptions, keep_fetched, make, make_checked};
pub(crate) use manifests::Judged;
pub(crate) use trace::{Deed, Trace, is_in_manifests};

use drawn_keys::draw_slow_keys;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use hardway_assets::graph::{Asset, Expiry, Graph, GraphError, Lock, LockedRelease, MakeError, Plan};
use hardway_assets::install_config::InstallConfig;
use hardway_assets::inventory::Inventory;
use hardway_assets::pki::catalogue::keys;
use hardway_assets::release_payload::{ReleasePayload, RenderedConfig, sample};
use hardway_assets::rendered_nodes::RenderedNodes;
use hardway_assets::secrets::{SecretBundle, SecretsError};
use hardway_assets::{Cluster, OnDisk, ProjectError, Tree, example};
use jiff::Timestamp;

use crate::clock;
use crate::inputs::Workdir;
use crate::release::{Chosen, unusable};
use crate::report::{Code, Report};
use crate::terminal::Output;

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

impl Project {
    /// With the secrets as they are on disk; missing ones are drawn in memory, and the caller writes them down.
    pub(crate) fn load(workdir: &Workdir, checked: Checked, out: &Output) -> Result<Self, Report> {
        Self::with(workdir, checked, |config, inventory, payload, mut on_disk, now| {
            draw_slow_keys(&config, &inventory, &mut on_disk.secrets, now, out)?;
            hardway_assets::Project::new(config, inventory, payload, on_disk, now)
        })
    }

    /// The same to look at: nothing is drawn that takes time, and nothing of it may be written.
    pub(crate) fn look(workdir: &Workdir, checked: Checked) -> Result<Self, Report> {
        Self::with(workdir, checked, hardway_assets::Project::look)
    }

    /// What is to be built.
    pub(crate) fn cluster(&self) -> &Cluster {
        self.assets.cluster()
    }

    /// The release.
    pub(crate) fn release(&self) -> &ReleasePayload {
        self.assets.release()
    }

    /// The secrets, those that were drawn among them.
    pub(crate) fn secrets(&self) -> &SecretBundle {
        self.assets.secrets()
    }

    /// The files on disk.
    pub(crate) fn tree(&self) -> &Tree {
        self.assets.tree()
    }

    /// What the files on disk came from.
    pub(crate) fn lock(&self) -> &Lock {
        self.assets.lock()
    }

    /// The assets.
    pub(crate) fn graph(&self) -> &Graph {
        self.assets.graph()
    }

    /// Certificates that are to be renewed.
    pub(crate) fn due(&self) -> &[Expiry] {
        self.assets.due()
    }

    /// The time that everything is made at.
    pub(crate) fn now(&self) -> Timestamp {
        self.assets.now()
    }

    fn with(
        workdir: &Workdir,
        checked: Checked,
        make: impl FnOnce(
            InstallConfig,
            Inventory,
            ReleasePayload,
            OnDisk,
            Timestamp,
        ) -> Result<hardway_assets::Project, ProjectError>,
    ) -> Result<Self, Report> {
        let now = clock::now();
        let secrets_on_disk = workdir.secrets()?;
        let tree = workdir.tree()?;
        let lock = workdir.lock(&tree)?;
        let on_disk = OnDisk { secrets: secrets_on_disk.clone(), tree, lock };
        let Chosen { payload, is_rendered, locked: locked_release } = checked.release;
        let assets = make(checked.config, checked.inventory, payload, on_disk, now);
        let assets = assets.map_err(impossible)?;
        Ok(Self { assets, is_rendered, locked_release, secrets_on_disk, broken: None })
    }

    /// The same as if nobody had edited, deleted or written these files.
    fn undo(&self, files: BTreeSet<String>) -> Result<Self, Report> {
        let mut rendered = self.release().rendered.clone();
        rendered.retain(|pool, _| !files.contains(&RenderedNodes::path(pool)));
        let mut assets = self.assets.undo(files).map_err(|error| unordered(&error))?;
        // What came with the release is there whatever lies on disk.
        if !self.is_rendered && rendered.len() < self.release().rendered.len() {
            assets.set_rendered(rendered).map_err(|error| unordered(&error))?;
        }
        Ok(Self {
            assets,
            is_rendered: self.is_rendered,
            locked_release: self.locked_release.clone(),
            secrets_on_disk: self.secrets_on_disk.clone(),
            broken: None,
        })
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

    /// What to say where others can read secrets, or what holds some.
    pub(crate) fn open_to_others(&self, workdir: &Workdir) -> Option<String> {
        let secrets = self.secrets_on_disk.files().map(|(name, _)| format!("secrets/{name}"));
        let outputs = self.graph().assets().flat_map(Asset::outputs);
        let made = outputs.filter(|output| output.mode & 0o077 == 0).map(|output| output.path);
        let names: Vec<String> = secrets.chain(made).collect();
        workdir.open_to_others(names.iter().map(String::as_str))
    }

    /// Keys of hosts that are no longer in the inventory.
    fn keys_of_others(&self) -> Vec<&str> {
        let wanted: BTreeSet<String> =
            keys(self.cluster()).into_iter().map(|(name, _)| format!("{name}.key")).collect();
        let is_of_host =
            |name: &&str| ["host-identity-", "ssh-host-"].iter().any(|kind| name.starts_with(kind));
        let files = self.secrets_on_disk.files().map(|(name, _)| name);
        files.filter(is_of_host).filter(|name| !wanted.contains(*name)).collect()
    }

    fn failed(&self, asset: &str, error: &MakeError) -> Report {
        let making = |report: Report| Report { what: format!("making {asset}: {}", report.what), ..report };
        match error {
            MakeError::BadFile { path, reason, offset: Some(offset) } => {
                let place = place(self.tree().get(path).unwrap_or_default(), *offset);
                making(Report::new(Code::AssetFailed, format!("{path}:{place}: {reason}")))
            }
            MakeError::Image(_) | MakeError::Release(_) => making(unusable(error)),
            MakeError::MissingFile(path) if self.lock().is_deleted(path, self.tree()) => {
                let what = format!("{path} was deleted by hand, and is needed");
                let fix = format!("bring it back: {}", self.undo_command(path));
                making(Report::new(Code::AssetFailed, what).fix(fix))
            }
            MakeError::Secret(error) => making(damaged(error)),
            _ => making(Report::from_error(Code::AssetFailed, error)),
        }
    }
}

/// Secrets that files were made from, that are still needed, and that are no longer there.
pub(crate) fn lost_secrets(workdir: &Workdir, checked: &Checked) -> Result<Vec<String>, Report> {
    let on_disk = workdir.secrets()?;
    if workdir.locked_secrets()?.iter().all(|name| on_disk.get(name).is_ok()) {
        return Ok(Vec::new());
    }
    let tree = workdir.tree()?;
    let lock = workdir.lock(&tree)?;
    let looked = hardway_assets::Project::look(
        checked.config.clone(),
        checked.inventory.clone(),
        checked.release.payload.clone(),
        OnDisk { secrets: on_disk.clone(), tree, lock },
        clock::now(),
    );
    let looked = looked.map_err(impossible)?;
    Ok(looked.lost_secrets(&on_disk).into_iter().map(str::to_owned).collect())
}

/// The graph of the cluster that the files describe.
pub(crate) fn graph_of(workdir: &Workdir, checked: Checked) -> Result<Graph, Report> {
    let mut secrets = workdir.secrets()?;
    let cluster = cluster::cluster(checked.config, checked.inventory, &mut secrets, clock::now())?;
    let tree = workdir.tree()?;
    let lock = workdir.lock(&tree)?;
    Graph::of(&cluster, &checked.release.payload, &tree, &lock).map_err(|error| unordered(&error))
}

/// The graph of a made-up cluster.
pub(crate) fn example_graph() -> Result<Graph, Report> {
    Graph::of(&example::cluster(), &sample(), &Tree::default(), &Lock::default())
        .map_err(|error| unordered(&error))
}

fn impossible(error: ProjectError) -> Report {
    match error {
        ProjectError::Secrets(error) => damaged(&error),
        ProjectError::Graph(error) => unordered(&error),
        error @ ProjectError::Files(_) => Report::from_error(Code::AssetFailed, &error),
    }
}

fn unordered(error: &GraphError) -> Report {
    Report::from_error(Code::AssetFailed, error)
}

fn damaged(error: &SecretsError) -> Report {
    Report::from_error(Code::SecretsDamaged, error)
        .fix("restore the file from a backup; a new one means a new cluster")
}

/// `line:column`, both from one.
fn place(bytes: &[u8], offset: usize) -> String {
    let before = String::from_utf8_lossy(&bytes[..offset.min(bytes.len())]).into_owned();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    format!("{line}:{column}")
}
