//! What a machine is installed from, for every provider that installs from an ISO.

use std::path::{Path, PathBuf};

use hardway_assets::Cluster;
use hardway_assets::ignition::{HostPointer, first_boot_config};
use hardway_assets::inventory::Host;
use hardway_assets::work_paths;

use super::descriptor;
use super::descriptor::Installs;
use crate::actions::{Action, Program, Step};

/// The config that it carries, in the working folder: the pointer, where there is one.
pub(super) fn config(cluster: &Cluster, host: &Host) -> String {
    match has_pointer(cluster) {
        true => HostPointer::path(host),
        false => first_boot_config(cluster, host),
    }
}

/// Whether machines fetch their configs from the ignition server, and are seen when they do. Those whose media carry the whole config
/// are first seen when their kubelets request a certificate, and a bootstrap host never is.
pub fn fetches_config(cluster: &Cluster) -> bool {
    match descriptor(cluster.inventory.machines.provider).installs {
        Installs::FromImage => true,
        Installs::FromMedia => has_pointer(cluster),
    }
}

/// Whether the media carry pointers instead of whole configs.
pub(super) fn has_pointer(cluster: &Cluster) -> bool {
    cluster.inventory.ignition_server.url.is_some() && !cluster.is_bootstrap_in_place()
}

/// The config that it carries, and the flags of `hardway media` that say so: the host's own, or one that is given.
pub(super) fn carried(
    cluster: &Cluster,
    folder: &Path,
    host: &Host,
    given: Option<&Path>,
) -> (PathBuf, Vec<String>) {
    match given {
        Some(given) => {
            let given = folder.join(given);
            let flags = vec!["--config".to_owned(), given.display().to_string()];
            (given, flags)
        }
        // With a pointer, the ignition server sees the machine come.
        None => {
            let flags = if has_pointer(cluster) { vec!["--pointer".to_owned()] } else { Vec::new() };
            (folder.join(config(cluster, host)), flags)
        }
    }
}

/// Whether an action makes install media by calling this program, which keeps others out of the working folder meanwhile: whoever makes
/// several machines at once makes their media one after the other.
pub fn makes_medium(action: &Action) -> bool {
    let is_call = |words: &[String]| words[0] == "media" && ["iso", "pxe"].contains(&words[1].as_str());
    action.does.iter().any(|step| match step {
        Step::Run(program) => program.arguments.windows(2).any(is_call),
        _ => false,
    })
}

/// Where the ISO lies.
pub(super) fn iso(folder: &Path, host: &Host) -> PathBuf {
    folder.join(work_paths::iso(&host.name))
}

/// What makes a host's install medium: `media` is the call of `hardway media iso` that does. The release's live ISO is
/// downloaded first where it is not there; that takes a while and a gigabyte, and is kept for the other hosts.
pub(super) fn make(hardway: &Program, folder: &Path, media: &Program, is_hosted: bool) -> Vec<Step> {
    let path = |name: &str| folder.join(name).display().to_string();
    let download = hardway.clone().with(["release", "media", "--format", "iso"]).with([
        "--release-dir",
        &path(work_paths::RELEASE),
        "--to",
        &path(work_paths::MEDIA),
    ]);
    if is_hosted {
        // There is no release here: a person brings the live ISO of the pool's.
        return vec![Step::Run(media.clone())];
    }
    let look = media.clone().with(["--dry-run"]);
    let script = format!("said=$({look} 2>&1) || case $said in *'error[media-missing]'*) {download} ;; esac");
    vec![Step::Run(Program::new("sh", ["-ec", &script])), Step::Run(media.clone())]
}
