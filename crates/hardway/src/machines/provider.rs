//! From the inventory to who makes the machines.

use std::path::Path;

use hardway_assets::Cluster;
use hardway_assets::host_services::InstallStage;
use hardway_assets::inventory::{self, Role};
use hardway_journal::History;
use hardway_machines::actions::ExecutorError;
use hardway_machines::providers::{Inputs, Provider, ProviderError, advice, descriptor};

use super::hosted_site::HostedSite;
use super::inside::outside;
use crate::inputs::{InputFiles, Workdir};
use crate::project;
use crate::report::{Code, Report};

/// Who makes the machines of a cluster, which these files describe. `dir` is absolute.
pub(crate) fn provider_of(
    cluster: &Cluster,
    files: &InputFiles,
    dir: &Path,
    stage: InstallStage,
) -> Result<Box<dyn Provider>, Report> {
    let program =
        std::env::current_exe().map_err(|error| Report::from_error(Code::WorkdirUnusable, &error))?;
    planner(cluster, dir, &program, stage).map_err(|error| unusable(files, error))
}

/// The same where nobody wants to know why there is none.
pub(crate) fn provider_if_any(
    cluster: &Cluster,
    dir: &Path,
    stage: InstallStage,
) -> Option<Box<dyn Provider>> {
    planner(cluster, dir, &std::env::current_exe().ok()?, stage).ok()
}

fn planner(
    cluster: &Cluster,
    folder: &Path,
    program: &Path,
    stage: InstallStage,
) -> Result<Box<dyn Provider>, ProviderError> {
    let inputs = Inputs { cluster, folder, program, stage };
    descriptor(cluster.inventory.machines.provider).planner(&inputs)
}

/// The provider cannot work with this inventory, or on this host.
pub(super) fn unusable(files: &InputFiles, error: ProviderError) -> Report {
    let what = error.to_string();
    match error {
        ProviderError::Settings(violations) => files.in_inventory(violations),
        ProviderError::LabFilesMissing { fix } => Report::new(Code::LabFilesMissing, what).fix(fix),
    }
}

/// An error while whoever makes the machines does not answer: what nobody can be asked about is neither there nor missing,
/// and what is done all the same would be taken back as ours, though it was there before.
pub(crate) fn answered(provider: &dyn Provider, kind: inventory::Provider) -> Result<(), Report> {
    let Some(Err(error)) = provider.answers().map(|program| outside().run(&program)) else {
        return Ok(());
    };
    let report = Report::from_error(Code::ActionFailed, &error);
    let fix = advice(Some(kind), &report.what).unwrap_or("fix what the program reports").to_owned();
    let what = format!("cannot find out what exists and what is missing: {}", report.what);
    Err(Report { what, ..report }.fix(fix))
}

/// Every mistake in the input files that can be seen before the release is known, the provider's settings included.
pub(crate) fn check(workdir: &Workdir, files: &InputFiles) -> Result<(), Report> {
    let cluster = project::cluster_before_release(workdir, files)?;
    provider_of(&cluster, files, &workdir.path(""), InstallStage::Bootstrapping).map(drop)
}

/// Who made the machines, as far as the inventory can be read: what was done is taken back without it.
pub(crate) fn provider_kind(workdir: &Workdir) -> Option<inventory::Provider> {
    if let Ok(Some(site)) = HostedSite::open(workdir) {
        return Some(site.cluster.inventory.machines.provider);
    }
    let files = InputFiles::open(workdir).ok()?;
    let cluster = project::cluster_before_release(workdir, &files).ok()?;
    Some(cluster.inventory.machines.provider)
}

/// Whether the bootstrap host is still wanted.
pub(crate) fn stage(cluster: &Cluster, history: &History) -> InstallStage {
    let mut bootstrap = cluster.inventory.with_role(Role::Bootstrap);
    match bootstrap.any(|host| !history.hosts.is_retired(&host.name)) {
        true => InstallStage::Bootstrapping,
        false => InstallStage::Installed,
    }
}

/// What there is to say of a plan in which names begin with an infra id that nobody has drawn yet.
pub(crate) fn undrawn_id(cluster: &Cluster) -> Option<String> {
    let id = &cluster.identity.infra_id;
    let is_named = descriptor(cluster.inventory.machines.provider).names_begin_with_infra_id;
    let by = match cluster.inventory.is_hosted() {
        true => "`hardway hosted up` or `hardway hosted controller`",
        false => "`hardway create cluster` or `hardway infra up`",
    };
    (is_named && id.ends_with(project::UNDRAWN)).then(|| {
        format!("names begin with {id} here: its last five letters are chosen, permanently, by {by}")
    })
}

/// Something could not be done to this host. Where the step was a command of this very program, its advice is the best.
pub(crate) fn failed_action(provider: Option<inventory::Provider>, error: &ExecutorError) -> Report {
    let report = Report::from_error(Code::ActionFailed, error);
    let own = report.what.lines().find_map(|line| line.trim().strip_prefix("fix: "));
    let fix =
        own.or_else(|| advice(provider, &report.what)).unwrap_or("fix what the program reports").to_owned();
    report.fix(format!("{fix}; then run the same command again: it continues with this step"))
}
