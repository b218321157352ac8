//! Plays the operators of a cluster: writes what they would write.

use hardway_assets::release_payload::sample;
use hardway_assets::yaml;
use hardway_testing::{ControlPlane, succeed};
use kube::api::{Api, DeleteParams, DynamicObject, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Client, Config};
use serde_json::{Value, json};

/// Writes through a connection of its own.
pub(crate) struct Driver {
    pub(crate) plane: ControlPlane,
    pub(crate) config: Config,
}

const CRDS: [&str; 7] = [
    "clusteroperators.config.openshift.io",
    "clusterversions.config.openshift.io",
    "etcds.operator.openshift.io",
    "kubeapiservers.operator.openshift.io",
    "kubecontrollermanagers.operator.openshift.io",
    "kubeschedulers.operator.openshift.io",
    "routes.route.openshift.io",
];

impl Driver {
    /// A control plane of its own, with the CRDs.
    pub(crate) async fn start() -> Self {
        let driver = Self::without_crds().await;
        driver.create_crds();
        driver
    }

    pub(crate) async fn without_crds() -> Self {
        let plane = tokio::task::spawn_blocking(ControlPlane::start).await.unwrap();
        let config = config(&plane.kubeconfig()).await;
        Self { plane, config }
    }

    pub(crate) fn create_crds(&self) {
        let folder = tempfile::tempdir().unwrap();
        for (number, text) in crds().iter().enumerate() {
            fs_err::write(folder.path().join(format!("{number}.yaml")), text).unwrap();
        }
        succeed(self.plane.kubectl().args(["create", "-f"]).arg(folder.path()));
        let names = CRDS.map(|name| format!("crd/{name}"));
        succeed(
            self.plane.kubectl().args(["wait", "--for=condition=Established", "--timeout=120s"]).args(names),
        );
    }

    /// Makes an object, or changes it to this, its status too.
    pub(crate) async fn put(&self, kind: &str, namespace: Option<&str>, object: Value) {
        let api = self.api(kind, namespace);
        let name = object["metadata"]["name"].as_str().unwrap().to_owned();
        let mut bare = object.clone();
        let status = bare.as_object_mut().unwrap().remove("status");
        if api.get_opt(&name).await.unwrap().is_none() {
            let resource = resource(kind);
            bare["apiVersion"] = json!(resource.api_version);
            bare["kind"] = json!(kind);
            let made: DynamicObject = serde_json::from_value(bare).unwrap();
            api.create(&PostParams::default(), &made).await.unwrap();
        } else {
            api.patch(&name, &PatchParams::default(), &Patch::Merge(&bare)).await.unwrap();
        }
        if let Some(status) = status {
            let patch = Patch::Merge(json!({"status": status}));
            api.patch_status(&name, &PatchParams::default(), &patch).await.unwrap();
        }
    }

    pub(crate) async fn delete(&self, kind: &str, namespace: Option<&str>, name: &str) {
        self.api(kind, namespace).delete(name, &DeleteParams::default()).await.unwrap();
    }

    /// `TFF`: Available, Progressing, Degraded. The operator's clock is an hour slow.
    pub(crate) async fn operator(&self, name: &str, letters: &str) {
        let kinds = ["Available", "Progressing", "Degraded"];
        let conditions: Vec<Value> = kinds
            .iter()
            .zip(letters.chars())
            .map(|(kind, letter)| condition(kind, letter, "as played"))
            .collect();
        let object = json!({"metadata": {"name": name}, "spec": {}, "status": {"conditions": conditions,
            "versions": [{"name": "operator", "version": "4.18.1"}]}});
        self.put("ClusterOperator", None, object).await;
    }

    /// `TFF`: Available, Progressing, Failing.
    pub(crate) async fn version(&self, letters: &str, message: &str) {
        let kinds = ["Available", "Progressing", "Failing"];
        let conditions: Vec<Value> = kinds
            .iter()
            .zip(letters.chars())
            .map(|(kind, letter)| condition(kind, letter, message))
            .collect();
        let object = json!({"metadata": {"name": "version"},
            "spec": {"clusterID": "11111111-2222-4333-8444-555555555555", "overrides": null},
            "status": {"conditions": conditions, "availableUpdates": [], "observedGeneration": 1, "versionHash": "x",
                "desired": {"version": "4.18.1", "image": "quay.io/x@sha256:0"}, "history": []}});
        self.put("ClusterVersion", None, object).await;
    }

    pub(crate) async fn node(&self, name: &str, role: &str, ready: bool) {
        let letter = if ready { 'T' } else { 'F' };
        let mut ready = condition("Ready", letter, "as played");
        ready["lastHeartbeatTime"] = json!("2026-11-15T00:00:00Z");
        let object = json!({"metadata": {"name": name, "labels": {format!("node-role.kubernetes.io/{role}"): ""}},
            "status": {"conditions": [ready], "addresses": [{"type": "InternalIP", "address": "192.0.2.1"}]}});
        self.put("Node", None, object).await;
    }

