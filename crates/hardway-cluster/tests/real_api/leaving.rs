//! Nodes that go, on a real API server. Nobody runs pods here: a loop plays the kubelet, which ends what was told to end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hardway_cluster::node_change::{
    NodeRemoval, NodeRemovalError, forget_certificates, set_unsafe_etcd, user_data,
};
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::{Client, ResourceExt};
use serde_json::{Value, json};

use super::driver::Driver;

const NODE: &str = "worker-0.ocp4.example.com";
/// Nothing is measured with it.
const LONG: Duration = Duration::from_secs(180);

fn pod(name: &str, more: &Value) -> Value {
    let mut metadata = json!({"name": name, "namespace": "default", "labels": {"app": name}});
    metadata.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata,
           "spec": {"nodeName": NODE, "containers": [{"name": "c", "image": "x"}]}})
}

fn owned_by(kind: &str) -> Value {
    json!({"ownerReferences": [{"apiVersion": "apps/v1", "kind": kind, "name": "owner", "uid": "1", "controller": true}]})
}

/// Runs, as far as the API server knows: what only waits for a start has no budget.
async fn create(client: &Client, pod: Value) {
    let pods: Api<Pod> = Api::namespaced(client.clone(), "default");
    let pod: Pod = serde_json::from_value(pod).unwrap();
    pods.create(&PostParams::default(), &pod).await.unwrap();
    let running =
        json!({"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}});
    pods.patch_status(&pod.name_any(), &PatchParams::default(), &Patch::Merge(running)).await.unwrap();
}

/// Ends what was told to end, until dropped.
struct Kubelet(Arc<AtomicBool>);

impl Kubelet {
    fn start(client: Client) -> Self {
        let over: Arc<AtomicBool> = Arc::default();
        let until = over.clone();
        tokio::spawn(async move {
            let pods: Api<Pod> = Api::namespaced(client, "default");
            while !until.load(Ordering::Relaxed) {
                for pod in pods.list(&ListParams::default()).await.unwrap() {
                    if pod.metadata.deletion_timestamp.is_some() {
                        let _ = pods.delete(&pod.name_any(), &DeleteParams::default().grace_period(0)).await;
                    }
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        });
        Self(over)
    }
}

impl Drop for Kubelet {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

async fn names(client: &Client) -> Vec<String> {
    let pods: Api<Pod> = Api::namespaced(client.clone(), "default");
    let mut names: Vec<String> =
        pods.list(&ListParams::default()).await.unwrap().iter().map(ResourceExt::name_any).collect();
    names.sort();
    names
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn real_pods_leave_as_budgets_allow_and_the_node_goes() {
    let driver = Driver::without_crds().await;
    driver.node(NODE, "worker", true).await;
    let client = Client::try_from(driver.config.clone()).unwrap();
    create(&client, pod("web", &owned_by("ReplicaSet"))).await;
    create(&client, pod("agent", &owned_by("DaemonSet"))).await;
    create(&client, pod("alone", &json!({}))).await;
    let leaving = |may_lose, patience| {
        NodeRemoval::new(&driver.config, NODE, patience, &|_| ()).unwrap().losing_pods(may_lose)
    };
    assert!(leaving(false, LONG).is_there().await.unwrap());
    leaving(false, LONG).cordon().await.unwrap();
    let nodes: Api<Node> = Api::all(client.clone());
    assert_eq!(nodes.get(NODE).await.unwrap().spec.unwrap().unschedulable, Some(true));

    let _kubelet = Kubelet::start(client.clone());
    let error = leaving(false, LONG).drain().await.unwrap_err();
    assert!(matches!(&error, NodeRemovalError::WouldBeLost(pods) if pods == &["default/alone"]), "{error}");
    assert_eq!(names(&client).await, ["agent", "alone", "web"], "nothing was touched");

    // Nobody works out budgets here, and until somebody has, the API server lets nothing be evicted.
    let budget = json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "keep", "namespace": "default"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}});
    let file = driver.plane.folder().join("budget.json");
    fs_err::write(&file, budget.to_string()).unwrap();
    hardway_testing::succeed(driver.plane.kubectl().args(["create", "-f"]).arg(&file));
    let error = leaving(true, Duration::from_secs(3)).drain().await.unwrap_err();
    let NodeRemovalError::Kept { pods, last, .. } = &error else { panic!("{error}") };
    assert!(pods.contains(&"default/web".to_owned()) && last.contains("disruption budget"), "{error}");
    hardway_testing::eventually("alone is gone", async || {
        !names(&client).await.contains(&"alone".to_owned())
    })
    .await;
    assert_eq!(names(&client).await, ["agent", "web"]);

    hardway_testing::succeed(driver.plane.kubectl().args(["delete", "pdb", "keep"]));
    assert_eq!(leaving(true, LONG).drain().await.unwrap(), 1);
    assert_eq!(names(&client).await, ["agent"], "what a DaemonSet would start again stays");
    for _ in 0..2 {
        leaving(true, LONG).delete().await.unwrap();
    }
    assert!(!leaving(true, LONG).is_there().await.unwrap());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn real_etcd_operator_is_told_and_certificates_are_forgotten() {
    let driver = Driver::start().await;
    let client = Client::try_from(driver.config.clone()).unwrap();
    driver.static_pods("Etcd", &[], &[]).await;
    let overrides = || {
        driver.plane.get(&["etcds.operator.openshift.io", "cluster"])["spec"]["unsupportedConfigOverrides"]
            .clone()
    };
    set_unsafe_etcd(&client, true).await.unwrap();
    assert_eq!(overrides(), json!({"useUnsupportedUnsafeNonHANonProductionUnstableEtcd": true}));
    set_unsafe_etcd(&client, false).await.unwrap();
    assert_eq!(overrides(), Value::Null);

    for namespace in ["openshift-etcd", "openshift-machine-api"] {
        hardway_testing::succeed(driver.plane.kubectl().args(["create", "namespace", namespace]));
    }
    let secret = |namespace: &str, name: &str, key: &str| {
        let literal = format!("--from-literal={key}=value of {name}");
        let mut kubectl = driver.plane.kubectl();
        kubectl.args(["create", "secret", "generic", "-n", namespace, name]).arg(literal);
        hardway_testing::succeed(&mut kubectl);
    };
    for name in ["etcd-peer-a", "etcd-serving-a", "etcd-peer-b"] {
        secret("openshift-etcd", name, "tls.key");
    }
    for _ in 0..2 {
        forget_certificates(&client, "a").await.unwrap();
    }
    let left = driver.plane.get(&["secrets", "-n", "openshift-etcd"]);
    let left: Vec<&str> = left["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|secret| secret["metadata"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(left, ["etcd-peer-b"]);

    let missing = user_data(&client, "worker").await.unwrap_err();
    assert!(missing.to_string().contains("worker-user-data-managed"), "{missing}");
    secret("openshift-machine-api", "worker-user-data-managed", "userData");
    let found = user_data(&client, "worker").await.unwrap();
    assert_eq!(found.expose_text(), "value of worker-user-data-managed");
}
