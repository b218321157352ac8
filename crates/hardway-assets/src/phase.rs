//! The phases of an install. The name is the same string in the command line, the journal, the page and the docs.

use std::fmt;

macro_rules! phases {
    ($($(#[$doc:meta])+ $phase:ident = $name:literal,)+) => {
        /// One step of the install, in the order of the data's way.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Phase {
            $($(#[$doc])+ $phase,)+
        }

        impl Phase {
            /// Every phase, in order.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$phase),+];

            /// The name a person types and reads.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$phase => $name,)+
                }
            }
        }
    };
}

phases! {
    /// This host and the inventory → named checks.
    CheckHost = "check-host",
    /// Inventory → network, DNS, load balancer, machines defined but off.
    BuildInfra = "build-infra",
    /// Pull spec → digest, image references, CRDs, feature gates.
    FetchRelease = "fetch-release",
    /// Cluster and secrets → certificates and bundles.
    MakePki = "make-pki",
    /// Certificates → kubeconfigs.
    MakeKubeconfigs = "make-kubeconfigs",
    /// Cluster, release and certificates → static pods, cluster manifests, seeds for the operators.
    MakeManifests = "make-manifests",
    /// Manifests and release → rendered MachineConfigs.
    RenderNodes = "render-nodes",
    /// All of it → ignition configs.
    MakeIgnition = "make-ignition",
    /// Ignition and media → machines with an OS on disk.
    InstallOs = "install-os",
    /// Bootstrap host → API up, manifests created.
    AwaitBootstrap = "await-bootstrap",
    /// Certificate requests of the masters → nodes registered.
    JoinControlPlane = "join-control-plane",
    /// etcd members and control plane revisions on the masters.
    AwaitEtcd = "await-etcd",
    /// Bootstrap member removed → out of the load balancer → machine off.
    RemoveBootstrap = "remove-bootstrap",
    /// Worker ignition → workers booted.
    BootWorkers = "boot-workers",
    /// Certificate requests of the workers → nodes ready.
    JoinWorkers = "join-workers",
    /// ClusterVersion and every ClusterOperator settled.
    AwaitOperators = "await-operators",
    /// Checks of the finished cluster against the inventory.
    VerifyCluster = "verify-cluster",
}

impl Phase {
    /// Whether it is done on the computer itself where the machines have a network of their own: it looks at what they are
    /// made with, or makes it.
    pub fn is_before_machines(self) -> bool {
        match self {
            Self::CheckHost | Self::BuildInfra => true,
            Self::FetchRelease
            | Self::MakePki
            | Self::MakeKubeconfigs
            | Self::MakeManifests
            | Self::RenderNodes
            | Self::MakeIgnition
            | Self::InstallOs
            | Self::AwaitBootstrap
            | Self::JoinControlPlane
            | Self::AwaitEtcd
            | Self::RemoveBootstrap
            | Self::BootWorkers
            | Self::JoinWorkers
            | Self::AwaitOperators
            | Self::VerifyCluster => false,
        }
    }

    /// Whether there is a cluster by then that can be asked what is wrong with it.
    pub fn has_cluster(self) -> bool {
        match self {
            Self::CheckHost
            | Self::BuildInfra
            | Self::FetchRelease
            | Self::MakePki
            | Self::MakeKubeconfigs
            | Self::MakeManifests
            | Self::RenderNodes
            | Self::MakeIgnition
            | Self::InstallOs => false,
            Self::AwaitBootstrap
            | Self::JoinControlPlane
            | Self::AwaitEtcd
            | Self::RemoveBootstrap
            | Self::BootWorkers
            | Self::JoinWorkers
            | Self::AwaitOperators
            | Self::VerifyCluster => true,
        }
    }

    /// Its place in [`Phase::ALL`], from one: the number of its page in the guide.
    pub fn number(self) -> usize {
        self as usize + 1
    }
}

impl serde::Serialize for Phase {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
