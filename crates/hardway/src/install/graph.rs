//! Which phase needs which, and what goes in and comes out.

use hardway_assets::Phase;

/// One phase.
pub(crate) struct Row {
    pub(crate) phase: Phase,
    /// Phases whose end must hold before this one can begin.
    pub(crate) needs: &'static [Phase],
    /// What it reads.
    pub(crate) takes: &'static str,
    /// What holds afterwards.
    pub(crate) gives: &'static str,
}

/// The row of a phase.
pub(crate) fn row(phase: Phase) -> &'static Row {
    // Every phase has one: a test says so.
    ROWS.iter().find(|row| row.phase == phase).unwrap_or(&ROWS[0])
}

const fn is(phase: Phase, needs: &'static [Phase], takes: &'static str, gives: &'static str) -> Row {
    Row { phase, needs, takes, gives }
}

/// In the order of the data's way.
static ROWS: [Row; Phase::ALL.len()] = [
    is(Phase::CheckHost, &[], "this host, inventory", "named checks that passed"),
    is(
        Phase::BuildInfra,
        &[Phase::CheckHost],
        "inventory",
        "network, DNS, load balancer, machines defined but off",
    ),
    // In a lab the registry is part of the infrastructure.
    is(Phase::FetchRelease, &[Phase::BuildInfra], "release.image", "release/"),
    is(Phase::MakePki, &[Phase::FetchRelease], "both input files, secrets/", "pki/"),
    is(Phase::MakeKubeconfigs, &[Phase::MakePki], "pki/", "kubeconfigs/, auth/"),
    is(
        Phase::MakeManifests,
        &[Phase::MakePki],
        "pki/, release/",
        "manifests/, openshift/, operator-seeds/, static-pods/",
    ),
    is(Phase::RenderNodes, &[Phase::MakeManifests], "manifests/, release/", "release/rendered/"),
    is(
        Phase::MakeIgnition,
        &[Phase::MakeKubeconfigs, Phase::RenderNodes],
        "everything made so far",
        "bootstrap.ign, ignition/",
    ),
    is(
        Phase::InstallOs,
        &[Phase::BuildInfra, Phase::MakeIgnition],
        "ignition/, machines",
        "bootstrap host and masters booted from their configs",
    ),
    is(
        Phase::AwaitBootstrap,
        &[Phase::InstallOs],
        "bootstrap host",
        "API up, first objects created, version operator at work",
    ),
    is(
        Phase::JoinControlPlane,
        &[Phase::AwaitBootstrap],
        "certificate requests of masters",
        "masters are nodes",
    ),
    is(
        Phase::AwaitEtcd,
        &[Phase::JoinControlPlane],
        "masters",
        "etcd and control plane on masters, bootstrapping complete",
    ),
    is(
        Phase::RemoveBootstrap,
        &[Phase::AwaitEtcd],
        "load balancer, bootstrap host",
        "bootstrap host out of the load balancer and gone",
    ),
    is(
        Phase::BootWorkers,
        &[Phase::RemoveBootstrap],
        "ignition/, machines",
        "workers booted from their configs",
    ),
    is(
        Phase::JoinWorkers,
        &[Phase::BootWorkers],
        "certificate requests of workers",
        "every declared node is Ready",
    ),
    is(
        Phase::AwaitOperators,
        &[Phase::JoinWorkers],
        "ClusterVersion, ClusterOperators",
        "all of them settled",
    ),
    is(Phase::VerifyCluster, &[Phase::AwaitOperators], "cluster, inventory", "checks that passed"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_phase_has_a_row_and_needs_only_earlier_ones() {
        for (phase, row) in Phase::ALL.into_iter().zip(&ROWS) {
            assert_eq!(row.phase, phase);
            assert!(row.needs.iter().all(|need| *need < phase), "{phase}");
        }
    }
}
