//! The phases of an install. The name is the same string in the command line, the journal, the page and the docs.

use std::fmt;

/// One step of the install. The order of the variants is the order in which phases run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// This host and the inventory → named checks.
    CheckHost,
    /// Inventory → network, DNS, load balancer, machines defined but off.
    BuildInfra,
    /// Pull spec → digest, image references, CRDs, feature gates.
    FetchRelease,
    /// Cluster and secrets → certificates and bundles.
    MakePki,
    /// Certificates → kubeconfigs.
    MakeKubeconfigs,
    /// Cluster, release and certificates → static pods, cluster manifests, seeds for the operators.
    MakeManifests,
    /// Manifests and release → rendered MachineConfigs.
    RenderNodes,
    /// All of it → ignition configs.
    MakeIgnition,
    /// Ignition and media → machines with an OS on disk.
    InstallOs,
    /// Bootstrap host → API up, manifests created.
    AwaitBootstrap,
    /// Certificate requests of the masters → nodes registered.
    JoinControlPlane,
    /// etcd members and control plane revisions on the masters.
    AwaitEtcd,
    /// Bootstrap member removed → out of the load balancer → machine off.
    RemoveBootstrap,
    /// Worker ignition → workers booted.
    BootWorkers,
    /// Certificate requests of the workers → nodes ready.
    JoinWorkers,
    /// ClusterVersion and every ClusterOperator settled.
    AwaitOperators,
    /// Checks of the finished cluster against the inventory.
    VerifyCluster,
}

impl Phase {
    /// Every phase, in order.
    pub const ALL: [Self; 17] = [
        Self::CheckHost,
        Self::BuildInfra,
        Self::FetchRelease,
        Self::MakePki,
        Self::MakeKubeconfigs,
        Self::MakeManifests,
        Self::RenderNodes,
        Self::MakeIgnition,
        Self::InstallOs,
        Self::AwaitBootstrap,
        Self::JoinControlPlane,
        Self::AwaitEtcd,
        Self::RemoveBootstrap,
        Self::BootWorkers,
        Self::JoinWorkers,
        Self::AwaitOperators,
        Self::VerifyCluster,
    ];

    /// Its place in [`Phase::ALL`], from one: the number of its page in the guide.
    pub fn number(self) -> usize {
        self as usize + 1
    }

    /// The name a person types and reads.
    pub fn name(self) -> &'static str {
        match self {
            Self::CheckHost => "check-host",
            Self::BuildInfra => "build-infra",
            Self::FetchRelease => "fetch-release",
            Self::MakePki => "make-pki",
            Self::MakeKubeconfigs => "make-kubeconfigs",
            Self::MakeManifests => "make-manifests",
            Self::RenderNodes => "render-nodes",
            Self::MakeIgnition => "make-ignition",
            Self::InstallOs => "install-os",
            Self::AwaitBootstrap => "await-bootstrap",
            Self::JoinControlPlane => "join-control-plane",
            Self::AwaitEtcd => "await-etcd",
            Self::RemoveBootstrap => "remove-bootstrap",
            Self::BootWorkers => "boot-workers",
            Self::JoinWorkers => "join-workers",
            Self::AwaitOperators => "await-operators",
            Self::VerifyCluster => "verify-cluster",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
