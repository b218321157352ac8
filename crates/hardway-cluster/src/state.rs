//! What is known of a cluster at one moment: the last version of every object that is watched.

use std::collections::BTreeMap;

use kube::ResourceExt as _;

use crate::objects::{ClusterOperator, ClusterVersion, ConfigMap, Node, SigningRequest, StaticPodStatus};
use crate::watch::{ClusterEvent, Observed, WatchedKind};

/// The objects, as last seen.
#[derive(Clone, Debug, Default)]
pub struct ClusterState {
    /// The API server's version, once it answered.
    pub api_version: Option<String>,
    /// ClusterVersion `version`.
    pub version: Option<ClusterVersion>,
    /// By name.
    pub operators: BTreeMap<String, ClusterOperator>,
    /// By name.
    pub nodes: BTreeMap<String, Node>,
    /// By name.
    pub requests: BTreeMap<String, SigningRequest>,
    /// How far the four static pod operators got, by kind.
    pub control_plane: BTreeMap<WatchedKind, StaticPodStatus>,
    /// kube-system/bootstrap.
    pub bootstrap: Option<ConfigMap>,
    /// openshift-etcd/etcd-endpoints.
    pub endpoints: Option<ConfigMap>,
}

impl ClusterState {
    /// Takes in what was learned. Losing the connection and the passing of time change no object.
    pub fn apply(&mut self, event: &ClusterEvent) {
        match event {
            ClusterEvent::Up(version) => self.api_version = Some(version.clone()),
            ClusterEvent::Listed(kind, objects) => {
                self.clear(*kind);
                objects.iter().for_each(|object| self.put(object));
            }
            ClusterEvent::Absent(kind) => self.clear(*kind),
            ClusterEvent::Changed(object) => self.put(object),
            ClusterEvent::Deleted(kind, name) => self.remove(*kind, name),
            ClusterEvent::Lost(..) | ClusterEvent::Tick => {}
        }
    }

    /// Whether kube-system/bootstrap says that bootstrapping is over.
    pub fn is_bootstrap_complete(&self) -> bool {
        self.bootstrap.as_ref().and_then(|map| map.get("status")) == Some("complete")
    }

    /// Kubelets' certificate requests that nobody has decided about.
    pub fn pending_requests(&self) -> impl Iterator<Item = &SigningRequest> {
        self.requests.values().filter(|request| request.is_kubelets() && request.is_pending())
    }

    fn put(&mut self, object: &Observed) {
        let name = object.name();
        match object {
            Observed::Bootstrap(map) => self.bootstrap = Some(map.clone()),
            Observed::Endpoints(map) => self.endpoints = Some(map.clone()),
            Observed::Version(version) if version.name_any() == "version" => {
                self.version = Some(version.clone());
            }
            Observed::Version(_) => {}
            Observed::Operator(operator) => _ = self.operators.insert(name, operator.clone()),
            Observed::Node(node) => _ = self.nodes.insert(name, node.clone()),
            Observed::Request(request) => _ = self.requests.insert(name, request.clone()),
            Observed::Etcd(o) => self.put_static(WatchedKind::Etcd, &name, &o.status),
            Observed::KubeApiServer(o) => self.put_static(WatchedKind::KubeApiServer, &name, &o.status),
            Observed::KubeControllerManager(o) => {
                self.put_static(WatchedKind::KubeControllerManager, &name, &o.status)
            }
            Observed::KubeScheduler(o) => self.put_static(WatchedKind::KubeScheduler, &name, &o.status),
        }
    }

    fn put_static(&mut self, kind: WatchedKind, name: &str, status: &StaticPodStatus) {
        if name == "cluster" {
            self.control_plane.insert(kind, status.clone());
        }
    }

    fn remove(&mut self, kind: WatchedKind, name: &str) {
        match kind {
            WatchedKind::Operators => _ = self.operators.remove(name),
            WatchedKind::Nodes => _ = self.nodes.remove(name),
            WatchedKind::Requests => _ = self.requests.remove(name),
            WatchedKind::Version if name != "version" => {}
            WatchedKind::Etcd
            | WatchedKind::KubeApiServer
            | WatchedKind::KubeControllerManager
            | WatchedKind::KubeScheduler
                if name != "cluster" => {}
            _ => self.clear(kind),
        }
    }

    fn clear(&mut self, kind: WatchedKind) {
        match kind {
            WatchedKind::Bootstrap => self.bootstrap = None,
            WatchedKind::Endpoints => self.endpoints = None,
            WatchedKind::Operators => self.operators.clear(),
            WatchedKind::Version => self.version = None,
            WatchedKind::Nodes => self.nodes.clear(),
            WatchedKind::Requests => self.requests.clear(),
            WatchedKind::Etcd
            | WatchedKind::KubeApiServer
            | WatchedKind::KubeControllerManager
            | WatchedKind::KubeScheduler => {
                self.control_plane.remove(&kind);
            }
        }
    }
}
