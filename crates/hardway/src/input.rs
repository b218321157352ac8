//! Reading everything a cluster is made from: the two files, the release, the secrets, what is on disk.

use std::path::Path;

use hardway_assets::graph::{Graph, Inputs, Lock};
use hardway_assets::install_config::{InstallConfig, Rules};
use hardway_assets::inventory::Inventory;
use hardway_assets::pki::Expiry;
use hardway_assets::release_payload::{ReleasePayload, sample};
use hardway_assets::secrets::SecretBundle;
use hardway_assets::{Cluster, Tree, assets, pki, yaml};
use jiff::Timestamp;

use crate::clock;
use crate::output::Output;
use crate::report::{EXIT_CONFIG, Report, snippet};
use crate::workdir::Workdir;

/// Both files, checked, and the release.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) config: InstallConfig,
    pub(crate) inventory: Inventory,
    pub(crate) release: ReleasePayload,
}

/// Everything a plan needs, owned.
pub(crate) struct Project {
    pub(crate) cluster: Cluster,
    pub(crate) release: ReleasePayload,
    pub(crate) secrets: SecretBundle,
    pub(crate) tree: Tree,
    pub(crate) lock: Lock,
    pub(crate) graph: Graph,
    /// Certificates that this run renews.
    pub(crate) due: Vec<Expiry>,
}

const CONFIG: &str = "install-config.yaml";
const INVENTORY: &str = "inventory.yaml";

impl Checked {
    /// Reads and checks; shows every mistake of both files at once.
    pub(crate) fn load(workdir: &Workdir, release_dir: Option<&Path>, out: &Output) -> Result<Self, Report> {
        let (config, inventory) = texts(workdir)?;
        let release = release(&inventory, release_dir, out)?;
        let rules = Rules::for_version(&release.version).on_fips_host(host_is_fips());
        match hardway_assets::inventory::read_both(&config, &inventory, rules) {
            Ok((config_read, inventory_read)) => {
                for (file, text, warnings) in [
                    (CONFIG, &config, &config_read.warnings),
                    (INVENTORY, &inventory, &inventory_read.warnings),
                ] {
                    warnings.iter().for_each(|warning| out.warn(&snippet(file, text, warning)));
                }
                let wrong =
                    hardway_assets::install_config::architecture(&config_read.value, &release.architecture);
                if !wrong.is_empty() {
                    return Err(invalid(&config, &inventory, &wrong, &[]));
                }
                Ok(Self { config: config_read.value, inventory: inventory_read.value, release })
            }
            Err(errors) => Err(invalid(&config, &inventory, &errors.install_config, &errors.inventory)),
        }
    }
}

impl Project {
    /// With the secrets as they are on disk; missing ones are drawn in memory.
    pub(crate) fn load(workdir: &Workdir, checked: Checked) -> Result<(Self, SecretBundle), Report> {
        let now = clock::now();
        let on_disk = workdir.secrets()?;
        let mut secrets = on_disk.clone();
        let tree = workdir.tree()?;
        let mut cluster = cluster(checked.config, checked.inventory, &mut secrets, now)?;
        let lock = workdir.lock(&tree)?;
        let due = due(&cluster, &tree, &lock, now);
        if !due.is_empty() {
            let renewed = due.iter().map(|expiry| (expiry.certificate.clone(), whole_second(now)));
            cluster.identity.renewed.extend(renewed);
            secrets.set_identity(&cluster.identity);
        }
        let release = checked.release;
        let graph = Graph::new(assets(&cluster, &release))
            .map_err(|error| Report::from_error("asset-failed", &error))?;
        Ok((Self { cluster, release, secrets, tree, lock, graph, due }, on_disk))
    }

    /// What assets may read.
    pub(crate) fn inputs(&self) -> Inputs<'_> {
        Inputs { cluster: &self.cluster, release: &self.release, secrets: &self.secrets, tree: &self.tree }
    }
}

