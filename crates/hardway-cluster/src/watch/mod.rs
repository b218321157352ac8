//! Learning what happens in a cluster, as events that a fold takes in, whatever it took to learn them.

mod follow;

use std::fmt;

use kube::ResourceExt as _;

use crate::objects::{
    ClusterOperator, ClusterVersion, ConfigMap, Etcd, KubeApiServer, KubeControllerManager, KubeScheduler,
    Node, SigningRequest,
};

pub use follow::{Watch, WatchPatience};

/// The kinds that are watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WatchedKind {
    /// ConfigMap kube-system/bootstrap.
    Bootstrap,
    /// ClusterOperators.
    Operators,
    /// ClusterVersion `version`.
    Version,
    /// ConfigMap openshift-etcd/etcd-endpoints.
    Endpoints,
    /// Etcd `cluster`.
    Etcd,
    /// KubeAPIServer `cluster`.
    KubeApiServer,
    /// KubeControllerManager `cluster`.
    KubeControllerManager,
    /// KubeScheduler `cluster`.
    KubeScheduler,
    /// Nodes.
    Nodes,
    /// CertificateSigningRequests.
    Requests,
}

/// An object as it was seen.
#[derive(Clone, Debug)]
pub enum Observed {
    /// ConfigMap kube-system/bootstrap.
    Bootstrap(ConfigMap),
    /// A ClusterOperator.
    Operator(ClusterOperator),
    /// ClusterVersion `version`.
    Version(ClusterVersion),
    /// ConfigMap openshift-etcd/etcd-endpoints.
    Endpoints(ConfigMap),
    /// Etcd `cluster`.
    Etcd(Etcd),
    /// KubeAPIServer `cluster`.
    KubeApiServer(KubeApiServer),
    /// KubeControllerManager `cluster`.
    KubeControllerManager(KubeControllerManager),
    /// KubeScheduler `cluster`.
    KubeScheduler(KubeScheduler),
    /// A node.
    Node(Node),
    /// A certificate request.
    Request(SigningRequest),
}

/// One thing learned.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "few at a time, and short-lived")]
pub enum ClusterEvent {
    /// The API server answered, with its version.
    Up(String),
    /// All objects of a kind, at this moment. What is not among them is gone.
    Listed(WatchedKind, Vec<Observed>),
    /// The API server does not know the kind yet: its CRD comes later.
    Absent(WatchedKind),
    /// Made or changed.
    Changed(Observed),
    /// Deleted.
    Deleted(WatchedKind, String),
    /// What was known of a kind is no longer kept up to date, and why.
    Lost(WatchedKind, String),
    /// Nothing but time has passed.
    Tick,
}

impl WatchedKind {
    /// Every kind.
    pub const ALL: [Self; 10] = [
        Self::Bootstrap,
        Self::Operators,
        Self::Version,
        Self::Endpoints,
        Self::Etcd,
        Self::KubeApiServer,
        Self::KubeControllerManager,
        Self::KubeScheduler,
        Self::Nodes,
        Self::Requests,
    ];

    /// As people type it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bootstrap => "configmap kube-system/bootstrap",
            Self::Operators => "clusteroperators",
            Self::Version => "clusterversion",
            Self::Endpoints => "configmap openshift-etcd/etcd-endpoints",
            Self::Etcd => "etcd",
            Self::KubeApiServer => "kubeapiserver",
            Self::KubeControllerManager => "kubecontrollermanager",
            Self::KubeScheduler => "kubescheduler",
            Self::Nodes => "nodes",
            Self::Requests => "certificatesigningrequests",
        }
    }
}

impl fmt::Display for WatchedKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Observed {
    /// Of which kind.
    pub fn kind(&self) -> WatchedKind {
        match self {
            Self::Bootstrap(_) => WatchedKind::Bootstrap,
            Self::Operator(_) => WatchedKind::Operators,
            Self::Version(_) => WatchedKind::Version,
            Self::Endpoints(_) => WatchedKind::Endpoints,
            Self::Etcd(_) => WatchedKind::Etcd,
            Self::KubeApiServer(_) => WatchedKind::KubeApiServer,
            Self::KubeControllerManager(_) => WatchedKind::KubeControllerManager,
            Self::KubeScheduler(_) => WatchedKind::KubeScheduler,
            Self::Node(_) => WatchedKind::Nodes,
            Self::Request(_) => WatchedKind::Requests,
        }
    }

    /// By which name.
    pub fn name(&self) -> String {
        match self {
            Self::Bootstrap(object) | Self::Endpoints(object) => object.name_any(),
            Self::Operator(object) => object.name_any(),
            Self::Version(object) => object.name_any(),
            Self::Etcd(object) => object.name_any(),
            Self::KubeApiServer(object) => object.name_any(),
            Self::KubeControllerManager(object) => object.name_any(),
            Self::KubeScheduler(object) => object.name_any(),
            Self::Node(object) => object.name_any(),
            Self::Request(object) => object.name_any(),
        }
    }
}
