//! What a machine is installed from, for every provider that installs from an ISO.

use std::path::{Path, PathBuf};

use hardway_assets::Cluster;
use hardway_assets::ignition::{HostPointer, first_boot_config};
use hardway_assets::inventory::Host;

use crate::actions::{Program, Step};

/// The config that it carries, in the working folder: the pointer, where there is one.
pub(super) fn config(cluster: &Cluster, host: &Host) -> String {
    match has_pointer(cluster) {
        true => HostPointer::path(host),
        false => first_boot_config(cluster, host),
    }
}

/// Whether machines fetch their configs, and are seen when they do.
pub(super) fn has_pointer(cluster: &Cluster) -> bool {
    cluster.inventory.ignition_server.url.is_some() && !cluster.is_bootstrap_in_place()
}

/// Where the ISO lies.
pub(super) fn iso(folder: &Path, host: &Host) -> PathBuf {
    folder.join(format!("media/{}.iso", host.name))
}

/// What makes a host's install medium: `media` is the call of `hardway media iso` that does. The release's live ISO is
/// downloaded first where it is not there; that takes a while and a gigabyte, and is kept for the other hosts.
pub(super) fn make(hardway: &Program, folder: &Path, media: &Program) -> Vec<Step> {
    let path = |name: &str| folder.join(name).display().to_string();
    let download = hardway.clone().with(["release", "media", "--format", "iso"]).with([
        "--release-dir",
        &path("release"),
        "--to",
        &path("media"),
    ]);
    let look = media.clone().with(["--dry-run"]);
    let script = format!("said=$({look} 2>&1) || case $said in *'error[media-missing]'*) {download} ;; esac");
    vec![Step::Run(Program::new("sh", ["-ec", &script])), Step::Run(media.clone())]
}
