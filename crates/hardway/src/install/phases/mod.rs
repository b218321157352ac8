//! The work of each phase, and which phase needs which.

mod assets;
mod await_bootstrap;
mod await_etcd;
mod await_operators;
mod boot;
mod build_infra;
mod check_host;
mod join;
mod remove_bootstrap;
mod verify_cluster;

use hardway_assets::Phase;
use hardway_assets::inventory::Role;

use super::Install;
use super::work::{Observed, Work};
use crate::report::{Code, Report};

pub(super) use boot::{boot_one, has_joined};

/// The work of a phase.
pub(crate) fn work_of(install: &Install, phase: Phase) -> Box<dyn Work + '_> {
    match phase {
        Phase::CheckHost => Box::new(check_host::CheckHost(install)),
        Phase::BuildInfra => Box::new(build_infra::BuildInfra(install)),
        Phase::FetchRelease => Box::new(assets::FetchRelease(install)),
        Phase::MakePki | Phase::MakeKubeconfigs | Phase::MakeManifests | Phase::MakeIgnition => {
            Box::new(assets::MakeAssets { install, phase })
        }
        Phase::RenderNodes => Box::new(assets::RenderNodes(install)),
        Phase::InstallOs => Box::new(boot::Boot { install, roles: &[Role::Bootstrap, Role::Master] }),
        Phase::AwaitBootstrap => Box::new(await_bootstrap::AwaitBootstrap(install)),
        Phase::JoinControlPlane => Box::new(join::Join { install, role: Role::Master }),
        Phase::AwaitEtcd => Box::new(await_etcd::AwaitEtcd(install)),
        Phase::RemoveBootstrap => Box::new(remove_bootstrap::RemoveBootstrap(install)),
        Phase::BootWorkers => Box::new(boot::Boot { install, roles: &[Role::Worker] }),
        Phase::JoinWorkers => Box::new(join::Join { install, role: Role::Worker }),
        Phase::AwaitOperators => Box::new(await_operators::AwaitOperators(install)),
        Phase::VerifyCluster => Box::new(verify_cluster::VerifyCluster(install)),
    }
}

/// An error when something that a phase needs does not hold.
pub(crate) fn check_needs(install: &Install, phase: Phase) -> Result<(), Report> {
    for need in needs(phase) {
        if let Observed::Todo(missing) = work_of(install, *need).observe()? {
            return Err(Report::new(Code::PhaseTooEarly, format!("{phase} needs {need} first: {missing}"))
                .fix(format!(
                    "hardway phase run {need}, or hardway create cluster, which runs all in order"
                )));
        }
    }
    Ok(())
}

/// Phases whose end must hold before this one can begin.
pub(crate) fn needs(phase: Phase) -> &'static [Phase] {
    use Phase::*;
    match phase {
        CheckHost => &[],
        BuildInfra => &[CheckHost],
        // In a lab the registry is part of the infrastructure.
        FetchRelease => &[BuildInfra],
        MakePki => &[FetchRelease],
        MakeKubeconfigs => &[MakePki],
        MakeManifests => &[MakePki],
        RenderNodes => &[MakeManifests],
        MakeIgnition => &[MakeKubeconfigs, RenderNodes],
        InstallOs => &[BuildInfra, MakeIgnition],
        AwaitBootstrap => &[InstallOs],
        JoinControlPlane => &[AwaitBootstrap],
        AwaitEtcd => &[JoinControlPlane],
        RemoveBootstrap => &[AwaitEtcd],
        BootWorkers => &[RemoveBootstrap],
        JoinWorkers => &[BootWorkers],
        AwaitOperators => &[JoinWorkers],
        VerifyCluster => &[AwaitOperators],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_needs_only_earlier_ones() {
        for phase in Phase::ALL {
            assert!(needs(phase).iter().all(|need| *need < phase), "{phase}");
        }
    }
}