fn cluster(
    config: InstallConfig,
    inventory: Inventory,
    secrets: &mut SecretBundle,
    now: Timestamp,
) -> Result<Cluster, Report> {
    let damaged = |error: &dyn std::error::Error| {
        Report::from_error("secrets-damaged", error)
            .fix("restore the file from a copy; a new one means a new cluster")
    };
    secrets.draw_identity(&config.metadata.name, now);
    let identity = secrets.identity().map_err(|error| damaged(&error))?;
    let cluster = Cluster { config, inventory, identity };
    secrets.complete(&pki::catalogue::keys(&cluster)).map_err(|error| damaged(&error))?;
    Ok(cluster)
}

/// Certificates near their end that we made: what the user put there is the user's.
fn due(cluster: &Cluster, tree: &Tree, lock: &Lock, now: Timestamp) -> Vec<Expiry> {
    let ours = |expiry: &Expiry| lock.is_ours(&pki::path(&expiry.certificate), tree);
    pki::expiries(cluster, tree, now).into_iter().filter(|expiry| expiry.is_due && ours(expiry)).collect()
}

fn whole_second(now: Timestamp) -> Timestamp {
    Timestamp::from_second(now.as_second()).unwrap_or(now)
}

fn texts(workdir: &Workdir) -> Result<(String, String), Report> {
    let missing = |name: &str| {
        Report::new("config-missing", format!("{} is not there", workdir.path(name).display()))
            .exit(EXIT_CONFIG)
            .fix("`hardway init` writes a sample of both files; openshift-install may have eaten yours: restore it")
    };
    let config = workdir.text(CONFIG)?.ok_or_else(|| missing(CONFIG))?;
    let inventory = workdir.text(INVENTORY)?.ok_or_else(|| missing(INVENTORY))?;
    Ok((config, inventory))
}

/// The release that the inventory names, or the folder that the command line names instead.
fn release(inventory: &str, folder: Option<&Path>, out: &Output) -> Result<ReleasePayload, Report> {
    if let Some(folder) = folder {
        return hardway_release::read_folder(folder).map_err(|error| {
            Report::from_error("release-unusable", &error)
                .fix("give a folder as `oc adm release extract` writes it")
        });
    }
    let image = yaml::read(inventory).ok().and_then(|node| match &node.get("release")?.get("image")?.value {
        yaml::Value::String(image) => Some(image.clone()),
        _ => None,
    });
    match image.as_deref() {
        Some("sample") => {
            out.warn(hardway_release::SAMPLE_NOTICE);
            Ok(sample())
        }
        // Its absence or shape is the inventory's mistake, and is reported with the others.
        None => Ok(sample()),
        Some(image) => Err(Report::new("release-unusable", format!("{image} cannot be fetched by this version of hardway"))
            .fix("give the extracted release with --release-dir, or set release.image to `sample` in inventory.yaml")),
    }
}

fn invalid(
    config: &str,
    inventory: &str,
    in_config: &[hardway_assets::violation::Violation],
    in_inventory: &[hardway_assets::violation::Violation],
) -> Report {
    let count = in_config.len() + in_inventory.len();
    let (code, files) = match (in_config.is_empty(), in_inventory.is_empty()) {
        (false, true) => ("config-invalid", CONFIG.to_owned()),
        (true, _) => ("inventory-invalid", INVENTORY.to_owned()),
        (false, false) => ("config-invalid", format!("{CONFIG} and {INVENTORY}")),
    };
    let plural = if count == 1 { "mistake" } else { "mistakes" };
    Report::new(code, format!("{count} {plural} in {files}"))
        .exit(EXIT_CONFIG)
        .violations(CONFIG, config, in_config)
        .violations(INVENTORY, inventory, in_inventory)
}

/// Whether this host runs in FIPS mode.
fn host_is_fips() -> bool {
    fs_err::read_to_string("/proc/sys/crypto/fips_enabled").is_ok_and(|text| text.trim() == "1")
}
