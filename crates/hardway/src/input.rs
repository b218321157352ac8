//! Reading everything a cluster is made from: the two files, the release, the secrets, what is on disk.

use std::path::Path;

use hardway_assets::graph::{Asset, Graph, Inputs, Lock, MakeError, Plan, Source, World, plan};
use hardway_assets::install_config::{InstallConfig, Rules, architecture};
use hardway_assets::inventory::{Inventory, Role, read_both};
use hardway_assets::pki::Expiry;
use hardway_assets::release_payload::{ReleasePayload, VersionContract, sample};
use hardway_assets::secrets::{SecretBundle, SecretsError};
use hardway_assets::violation::Violation;
use hardway_assets::yaml::{self, Node};
use hardway_assets::{Cluster, GENERATOR, Tree, assets_with_edited_pointers, pki};
use jiff::Timestamp;

use crate::clock;
use crate::input_file::InputFile;
use crate::output::Output;
use crate::report::{EXIT_CONFIG, Report};
use crate::workdir::Workdir;

/// Both files, checked, and the release.
pub(crate) struct Checked {
    pub(crate) config: InstallConfig,
    pub(crate) inventory: Inventory,
    pub(crate) release: ReleasePayload,
    config_file: InputFile,
    config_node: Node,
}

/// Everything a plan needs, owned.
pub(crate) struct Project {
    pub(crate) cluster: Cluster,
    pub(crate) release: ReleasePayload,
    pub(crate) secrets: SecretBundle,
    pub(crate) secrets_on_disk: SecretBundle,
    pub(crate) tree: Tree,
    pub(crate) lock: Lock,
    pub(crate) graph: Graph,
    /// The moment this run takes for now.
    pub(crate) now: Timestamp,
    /// Certificates that this run renews.
    pub(crate) due: Vec<Expiry>,
}

impl Checked {
    /// Reads and checks; shows every mistake of both files at once. Nothing is checked without a usable release:
    /// which fields exist depends on its version.
    pub(crate) fn load(workdir: &Workdir, release_dir: Option<&Path>, out: &Output) -> Result<Self, Report> {
        let (config, inventory) = InputFile::both(workdir)?;
        let release = release(workdir, &inventory, release_dir, out)?;
        let rules = Rules::for_version(&release.version).on_fips_host(host_is_fips(out));
        let (config_read, inventory_read) = read_both(&config.text.0, &inventory.text.0, rules)
            .map_err(|errors| invalid(&config, &errors.install_config, &inventory, &errors.inventory))?;
        config_read.warnings.iter().for_each(|warning| out.finding(&config.warning(warning)));
        inventory_read.warnings.iter().for_each(|warning| out.finding(&inventory.warning(warning)));
        let checked = Self {
            config: config_read.value,
            inventory: inventory_read.value,
            release,
            config_file: config,
            config_node: config_read.node,
        };
        checked.refuse(architecture(&checked.config, &checked.release.architecture))?;
        Ok(checked)
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
        Err(invalid(&self.config_file, &placed, &self.config_file, &[]))
    }
}

impl Project {
    /// With the secrets as they are on disk; missing ones are drawn in memory.
    pub(crate) fn load(workdir: &Workdir, checked: Checked) -> Result<Self, Report> {
        let now = clock::now()?;
        let secrets_on_disk = workdir.secrets()?;
        let mut secrets = secrets_on_disk.clone();
        let release = checked.release;
        let mut cluster = cluster(checked.config, checked.inventory, &mut secrets, now)?;
        let tree = workdir.tree()?;
        let lock = workdir.lock(&tree)?;
        secrets.complete(&pki::catalogue::keys(&cluster)).map_err(|error| damaged(&error))?;
        let due = due(&cluster, &tree, &lock, now);
        if !due.is_empty() {
            let renewed = due.iter().map(|expiry| (expiry.certificate.clone(), whole_second(now)));
            cluster.identity.renewed.extend(renewed);
            secrets.set_identity(&cluster.identity);
        }
        let graph = graph(&cluster, &release, &edited_pointers(&tree, &lock))?;
        Ok(Self { cluster, release, secrets, secrets_on_disk, tree, lock, graph, now, due })
    }

