//! From the inventory to who makes the machines.

use std::path::Path;

use hardway_assets::Cluster;
use hardway_assets::host_services::Stage;
use hardway_assets::inventory::{self, Role};
use hardway_journal::History;
use hardway_machines::actions::DoerError;
use hardway_machines::providers::bare_metal::{BareMetal, BareMetalSettings};
use hardway_machines::providers::gce::{Gce, GceSettings};
use hardway_machines::providers::lab::{Lab, Place};
use hardway_machines::providers::libvirt::Libvirt;
use hardway_machines::providers::{Provider, advice};

use super::inside::{outside, place};
use crate::inputs::{InputFiles, Workdir, in_inventory};
use crate::project;
use crate::report::{Code, Report};

/// Who makes the machines of a cluster. `dir` is absolute; `place` is that of a lab.
pub(crate) fn provider_of(
    cluster: &Cluster,
    place: Option<&Place>,
    dir: &Path,
    stage: Stage,
) -> Result<Box<dyn Provider>, Report> {
    let wrong = |violations| match Workdir::open(dir) {
        Ok(workdir) => in_inventory(&workdir, violations),
        Err(report) => report,
    };
    let program =
        std::env::current_exe().map_err(|error| Report::from_error(Code::WorkdirUnusable, &error))?;
    let folder = dir.to_owned();
    if let Some(place) = place {
        let (place, watches) = (place.clone(), watches());
        return Ok(Box::new(Lab { cluster: cluster.clone(), place, program, folder, stage, watches }));
    }
    Ok(match cluster.inventory.machines.provider {
        inventory::Provider::BareMetal => {
            let settings = BareMetalSettings::read(cluster).map_err(wrong)?;
            Box::new(BareMetal { cluster: cluster.clone(), settings, program, folder, stage })
        }
        inventory::Provider::Gce => {
            let settings = GceSettings::read(cluster).map_err(wrong)?;
            Box::new(Gce { cluster: cluster.clone(), settings, gcloud: "gcloud".to_owned(), folder, stage })
        }
        // A lab has a place.
        inventory::Provider::Lab | inventory::Provider::Libvirt => {
            Box::new(Libvirt::new(cluster, dir, stage).map_err(wrong)?.with_program(program))
        }
    })
}

/// An error while whoever makes the machines does not answer: what nobody can be asked about is neither there nor missing,
/// and what is done all the same would be taken back as ours, though it was there before.
pub(crate) fn answered(provider: &dyn Provider, kind: inventory::Provider) -> Result<(), Report> {
    let Some(Err(error)) = provider.answers().map(|program| outside().run(&program)) else {
        return Ok(());
    };
    let report = Report::from_error(Code::ActionFailed, &error);
    let fix = advice(Some(kind), &report.what).unwrap_or("mend what the program complains about").to_owned();
    let what = format!("what is there and what is missing cannot be known: {}", report.what);
    Err(Report { what, ..report }.fix(fix))
}

/// Every mistake in the input files that can be seen before the release is known, the provider's settings included.
pub(crate) fn check(workdir: &Workdir, files: &InputFiles) -> Result<(), Report> {
    let cluster = project::cluster_before_release(workdir, files)?;
    let place = place(workdir, &cluster)?;
    provider_of(&cluster, place.as_ref(), &workdir.path(""), Stage::Bootstrapping).map(drop)
}

/// Who made the machines, as far as the inventory can be read: what was done is taken back without it.
pub(crate) fn provider_kind(workdir: &Workdir) -> Option<inventory::Provider> {
    let files = InputFiles::open(workdir).ok()?;
    let cluster = project::cluster_before_release(workdir, &files).ok()?;
    Some(cluster.inventory.machines.provider)
}

/// What stays on a host after everything was taken back, because it is somebody else's to take away.
pub(crate) fn left_behind(provider: inventory::Provider) -> Option<&'static str> {
    match provider {
        inventory::Provider::Libvirt => Some(
            "libvirt's own chains in nftables (LIBVIRT_INP, …), empty now, its folders below /etc/libvirt and \
             /var/lib/libvirt, and net.ipv4.ip_forward where another bridge of the host needs it",
        ),
        inventory::Provider::BareMetal => Some("what is on the disks of the machines"),
        inventory::Provider::Gce | inventory::Provider::Lab => None,
    }
}

/// Whether the bootstrap host is still wanted.
pub(crate) fn stage(cluster: &Cluster, history: &History) -> Stage {
    let mut bootstrap = cluster.inventory.with_role(Role::Bootstrap);
    match bootstrap.any(|host| !history.hosts.is_retired(&host.name)) {
        true => Stage::Bootstrapping,
        false => Stage::Installed,
    }
}

/// Something could not be done to this host. Where the step was a command of this very program, its advice is the best.
pub(crate) fn failed_action(provider: Option<inventory::Provider>, error: &DoerError) -> Report {
    let report = Report::from_error(Code::ActionFailed, error);
    let own = report.what.lines().find_map(|line| line.trim().strip_prefix("fix: "));
    let fix = own
        .or_else(|| advice(provider, &report.what))
        .unwrap_or("mend what the program complains about")
        .to_owned();
    report.fix(format!("{fix}; then run the same command again: it goes on with this step"))
}

/// Where it cannot be read there is no limit that matters.
fn watches() -> u32 {
    let text = fs_err::read_to_string("/proc/sys/fs/inotify/max_user_instances").unwrap_or_default();
    text.trim().parse().unwrap_or(u32::MAX)
}
