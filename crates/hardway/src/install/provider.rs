//! From the inventory to who makes the machines.

use std::path::Path;

use hardway_assets::Cluster;
use hardway_assets::host_services::Stage;
use hardway_assets::inventory::Role;
use hardway_machines::actions::{Host, Program};
use hardway_machines::providers::lab::{Lab, Place, REGISTRY_PORT};
use hardway_machines::providers::{Provider, for_cluster};

use super::{History, Install};
use crate::cli::MakeArgs;
use crate::mistakes::wrong_inventory;
use crate::report::{EXIT_INFRASTRUCTURE, Report};

/// The provider of an install, as far as that is.
pub(super) fn of(install: &Install) -> Result<Box<dyn Provider>, Report> {
    let stage = stage(&install.cluster, &install.history()?);
    provider_of(&install.cluster, install.place.as_ref(), &install.dir, stage)
}

/// The same without an install. `dir` is absolute.
pub(crate) fn provider_of(
    cluster: &Cluster,
    place: Option<&Place>,
    dir: &Path,
    stage: Stage,
) -> Result<Box<dyn Provider>, Report> {
    let Some(place) = place else {
        return for_cluster(cluster, dir, stage).map_err(|violations| wrong_inventory(dir, violations));
    };
    Ok(Box::new(Lab {
        cluster: cluster.clone(),
        place: place.clone(),
        program: std::env::current_exe().map_err(|error| Report::from_error("workdir-unusable", &error))?,
        folder: dir.to_owned(),
        stage,
        watches: watches(),
    }))
}

/// Whether the bootstrap host is still wanted.
pub(crate) fn stage(cluster: &Cluster, history: &History) -> Stage {
    let mut bootstrap = cluster.inventory.with_role(Role::Bootstrap);
    match bootstrap.any(|host| !history.is_retired(&host.name)) {
        true => Stage::Bootstrapping,
        false => Stage::Installed,
    }
}

/// What making assets needs to be told: in a lab the registry speaks plain HTTP, and podman may need options.
pub(super) fn make_args(
    place: Option<&Place>,
    cluster: &Cluster,
    mut args: MakeArgs,
) -> Result<MakeArgs, Report> {
    let Some(place) = place else { return Ok(args) };
    for gateway in &cluster.inventory.network.gateway {
        args.release.registry.plain_http.push(format!("{gateway}:{REGISTRY_PORT}"));
    }
    let script = format!(". {}; podman_limits", place.files.join("common.sh").display());
    let limits = Host::default()
        .run(&Program::new("bash", ["-c", script.as_str()]))
        .map_err(|error| Report::from_error("action-failed", &error).exit(EXIT_INFRASTRUCTURE))?;
    args.render.podman_option.extend(limits.lines().map(str::to_owned));
    Ok(args)
}

/// Where it cannot be read there is no limit that matters.
fn watches() -> u32 {
    let text = fs_err::read_to_string("/proc/sys/fs/inotify/max_user_instances").unwrap_or_default();
    text.trim().parse().unwrap_or(u32::MAX)
}