    /// What would be made of the assets that are wanted, and why.
    pub(crate) fn plan(&self, wanted: impl Fn(&dyn Asset) -> bool) -> Result<Plan, Report> {
        let (cluster, release, secrets, tree) = (&self.cluster, &self.release, &self.secrets, &self.tree);
        let inputs = Inputs { cluster, release, secrets, tree };
        let world = World { inputs, lock: &self.lock, generator: GENERATOR, expiring: &self.due };
        plan(&self.graph, &world, wanted).map_err(|(asset, error)| self.failed(&asset, &error))
    }

    /// Secrets that files were made from and that are no longer there: they are drawn anew.
    pub(crate) fn lost_secrets(&self) -> Vec<&str> {
        let mut lost: Vec<&str> = self
            .lock
            .sources
            .values()
            .flat_map(|sources| sources.keys())
            .filter_map(|source| match source {
                Source::Secret(name) => Some(name.as_str()),
                Source::Identity | Source::Issued(_) => Some("identity.json"),
                _ => None,
            })
            .filter(|name| self.secrets_on_disk.get(name).is_err())
            .collect();
        lost.sort_unstable();
        lost.dedup();
        lost
    }

    fn failed(&self, asset: &str, error: &MakeError) -> Report {
        let making = |report: Report| Report { what: format!("making {asset}: {}", report.what), ..report };
        match error {
            MakeError::BadFile { path, reason, offset: Some(offset) } => {
                let place = place(self.tree.get(path).unwrap_or_default(), *offset);
                making(Report::new("asset-failed", format!("{path}:{place}: {reason}")))
            }
            MakeError::Image(_) | MakeError::Release(_) => making(unusable(error)),
            MakeError::Secret(error) => making(damaged(error)),
            _ => making(Report::from_error("asset-failed", error)),
        }
    }
}

/// The graph of the cluster that the files describe.
pub(crate) fn graph_of(workdir: &Workdir, checked: Checked) -> Result<Graph, Report> {
    let mut secrets = workdir.secrets()?;
    let cluster = cluster(checked.config, checked.inventory, &mut secrets, clock::now()?)?;
    let tree = workdir.tree()?;
    let edited = edited_pointers(&tree, &workdir.lock(&tree)?);
    graph(&cluster, &checked.release, &edited)
}

/// The cluster that the files describe; what was never drawn is made up for the moment.
pub(crate) fn cluster_of(workdir: &Workdir, checked: Checked) -> Result<Cluster, Report> {
    cluster(checked.config, checked.inventory, &mut workdir.secrets()?, clock::now()?)
}

/// The assets of a cluster, in order.
pub(crate) fn graph(cluster: &Cluster, release: &ReleasePayload, edited: &[Role]) -> Result<Graph, Report> {
    Graph::new(assets_with_edited_pointers(cluster, release, edited))
        .map_err(|error| Report::from_error("asset-failed", &error))
}

/// Pools whose pointer config somebody added something to.
fn edited_pointers(tree: &Tree, lock: &Lock) -> Vec<Role> {
    let is_edited = |role: &Role| {
        let path = format!("{role}.ign");
        tree.get(&path).is_some_and(|bytes| !lock.is_ours(&path, tree) && adds_something(bytes))
    };
    [Role::Master, Role::Worker].into_iter().filter(is_edited).collect()
}

/// A pointer has nothing but its `ignition` part. What is not JSON is for the asset to refuse.
fn adds_something(pointer: &[u8]) -> bool {
    match serde_json::from_slice(pointer) {
        Ok(serde_json::Value::Object(parts)) => parts.keys().any(|part| part != "ignition"),
        _ => true,
    }
}

fn cluster(
    config: InstallConfig,
    inventory: Inventory,
    secrets: &mut SecretBundle,
    now: Timestamp,
) -> Result<Cluster, Report> {
    secrets.draw_identity(&config.metadata.name, now);
    let identity = secrets.identity().map_err(|error| damaged(&error))?;
    Ok(Cluster { config, inventory, identity })
}

fn damaged(error: &SecretsError) -> Report {
    Report::from_error("secrets-damaged", error)
        .fix("restore the file from a copy; a new one means a new cluster")
}

