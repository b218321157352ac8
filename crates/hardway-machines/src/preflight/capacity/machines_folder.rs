//! Where the disks of machines on this host will lie.

use std::path::{Path, PathBuf};

use hardway_assets::inventory::Provider;

use crate::preflight::check_result::Judged;
use crate::preflight::host::{is_remote, libvirt_uri, pool_folder, storage_folder};
use crate::preflight::scene::Scene;

/// The folder, or the nearest above it that is there; the verdict of a check where there is none on this host.
pub(super) fn machines_folder(scene: &Scene<'_>) -> Result<PathBuf, Judged> {
    let folder = match scene.provider() {
        Provider::Lab => storage_folder().map_err(|why| {
            Judged::not_applicable(format!("podman does not say where: {why}; see container-runtime"))
        })?,
        _ if is_remote(libvirt_uri(scene)) => {
            return Err(Judged::not_applicable("the machines are on another host"));
        }
        _ => pool_folder(scene)
            .map_err(|_| Judged::not_applicable("libvirt does not say where: see libvirt"))?,
    };
    Ok(folder.ancestors().find(|folder| folder.is_dir()).unwrap_or(Path::new("/")).to_owned())
}