    /// A static pod operator's object: conditions that are True, and masters with a revision.
    pub(crate) async fn static_pods(&self, kind: &str, conditions: &[&str], masters: &[&str]) {
        let conditions: Vec<Value> =
            conditions.iter().map(|kind| condition(kind, 'T', "as played")).collect();
        let with = |nodes: Vec<Value>| {
            json!({"metadata": {"name": "cluster"},
                "spec": {"managementState": "Managed", "forceRedeploymentReason": ""},
                "status": {"conditions": conditions, "nodeStatuses": nodes, "readyReplicas": 0}})
        };
        // The real CRD takes a revision only for a node that it knows.
        if self.api(kind, None).get_opt("cluster").await.unwrap().is_none() {
            let known = masters.iter().map(|name| json!({"nodeName": name})).collect();
            self.put(kind, None, with(known)).await;
        }
        let rolled_out = masters.iter().map(|name| json!({"nodeName": name, "currentRevision": 1})).collect();
        self.put(kind, None, with(rolled_out)).await;
    }

    /// kube-system/bootstrap.
    pub(crate) async fn bootstrap(&self, status: &str) {
        let object = json!({"metadata": {"name": "bootstrap", "namespace": "kube-system"}, "data": {"status": status}});
        self.put("ConfigMap", Some("kube-system"), object).await;
    }

    fn api(&self, kind: &str, namespace: Option<&str>) -> Api<DynamicObject> {
        let resource = resource(kind);
        let client = Client::try_from(self.config.clone()).unwrap();
        match namespace {
            Some(namespace) => Api::namespaced_with(client, namespace, &resource),
            None => Api::all_with(client, &resource),
        }
    }
}

fn resource(kind: &str) -> ApiResource {
    let (group, plural) = match kind {
        "ClusterOperator" => ("config.openshift.io", "clusteroperators"),
        "ClusterVersion" => ("config.openshift.io", "clusterversions"),
        "ConfigMap" => ("", "configmaps"),
        "Etcd" => ("operator.openshift.io", "etcds"),
        "KubeAPIServer" => ("operator.openshift.io", "kubeapiservers"),
        "KubeControllerManager" => ("operator.openshift.io", "kubecontrollermanagers"),
        "KubeScheduler" => ("operator.openshift.io", "kubeschedulers"),
        "Namespace" => ("", "namespaces"),
        "Node" => ("", "nodes"),
        "Pod" => ("", "pods"),
        "Route" => ("route.openshift.io", "routes"),
        other => panic!("{other}"),
    };
    ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(group, "v1", kind), plural)
}

/// From a kubeconfig file.
pub(crate) async fn config(path: &std::path::Path) -> Config {
    hardway_cluster::kubeconfig::read(Some(path)).await.unwrap()
}

fn condition(kind: &str, letter: char, message: &str) -> Value {
    let status = match letter {
        'T' => "True",
        'F' => "False",
        _ => "Unknown",
    };
    // The same time for the same status, as real operators keep it until the status changes.
    let hour = match letter {
        'T' => 1,
        'F' => 2,
        _ => 3,
    };
    let time = format!("2026-11-15T0{hour}:00:00Z");
    json!({"type": kind, "status": status, "reason": "Played", "message": message, "lastTransitionTime": time})
}

/// The real ones of 4.18 where they are at hand, else the sample's; Route's is never among either.
fn crds() -> Vec<String> {
    let mut texts: Vec<String> = match hardway_testing::real_data("crds-4.18") {
        Some(folder) => fs_err::read_dir(folder)
            .unwrap()
            .map(|entry| fs_err::read_to_string(entry.unwrap().path()).unwrap())
            .collect(),
        None => sample().crds.iter().map(|crd| crd.text.clone()).collect(),
    };
    let name =
        |text: &String| yaml::read(text).unwrap().to_json()["metadata"]["name"].as_str().map(str::to_owned);
    texts.retain(|text| name(text).is_some_and(|name| CRDS.contains(&name.as_str())));
    if !texts.iter().any(|text| text.contains("routes.route.openshift.io")) {
        texts.push(ROUTES.to_owned());
    }
    assert_eq!(texts.len(), CRDS.len());
    texts
}

/// Route is served by openshift-apiserver, not from a CRD; this one accepts anything.
const ROUTES: &str = r#"{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
"metadata": {"name": "routes.route.openshift.io"}, "spec": {"group": "route.openshift.io", "scope": "Namespaced",
"names": {"kind": "Route", "plural": "routes", "singular": "route", "listKind": "RouteList"},
"versions": [{"name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
"schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]}}"#;
