//! What is known of a cluster at one moment: the last version of every object that is watched.

use std::collections::BTreeMap;

use kube::ResourceExt as _;

use crate::objects::{ClusterOperator, ClusterVersion, ConfigMap, Node, Request, StaticPodStatus};
use crate::watch::{Event, Kind, Observed};

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
    pub requests: BTreeMap<String, Request>,
    /// How far the four static pod operators got, by kind.
    pub control_plane: BTreeMap<Kind, StaticPodStatus>,
    /// kube-system/bootstrap.
    pub bootstrap: Option<ConfigMap>,
    /// openshift-etcd/etcd-endpoints.
    pub endpoints: Option<ConfigMap>,
}

impl ClusterState {
    /// Takes in what was learned. Losing the connection and the passing of time change no object.
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::Up(version) => self.api_version = Some(version.clone()),
            Event::Listed(kind, objects) => {
                self.clear(*kind);
                objects.iter().for_each(|object| self.put(object));
            }
            Event::Absent(kind) => self.clear(*kind),
            Event::Changed(object) => self.put(object),
            Event::Deleted(kind, name) => self.remove(*kind, name),
            Event::Lost(..) | Event::Tick => {}
        }
    }

    /// Whether kube-system/bootstrap says that bootstrapping is over.
    pub fn is_bootstrap_complete(&self) -> bool {
        self.bootstrap.as_ref().and_then(|map| map.get("status")) == Some("complete")
    }

    /// Kubelets' certificate requests that nobody has decided about.
    pub fn pending_requests(&self) -> impl Iterator<Item = &Request> {
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
            Observed::Etcd(o) => self.put_static(Kind::Etcd, &name, &o.status),
            Observed::KubeApiServer(o) => self.put_static(Kind::KubeApiServer, &name, &o.status),
            Observed::KubeControllerManager(o) => {
                self.put_static(Kind::KubeControllerManager, &name, &o.status)
            }
            Observed::KubeScheduler(o) => self.put_static(Kind::KubeScheduler, &name, &o.status),
        }
    }

    fn put_static(&mut self, kind: Kind, name: &str, status: &StaticPodStatus) {
        if name == "cluster" {
            self.control_plane.insert(kind, status.clone());
        }
    }

    fn remove(&mut self, kind: Kind, name: &str) {
        match kind {
            Kind::Operators => _ = self.operators.remove(name),
            Kind::Nodes => _ = self.nodes.remove(name),
            Kind::Requests => _ = self.requests.remove(name),
            Kind::Version if name != "version" => {}
            Kind::Etcd | Kind::KubeApiServer | Kind::KubeControllerManager | Kind::KubeScheduler
                if name != "cluster" => {}
            _ => self.clear(kind),
        }
    }

    fn clear(&mut self, kind: Kind) {
        match kind {
            Kind::Bootstrap => self.bootstrap = None,
            Kind::Endpoints => self.endpoints = None,
            Kind::Operators => self.operators.clear(),
            Kind::Version => self.version = None,
            Kind::Nodes => self.nodes.clear(),
            Kind::Requests => self.requests.clear(),
            Kind::Etcd | Kind::KubeApiServer | Kind::KubeControllerManager | Kind::KubeScheduler => {
                self.control_plane.remove(&kind);
            }
        }
    }
}
