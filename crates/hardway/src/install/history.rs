//! Phases by the names that the journal has for them. What became of each is the journal's fold.

use hardway_assets::Phase;
use hardway_journal::PhaseName;

/// As it stands in the journal.
pub(crate) fn recorded(phase: Phase) -> PhaseName {
    match phase {
        Phase::CheckHost => PhaseName::CheckHost,
        Phase::BuildInfra => PhaseName::BuildInfra,
        Phase::FetchRelease => PhaseName::FetchRelease,
        Phase::MakePki => PhaseName::MakePki,
        Phase::MakeKubeconfigs => PhaseName::MakeKubeconfigs,
        Phase::MakeManifests => PhaseName::MakeManifests,
        Phase::RenderNodes => PhaseName::RenderNodes,
        Phase::MakeIgnition => PhaseName::MakeIgnition,
        Phase::InstallOs => PhaseName::InstallOs,
        Phase::AwaitBootstrap => PhaseName::AwaitBootstrap,
        Phase::JoinControlPlane => PhaseName::JoinControlPlane,
        Phase::AwaitEtcd => PhaseName::AwaitEtcd,
        Phase::RemoveBootstrap => PhaseName::RemoveBootstrap,
        Phase::BootWorkers => PhaseName::BootWorkers,
        Phase::JoinWorkers => PhaseName::JoinWorkers,
        Phase::AwaitOperators => PhaseName::AwaitOperators,
        Phase::VerifyCluster => PhaseName::VerifyCluster,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_and_their_names_in_the_journal_are_the_same() {
        assert_eq!(Phase::ALL.map(recorded), PhaseName::ALL, "all of them, in order");
        for phase in Phase::ALL {
            assert_eq!(phase.name(), recorded(phase).word());
        }
    }
}
