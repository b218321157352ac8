//! Lists of objects under the names that a log bundle gives them. A live cluster is asked for the same lists, so that both are
//! read by one hand.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::evidence::{Api, Evidence, LogSource, LogTail, SeedFacts};
use crate::objects::{
    ClusterOperator, ClusterVersion, ConfigMap, Etcd, KubeApiServer, KubeControllerManager, KubeScheduler,
    Node, SigningRequest,
};
use crate::state::ClusterState;
use crate::watch::{ClusterEvent, Observed, WatchedKind};

/// File name in `resources/` of a bundle, and the path at the API.
pub(super) const WANTED: &[(&str, &str)] = &[
    ("clusteroperators.json", "/apis/config.openshift.io/v1/clusteroperators"),
    ("clusterversion.json", "/apis/config.openshift.io/v1/clusterversions"),
    ("configmaps.json", ""),
    ("csr.json", "/apis/certificates.k8s.io/v1/certificatesigningrequests"),
    ("etcds.json", "/apis/operator.openshift.io/v1/etcds"),
    ("events.json", "/api/v1/events?limit=1000"),
    ("featuregates.json", "/apis/config.openshift.io/v1/featuregates"),
    ("infrastructures.json", "/apis/config.openshift.io/v1/infrastructures"),
    ("kubeapiserver.json", "/apis/operator.openshift.io/v1/kubeapiservers"),
    ("kubecontrollermanager.json", "/apis/operator.openshift.io/v1/kubecontrollermanagers"),
    ("kubescheduler.json", "/apis/operator.openshift.io/v1/kubeschedulers"),
    ("machineconfigpools.json", "/apis/machineconfiguration.openshift.io/v1/machineconfigpools"),
    ("nodes.json", "/api/v1/nodes"),
];

/// The ConfigMaps that are looked at; a bundle has all there are.
pub(super) const CONFIG_MAPS: [&str; 4] = [
    "/api/v1/namespaces/kube-system/configmaps/bootstrap",
    "/api/v1/namespaces/openshift-config-managed/configmaps/sa-token-signing-certs",
    "/api/v1/namespaces/openshift-etcd/configmaps/etcd-ca-bundle",
    "/api/v1/namespaces/openshift-etcd/configmaps/etcd-endpoints",
];

/// The lists, by file name.
#[derive(Clone, Debug, Default)]
pub struct Resources(pub BTreeMap<String, Value>);

impl Resources {
    /// Puts the objects into the evidence.
    pub fn tell(&self, evidence: &mut Evidence) {
        if !self.0.is_empty() {
            evidence.api = Api::Answers;
        }
        evidence.state = self.state();
        evidence.pools = self.items("machineconfigpools.json").to_vec();
        evidence.infrastructure = self.items("infrastructures.json").first().cloned();
        evidence.seeds = self.seeds();
        let lines: Vec<String> =
            self.items("events.json").iter().filter(|event| event["type"] == "Warning").map(line).collect();
        if !lines.is_empty() {
            evidence.logs.push(LogTail { source: LogSource::Cluster, name: "events".to_owned(), lines });
        }
    }

    fn seeds(&self) -> SeedFacts {
        let gates = self.0.get("featuregates.json").and_then(|list| list["items"].as_array()).cloned();
        let bundle = self.find_map("openshift-etcd", "etcd-ca-bundle");
        let pem = bundle.and_then(|map| map["data"]["ca-bundle.crt"].as_str());
        SeedFacts {
            feature_gates: gates,
            etcd_authorities: pem.map(|pem| pem.matches("-----BEGIN CERTIFICATE-----").count()),
            has_token_keys: self.find_map("openshift-config-managed", "sa-token-signing-certs").is_some(),
        }
    }

    fn state(&self) -> ClusterState {
        let mut state = ClusterState::default();
        let mut list = |kind, objects| state.apply(&ClusterEvent::Listed(kind, objects));
        list(WatchedKind::Nodes, self.read::<Node>("nodes.json", Observed::Node));
        list(WatchedKind::Requests, self.read::<SigningRequest>("csr.json", Observed::Request));
        list(
            WatchedKind::Operators,
            self.read::<ClusterOperator>("clusteroperators.json", Observed::Operator),
        );
        list(WatchedKind::Version, self.read::<ClusterVersion>("clusterversion.json", Observed::Version));
        list(WatchedKind::Etcd, self.read::<Etcd>("etcds.json", Observed::Etcd));
        list(
            WatchedKind::KubeApiServer,
            self.read::<KubeApiServer>("kubeapiserver.json", Observed::KubeApiServer),
        );
        let managers = "kubecontrollermanager.json";
        let managers = self.read::<KubeControllerManager>(managers, Observed::KubeControllerManager);
        list(WatchedKind::KubeControllerManager, managers);
        list(
            WatchedKind::KubeScheduler,
            self.read::<KubeScheduler>("kubescheduler.json", Observed::KubeScheduler),
        );
        list(WatchedKind::Bootstrap, self.config_map("kube-system", "bootstrap", Observed::Bootstrap));
        list(
            WatchedKind::Endpoints,
            self.config_map("openshift-etcd", "etcd-endpoints", Observed::Endpoints),
        );
        state
    }

    /// An object of another shape than expected is skipped: a bundle may be of any release.
    fn read<T: DeserializeOwned>(&self, name: &str, wrap: fn(T) -> Observed) -> Vec<Observed> {
        let items = self.items(name).iter();
        items.filter_map(|item| serde_json::from_value(item.clone()).ok()).map(wrap).collect()
    }

    fn config_map(&self, namespace: &str, name: &str, wrap: fn(ConfigMap) -> Observed) -> Vec<Observed> {
        let found = self.find_map(namespace, name);
        found.and_then(|item| serde_json::from_value(item.clone()).ok()).map(wrap).into_iter().collect()
    }

    fn find_map(&self, namespace: &str, name: &str) -> Option<&Value> {
        let is_it =
            |item: &&Value| item["metadata"]["name"] == name && item["metadata"]["namespace"] == namespace;
        self.items("configmaps.json").iter().find(is_it)
    }

    fn items(&self, name: &str) -> &[Value] {
        self.0.get(name).and_then(|list| list["items"].as_array()).map_or(&[], Vec::as_slice)
    }
}

fn line(event: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let object = &event["involvedObject"];
    format!(
        "{} {}/{}: {}",
        text(&event["reason"]),
        text(&object["namespace"]),
        text(&object["name"]),
        text(&event["message"])
    )
}