/// Certificates near their end that we made: what the user put there is the user's.
fn due(cluster: &Cluster, tree: &Tree, lock: &Lock, now: Timestamp) -> Vec<Expiry> {
    let ours = |expiry: &Expiry| !expiry.is_on_disk || lock.is_ours(&pki::path(&expiry.certificate), tree);
    pki::expiries(cluster, tree, now).into_iter().filter(|expiry| expiry.is_due && ours(expiry)).collect()
}

fn whole_second(now: Timestamp) -> Timestamp {
    Timestamp::from_second(now.as_second()).unwrap_or(now)
}

/// `line:column`, both from one.
fn place(bytes: &[u8], offset: usize) -> String {
    let before = String::from_utf8_lossy(&bytes[..offset.min(bytes.len())]).into_owned();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    format!("{line}:{column}")
}

/// The folder that the command line names, or the release that the inventory names: the sample, or the one that an
/// earlier run kept in `release/`.
fn release(
    workdir: &Workdir,
    inventory: &InputFile,
    folder: Option<&Path>,
    out: &Output,
) -> Result<ReleasePayload, Report> {
    let image =
        yaml::read(&inventory.text.0).ok().and_then(|node| match &node.get("release")?.get("image")?.value {
            yaml::Value::String(image) => Some(image.clone()),
            _ => None,
        });
    let payload = match (folder, image.as_deref()) {
        (Some(folder), image) => {
            let payload = read_release(folder)?;
            if let Some(image) = image.filter(|image| *image != "sample" && !is_named(image, &payload)) {
                let (dir, version) = (folder.display(), &payload.version);
                out.warn(&format!(
                    "{dir} holds release {version}, but the inventory names {image}: the folder counts"
                ));
            }
            payload
        }
        // Its absence or shape is the inventory's mistake, and is reported with the others.
        (None, None) => return Ok(sample()),
        (None, Some("sample")) => sample(),
        (None, Some(image)) => {
            let kept = match workdir.path("release").exists() {
                true => Some(read_release(&workdir.path("release"))?).filter(|kept| is_named(image, kept)),
                false => None,
            };
            kept.ok_or_else(|| {
                Report::new("release-unusable", format!("{image} cannot be fetched by this version of hardway"))
                    .fix("give the extracted release with --release-dir, or set release.image to `sample` in inventory.yaml")
            })?
        }
    };
    VersionContract::new(&payload.version)
        .and_then(|version| version.supports())
        .map_err(|error| unusable(&error))?;
    if let Some(notice) = hardway_release::sample_notice(&payload) {
        out.warn(notice);
    }
    Ok(payload)
}

/// Whether a pull spec names this release: by its digest, or by a tag that begins with its version, as release tags do.
fn is_named(image: &str, release: &ReleasePayload) -> bool {
    match image.split_once('@') {
        Some((_, digest)) => release.image.ends_with(digest),
        None => image.rsplit_once(':').is_some_and(|(_, tag)| tag.starts_with(&release.version)),
    }
}

fn read_release(folder: &Path) -> Result<ReleasePayload, Report> {
    hardway_release::read_folder(folder)
        .map_err(|error| unusable(&error).fix("give a folder as `oc adm release extract` writes it"))
}

fn unusable(error: &dyn std::error::Error) -> Report {
    Report::from_error("release-unusable", error)
}

fn invalid(
    config: &InputFile,
    in_config: &[Violation],
    inventory: &InputFile,
    in_inventory: &[Violation],
) -> Report {
    let count = in_config.len() + in_inventory.len();
    let mistakes = if count == 1 { "1 mistake".to_owned() } else { format!("{count} mistakes") };
    let report = if in_config.is_empty() {
        Report::new("inventory-invalid", format!("{mistakes} in {}", inventory.path))
    } else if in_inventory.is_empty() {
        Report::new("config-invalid", format!("{mistakes} in {}", config.path))
    } else {
        Report::new("config-invalid", format!("{mistakes} in {} and {}", config.path, inventory.path))
    };
    report
        .exit(EXIT_CONFIG)
        .evidence(in_config.iter().map(|violation| config.error(violation)))
        .evidence(in_inventory.iter().map(|violation| inventory.error(violation)))
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
