//! A pivot as it runs: the program waits for it on a real API server, where the operators are played, while it serves configs from the same folder.

use hardway_assets::release_payload::sample;
use hardway_testing::{ControlPlane, eventually, succeed};
use serde_json::{Value, json};

use crate::serve::site::{Folder, Serving};
use crate::work;

const CRDS: [&str; 6] = [
    "clusteroperators.config.openshift.io",
    "clusterversions.config.openshift.io",
    "etcds.operator.openshift.io",
    "kubeapiservers.operator.openshift.io",
    "kubecontrollermanagers.operator.openshift.io",
    "kubeschedulers.operator.openshift.io",
];

/// The bootstrap host may fetch its config for as long as it is needed, and from the moment that nobody needs it any more nobody gets it.
#[tokio::test(flavor = "multi_thread")]
async fn real_the_bootstrap_token_ends_with_the_pivot() {
    let plane = tokio::task::spawn_blocking(ControlPlane::start).await.unwrap();
    let folder = Folder::made();
    let serving = folder.serve(&[]);
    tokio::task::block_in_place(|| create_crds(&plane, &folder));
    assert_eq!(status(&folder, &serving, "bootstrap").await, 200);
    tokio::task::block_in_place(|| work::lead_to(&folder, &plane));
    let mut waiting = folder.start(&["wait-for", "bootstrap-complete", "--no-approve"]);
    tokio::task::block_in_place(|| {
        waiting.until_said("Waiting for bootstrapping to complete");
        play_control_plane(&plane);
        config_map(&plane, "kube-system", "bootstrap", &json!({"status": "complete"}));
        waiting.until_said("Waiting for the bootstrap etcd member to be removed");
    });
    // The masters may still come back to it.
    assert_eq!(status(&folder, &serving, "bootstrap").await, 200);
    assert!(!folder.read("journal.jsonl").contains("bootstrap-complete"));
    let ran = tokio::task::block_in_place(|| {
        static_pods(&plane, "etcd", &["EtcdRunningInCluster", "EtcdBootstrapMemberRemoved"]);
        waiting.until_said("It is now safe to remove the bootstrap resources");
        waiting.end()
    });
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let journal = folder.read("journal.jsonl");
    assert!(journal.contains(r#""kind":"bootstrap-complete","body":{"host":"bootstrap"}"#), "{journal}");
    eventually("the bootstrap host's token is dead", async || {
        status(&folder, &serving, "bootstrap").await == 410
    })
    .await;
    assert_eq!(status(&folder, &serving, "master-0").await, 200, "masters are not done");
    assert_eq!(serving.end().code, Some(0));
    let serving = folder.serve(&[]);
    assert_eq!(status(&folder, &serving, "bootstrap").await, 410, "nor later");
}

async fn status(folder: &Folder, serving: &Serving, host: &str) -> u16 {
    folder.request(host).ask(&serving.client()).await.status
}

fn create_crds(plane: &ControlPlane, folder: &Folder) {
    for name in CRDS {
        let crds = sample().crds;
        let crd = crds.iter().find(|crd| crd.text.contains(&format!("name: {name}"))).unwrap();
        folder.write("crd.yaml", &crd.text);
        succeed(plane.kubectl().args(["create", "-f"]).arg(folder.path("crd.yaml")));
        let waited = format!("crd/{name}");
        succeed(plane.kubectl().args(["wait", "--for=condition=Established", "--timeout=120s", &waited]));
    }
}

/// Everything but the removal of the bootstrap member.
fn play_control_plane(plane: &ControlPlane) {
    for kind in ["kubeapiserver", "kubecontrollermanager", "kubescheduler"] {
        static_pods(plane, kind, &[]);
    }
    static_pods(plane, "etcd", &["EtcdRunningInCluster"]);
    let spec = json!({"clusterID": "11111111-2222-4333-8444-555555555555"});
    let version = json!({"apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion", "metadata": {"name": "version"}, "spec": spec});
    plane.apply(&version);
    plane.apply(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "openshift-etcd"}}));
    // etcd itself cannot be asked here; its operator has dropped the bootstrap host's address.
    config_map(plane, "openshift-etcd", "etcd-endpoints", &json!({"m0": "192.168.126.101"}));
}

fn config_map(plane: &ControlPlane, namespace: &str, name: &str, data: &Value) {
    let metadata = json!({"name": name, "namespace": namespace});
    plane.apply(&json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}));
}

/// Rolled out on two masters, with these conditions.
fn static_pods(plane: &ControlPlane, kind: &str, conditions: &[&str]) {
    let name = match kind {
        "etcd" => "Etcd",
        "kubeapiserver" => "KubeAPIServer",
        "kubecontrollermanager" => "KubeControllerManager",
        _ => "KubeScheduler",
    };
    let spec = json!({"managementState": "Managed", "forceRedeploymentReason": ""});
    plane.apply(&json!({"apiVersion": "operator.openshift.io/v1", "kind": name, "metadata": {"name": "cluster"}, "spec": spec}));
    let conditions: Vec<Value> = conditions
        .iter()
        .map(|kind| json!({"type": kind, "status": "True", "reason": "Played", "message": "as played", "lastTransitionTime": "2026-11-15T00:00:00Z"}))
        .collect();
    let masters = ["m0", "m1"].map(|name| json!({"nodeName": name, "currentRevision": 1}));
    let status = json!({"status": {"conditions": conditions, "nodeStatuses": masters, "readyReplicas": 0}});
    let patch = ["patch", kind, "cluster", "--subresource=status", "--type=merge", "--patch"];
    succeed(plane.kubectl().args(patch).arg(status.to_string()));
}
