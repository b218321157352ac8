//! The way in: two files, a release and what lies in the working directory become a plan.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::graph::{
    Asset, Expiry, Graph, GraphError, Inputs, Lock, Plan, PlanError, World, plan, plan_around,
};
use crate::install_config::{InstallConfig, Rules, architecture};
use crate::inventory::{self, Inventory, read_both};
use crate::pki;
use crate::release_payload::{ReleasePayload, RenderedConfig};
use crate::secrets::{SecretBundle, SecretsError};
use crate::{Cluster, GENERATOR, Tree};

/// A cluster to be made, with everything that its files are made from.
///
/// ```
/// use hardway_assets::{OnDisk, Project, example, release_payload};
///
/// let project = Project::read(
///     example::INSTALL_CONFIG,
///     example::INVENTORY,
///     release_payload::sample(),
///     OnDisk::default(),
///     "2026-11-15T00:00:00Z".parse()?,
/// )?;
/// let plan = project.plan()?;
/// let bootstrap = plan.writes.iter().find(|file| file.path == "bootstrap.ign").unwrap();
/// assert_eq!(bootstrap.mode, 0o600);
///
/// // Once it is written, nothing is left to do.
/// let written = project.after(&plan)?;
/// assert!(written.plan()?.writes.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Project {
    cluster: Cluster,
    release: ReleasePayload,
    secrets: SecretBundle,
    tree: Tree,
    lock: Lock,
    graph: Graph,
    due: Vec<Expiry>,
    undone: Vec<String>,
    now: Timestamp,
}

/// What is in a working directory; nothing, for a new cluster.
#[derive(Clone, Debug, Default)]
pub struct OnDisk {
    /// `secrets/`. What is missing is drawn.
    pub secrets: SecretBundle,
    /// Everything else. What somebody edited is kept, and read by what comes after.
    pub tree: Tree,
    /// `assets.lock`.
    pub lock: Lock,
}

