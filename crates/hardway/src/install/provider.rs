//! From the inventory to who makes the machines.

use hardway_assets::Cluster;
use hardway_assets::host_services::Stage;
use hardway_assets::inventory;
use hardway_machines::actions::{Host, Program};
use hardway_machines::providers::Provider;
use hardway_machines::providers::bare_metal::{BareMetal, BareMetalSettings};
use hardway_machines::providers::gce::{Gce, GceSettings};
use hardway_machines::providers::lab::{Lab, Place, REGISTRY_PORT};

use super::Install;
use crate::cli::MakeArgs;
use crate::mistakes::in_inventory;
use crate::report::{EXIT_INFRASTRUCTURE, Report};

/// The provider of a cluster.
pub(super) fn of(install: &Install, stage: Stage) -> Result<Box<dyn Provider + '_>, Report> {
    let (cluster, folder) = (&install.cluster, install.dir.clone());
    let wrong = |violations| in_inventory(&install.workdir, violations);
    let program = || std::env::current_exe().map_err(|error| Report::from_error("install-failed", &error));
    match (&install.place, cluster.inventory.machines.provider) {
        (Some(place), _) => Ok(Box::new(Lab {
            cluster,
            place: place.clone(),
            program: program()?,
            folder,
            stage,
            watches: watches(),
        })),
        (None, inventory::Provider::BareMetal) => {
            let settings = BareMetalSettings::read(cluster).map_err(wrong)?;
            Ok(Box::new(BareMetal { cluster, settings, program: program()?, folder, stage }))
        }
        (None, inventory::Provider::Gce) => {
            let settings = GceSettings::read(cluster).map_err(wrong)?;
            Ok(Box::new(Gce { cluster, settings, gcloud: "gcloud".to_owned(), folder, stage }))
        }
        (None, _) => Err(Report::new(
            "provider-missing",
            format!(
                "machines of provider {:?} are not made by this hardway",
                install.cluster.inventory.machines.provider
            ),
        )
        .exit(EXIT_INFRASTRUCTURE)),
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
