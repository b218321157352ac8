//! From the inventory to who makes the machines.

use hardway_assets::Cluster;
use hardway_machines::actions::{Host, Program};
use hardway_machines::providers::lab::{Lab, Place, REGISTRY_PORT};
use hardway_machines::providers::{Provider, for_cluster};

use super::Install;
use crate::cli::MakeArgs;
use crate::input;
use crate::report::{EXIT_INFRASTRUCTURE, Report};

/// The provider of a cluster, for the hosts that are still wanted.
pub(super) fn of(install: &Install) -> Result<Box<dyn Provider>, Report> {
    let history = install.history()?;
    let mut cluster = install.cluster.clone();
    cluster.inventory.hosts.retain(|host| !history.is_retired(&host.name));
    let Some(place) = &install.place else {
        return for_cluster(&cluster, &install.dir)
            .map_err(|violations| input::invalid_inventory(&install.workdir, violations));
    };
    Ok(Box::new(Lab {
        cluster,
        place: place.clone(),
        program: std::env::current_exe().map_err(|error| Report::from_error("workdir-unusable", &error))?,
        folder: install.dir.clone(),
        watches: watches(),
    }))
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
