//! Which phase needs which. What goes in and comes out is on its page of the guide.

use hardway_assets::Phase;

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