/// The inputs do not make a cluster.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// Something is wrong with the two files; every mistake of both is in there.
    #[error("{} mistakes in install-config.yaml, {} in inventory.yaml", .0.install_config.len(), .0.inventory.len())]
    Files(inventory::Errors),
    /// A secret is damaged, or could not be made.
    #[error("the secrets of the cluster cannot be used")]
    Secrets(#[from] SecretsError),
    /// The assets do not fit together: a mistake of this crate.
    #[error("the assets have no valid order")]
    Graph(#[from] GraphError),
}

impl Project {
    /// Reads both files by the rules of the release, and draws the secrets that are missing.
    ///
    /// ```
    /// use hardway_assets::{OnDisk, Project, ProjectError, example, release_payload};
    ///
    /// let wrong = example::INSTALL_CONFIG.replace("hostPrefix: 23", "hostPrefix: 9");
    /// let now = "2026-11-15T00:00:00Z".parse()?;
    /// match Project::read(&wrong, example::INVENTORY, release_payload::sample(), OnDisk::default(), now) {
    ///     Err(ProjectError::Files(errors)) => {
    ///         assert_eq!(errors.install_config[0].path, "networking.clusterNetwork[0].hostPrefix");
    ///     }
    ///     _ => panic!("a node's share cannot be larger than the whole"),
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read(
        install_config: &str,
        inventory: &str,
        release: ReleasePayload,
        on_disk: OnDisk,
        now: Timestamp,
    ) -> Result<Self, ProjectError> {
        let rules = Rules::for_version(&release.version).of_architecture(&release.architecture);
        let (config, inventory) = read_both(install_config, inventory, rules).map_err(ProjectError::Files)?;
        let install_config = architecture(&config.value, &release.architecture);
        if !install_config.is_empty() {
            return Err(ProjectError::Files(inventory::Errors { install_config, ..Default::default() }));
        }
        Self::new(config.value, inventory.value, release, on_disk, now)
    }

    /// Of files that were read already, by whatever rules.
    ///
    /// Certificates that are near their end at `now` are issued again by the next plan.
    ///
    /// ```
    /// use hardway_assets::{OnDisk, Project, example, release_payload};
    ///
    /// let mut cluster = example::cluster();
    /// cluster.config.fips = true;
    /// let project = Project::new(
    ///     cluster.config,
    ///     cluster.inventory,
    ///     release_payload::sample(),
    ///     OnDisk::default(),
    ///     "2026-11-15T00:00:00Z".parse()?,
    /// )?;
    /// assert!(project.graph().maker("openshift/99_openshift-machineconfig_99-master-fips.yaml").is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(
        config: InstallConfig,
        inventory: Inventory,
        release: ReleasePayload,
        on_disk: OnDisk,
        now: Timestamp,
    ) -> Result<Self, ProjectError> {
        Self::with_keys(config, inventory, release, on_disk, now, |secrets, cluster| {
            secrets.complete(&pki::catalogue::keys(cluster))
        })
    }

    /// The same to look at, and not to write down: a key that was never drawn is stood in for by one that takes no time to make. What
    /// is stale, and why, does not depend on it.
    ///
    /// ```
    /// use hardway_assets::inventory::KeyAlgorithm;
    /// use hardway_assets::{OnDisk, Project, example, release_payload};
    ///
    /// let mut cluster = example::cluster();
    /// cluster.inventory.pki.key_algorithm = KeyAlgorithm::Rsa2048;
    /// let sample = release_payload::sample();
    /// let now = "2026-11-15T00:00:00Z".parse()?;
    /// let project = Project::look(cluster.config, cluster.inventory, sample, OnDisk::default(), now)?;
    /// assert_eq!(project.secrets().key("root-ca")?.algorithm(), KeyAlgorithm::EcdsaP256);
    /// assert!(!project.plan()?.writes.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn look(
        config: InstallConfig,
        inventory: Inventory,
        release: ReleasePayload,
        on_disk: OnDisk,
        now: Timestamp,
    ) -> Result<Self, ProjectError> {
        Self::with_keys(config, inventory, release, on_disk, now, |secrets, cluster| {
            secrets.complete_to_look(pki::catalogue::keys(cluster).into_iter().map(|(name, _)| name))
        })
    }

    fn with_keys(
        config: InstallConfig,
        inventory: Inventory,
        release: ReleasePayload,
        on_disk: OnDisk,
        now: Timestamp,
        complete: fn(&mut SecretBundle, &Cluster) -> Result<(), SecretsError>,
    ) -> Result<Self, ProjectError> {
        let OnDisk { mut secrets, tree, lock } = on_disk;
        let mut cluster = Cluster::of(config, inventory, &mut secrets, now)?;
        complete(&mut secrets, &cluster)?;
        let due = due(&cluster, &tree, &lock, now);
        if !due.is_empty() {
            let second = Timestamp::from_second(now.as_second()).unwrap_or(now);
            cluster.identity.renewed.extend(due.iter().map(|expiry| (expiry.certificate.clone(), second)));
            secrets.set_identity(&cluster.identity);
        }
        let graph = Graph::of(&cluster, &release, &tree, &lock)?;
        Ok(Self { cluster, release, secrets, tree, lock, graph, due, undone: Vec::new(), now })
    }

    /// What must be written, what is taken away, and why.
    pub fn plan(&self) -> Result<Plan, PlanError> {
        self.plan_of(|_| true)
    }

    /// The same for the assets that are wanted, and for everything they read.
    ///
    /// ```
    /// # use hardway_assets::{OnDisk, Project, example, release_payload};
    /// # let now = "2026-11-15T00:00:00Z".parse()?;
    /// # let sample = release_payload::sample();
    /// # let project = Project::read(example::INSTALL_CONFIG, example::INVENTORY, sample, OnDisk::default(), now)?;
    /// use hardway_assets::{Phase, pki::KNOWN_HOSTS};
    ///
    /// let plan = project.plan_of(|asset| asset.phase() <= Phase::MakePki)?;
    /// // Certificates and bundles, and the ssh keys that hosts will show.
    /// let is_of_pki = |path: &str| path.starts_with("pki/") || path == KNOWN_HOSTS;
    /// assert!(plan.writes.iter().all(|file| is_of_pki(&file.path)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn plan_of(&self, wanted: impl Fn(&dyn Asset) -> bool) -> Result<Plan, PlanError> {
        plan(&self.graph, &self.world(), wanted)
    }

    /// The same without what cannot be made and whatever depends on it.
    pub fn plan_around(&self, wanted: impl Fn(&dyn Asset) -> bool) -> (Plan, Vec<PlanError>) {
        plan_around(&self.graph, &self.world(), wanted)
    }

    fn world(&self) -> World<'_> {
        let (cluster, release, secrets, tree) = (&self.cluster, &self.release, &self.secrets, &self.tree);
        let inputs = Inputs { cluster, release, secrets, tree };
        World { inputs, lock: &self.lock, generator: GENERATOR, expiring: &self.due, undone: &self.undone }
    }

    /// The same once a plan was carried out.
    pub fn after(mut self, plan: &Plan) -> Result<Self, GraphError> {
        self.tree = plan.tree(&self.tree);
        self.lock = plan.lock.clone();
        self.undone.clear();
        self.graph = Graph::of(&self.cluster, &self.release, &self.tree, &self.lock)?;
        Ok(self)
    }

    /// The same as if nobody had edited, deleted or written these files: the next plan makes those that an asset makes, and
    /// knows nothing of the others.
    ///
    /// ```
    /// # use hardway_assets::{OnDisk, Project, example, release_payload};
    /// # let now = "2026-11-15T00:00:00Z".parse()?;
    /// # let (config, inventory) = (example::INSTALL_CONFIG, example::INVENTORY);
    /// let path = "manifests/cluster-dns-02-config.yml";
    /// let made = Project::read(config, inventory, release_payload::sample(), OnDisk::default(), now)?;
    /// let plan = made.plan()?;
    /// let (mut tree, lock, secrets) = (plan.tree(made.tree()), plan.lock, made.secrets().clone());
    /// tree.remove(path);
    ///
    /// let on_disk = OnDisk { secrets, tree, lock };
    /// let project = Project::read(config, inventory, release_payload::sample(), on_disk, now)?;
    /// assert!(project.plan()?.writes.iter().all(|file| file.path != path), "what somebody deleted stays deleted");
    /// let undone = project.undo([path.to_owned()].into())?;
    /// assert!(undone.plan()?.writes.iter().any(|file| file.path == path));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn undo(&self, paths: BTreeSet<String>) -> Result<Self, GraphError> {
        let (mut tree, mut lock) = (self.tree.clone(), self.lock.clone());
        for path in &paths {
            tree.remove(path);
            lock.files.remove(path);
        }
        let graph = Graph::of(&self.cluster, &self.release, &tree, &lock)?;
        let (cluster, release, secrets) = (self.cluster.clone(), self.release.clone(), self.secrets.clone());
        let (due, now) = (self.due.clone(), self.now);
        Ok(Self {
            cluster,
            release,
            secrets,
            tree,
            lock,
            graph,
            due,
            undone: paths.into_iter().collect(),
            now,
        })
    }

    /// Takes node configs that the release's machine-config-operator rendered from the manifests, by pool.
    pub fn set_rendered(&mut self, rendered: BTreeMap<String, RenderedConfig>) -> Result<(), GraphError> {
        self.release.rendered = rendered;
        self.graph = Graph::of(&self.cluster, &self.release, &self.tree, &self.lock)?;
        Ok(())
    }

    /// Files of `secrets/` that files were made from, that are still needed, and that are not in a bundle any more.
    pub fn lost_secrets(&self, on_disk: &SecretBundle) -> Vec<&str> {
        let is_lost = |name: &&str| self.secrets.get(name).is_ok() && on_disk.get(name).is_err();
        self.lock.secrets().into_iter().filter(is_lost).collect()
    }

    /// Both files, checked, and the facts that follow from them.
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// The release.
    pub fn release(&self) -> &ReleasePayload {
        &self.release
    }

    /// All secrets, those that were just drawn included: write them down before anything that is made from them.
    pub fn secrets(&self) -> &SecretBundle {
        &self.secrets
    }

    /// The files of the working directory.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// What was made before.
    pub fn lock(&self) -> &Lock {
        &self.lock
    }

    /// Who makes what from what.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Certificates that the next plan renews.
    pub fn due(&self) -> &[Expiry] {
        &self.due
    }

    /// The moment that is taken for now.
    pub fn now(&self) -> Timestamp {
        self.now
    }
}

impl Cluster {
    /// The cluster that two checked files describe; names and dates that were never drawn are drawn into the secrets.
    pub fn of(
        config: InstallConfig,
        inventory: Inventory,
        secrets: &mut SecretBundle,
        now: Timestamp,
    ) -> Result<Self, SecretsError> {
        secrets.draw_identity(&config.metadata.name, now);
        let identity = secrets.identity()?;
        Ok(Self { config, inventory, identity })
    }
}

/// Certificates near their end that we made: what the user put there is the user's.
fn due(cluster: &Cluster, tree: &Tree, lock: &Lock, now: Timestamp) -> Vec<Expiry> {
    let ours = |expiry: &Expiry| !expiry.is_on_disk || lock.is_ours(&pki::path(&expiry.certificate), tree);
    pki::expiries(cluster, tree, now).into_iter().filter(|expiry| expiry.is_due && ours(expiry)).collect()
}
