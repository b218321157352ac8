//! The cluster that a folder's files describe, with and without its release.

use hardway_assets::Cluster;
use hardway_assets::install_config::{InstallConfig, Rules};
use hardway_assets::inventory::Inventory;
use hardway_assets::release_payload::sample;
use hardway_assets::secrets::SecretBundle;
use hardway_assets::work_paths;
use jiff::Timestamp;

use super::{Checked, damaged};
use crate::clock;
use crate::inputs::{InputFile, InputFiles, Purpose, Workdir, architecture_in, release_image, version_in};
use crate::report::Report;

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
    let kept = workdir.path(work_paths::RELEASE_IMAGE).exists().then(|| workdir.path(work_paths::RELEASE));
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

/// With an identity; what of it was never drawn is drawn now.
pub(super) fn cluster(
    config: InstallConfig,
    inventory: Inventory,
    secrets: &mut SecretBundle,
    now: Timestamp,
) -> Result<Cluster, Report> {
    Cluster::of(config, inventory, secrets, now).map_err(|error| damaged(&error))
}
