//! The checks against a real API server. Nodes and pods are only written there: nobody runs anything.

use std::collections::BTreeSet;
use std::time::Duration;

use hardway_base::Verdict;
use hardway_cluster::declared::Declared;
use hardway_cluster::verify::{Check, Endpoint, Surroundings, Verifier, VerifyOutcome};
use hardway_testing::eventually;
use serde_json::{Value, json};

use super::driver::Driver;
use super::members::access;

pub(crate) fn verifier(driver: &Driver) -> Verifier {
    let port = driver.config.cluster_url.port_u16().unwrap();
    let names = vec![("localhost".to_owned(), vec!["127.0.0.1".parse().unwrap(), "::1".parse().unwrap()])];
    #[expect(clippy::disallowed_methods, reason = "real servers present certificates of the real clock")]
    let now = jiff::Timestamp::now();
    Verifier {
        config: driver.config.clone(),
        declared: Declared::default(),
        surroundings: Surroundings {
            names,
            endpoints: vec![Endpoint { host: "localhost".to_owned(), port }],
            absent: vec!["hardway-verify-nobody.invalid".to_owned()],
            api_port: port,
        },
        etcd: Some(access(&driver.plane)),
        image: Some("registry.example.com/shell".to_owned()),
        now,
        skip: BTreeSet::new(),
        patience: Duration::from_secs(60),
        pod_patience: Duration::from_secs(2),
    }
}

fn verdict(outcomes: &[VerifyOutcome], check: &str) -> Verdict {
    outcomes
        .iter()
        .find(|outcome| outcome.check.name() == check)
        .unwrap_or_else(|| panic!("{check}: {outcomes:?}"))
        .judged
        .verdict
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn real_each_check_says_what_it_sees() {
    let driver = Driver::start().await;
    play(&driver).await;
    let outcomes = verifier(&driver).run().await;
    for check in
        ["names", "certificates", "nodes", "operators", "control-plane", "etcd", "requests", "leftovers"]
    {
        assert_eq!(verdict(&outcomes, check), Verdict::Passed, "{outcomes:#?}");
    }
    assert_eq!(verdict(&outcomes, "console"), Verdict::Failed, "its name does not resolve");
    assert_eq!(verdict(&outcomes, "image-registry"), Verdict::Skipped);
    // There is no scheduler: the pod stays Pending, and what it left is taken away.
    assert_eq!(verdict(&outcomes, "workload"), Verdict::Failed);
    for check in ["logs", "exec", "service", "dns", "route"] {
        assert_eq!(verdict(&outcomes, check), Verdict::Skipped);
    }
    let workload = outcomes.iter().find(|outcome| outcome.check == Check::Workload).unwrap();
    assert!(workload.judged.seen[0].contains("Pending on no node"), "{workload:?}");
    eventually("its namespace is going", async || {
        let spaces = driver.plane.get(&["namespaces", "-l", "hardway.dev/verify=true"]);
        spaces["items"]
            .as_array()
            .unwrap()
            .iter()
            .all(|space| space["metadata"]["deletionTimestamp"].is_string())
    })
    .await;

    // A certificate that nobody trusts, for a name that nobody gave.
    let mut stranger = verifier(&driver);
    stranger.skip = [Check::Workload, Check::Console, Check::ControlPlane].into();
    stranger.config.root_cert = Some(Vec::new());
    let chain = stranger.run().await;
    assert_eq!(verdict(&chain, "certificates"), Verdict::Failed);
    assert_eq!(verdict(&chain, "workload"), Verdict::Skipped);
    a_pod_runs(&driver).await;
}

/// What the last of them runs.
const RUN: [Check; 4] = [Check::Api, Check::Workload, Check::Logs, Check::Exec];

/// Somebody plays the kubelet: the pod is Ready, and nothing answers where its logs would be.
async fn a_pod_runs(driver: &Driver) {
    let mut verifier = verifier(driver);
    verifier.pod_patience = Duration::from_secs(120);
    verifier.skip = Check::ALL.into_iter().filter(|check| !RUN.contains(check)).collect();
    let run = tokio::spawn(async move { verifier.run().await });
    let mut namespace = String::new();
    eventually("the pod is there", async || {
        let pods = driver.plane.get(&["pods", "--all-namespaces", "-l", "hardway.dev/verify=true"]);
        let alive = |pod: &&Value| {
            pod["metadata"]["deletionTimestamp"].is_null() && pod["status"]["phase"] == "Pending"
        };
        let found = pods["items"].as_array().unwrap().iter().rfind(alive);
        namespace =
            found.map(|pod| pod["metadata"]["namespace"].as_str().unwrap().to_owned()).unwrap_or_default();
        !namespace.is_empty() && !terminating(driver, &namespace)
    })
    .await;
    let binding = json!({"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "hardway-verify"},
        "target": {"apiVersion": "v1", "kind": "Node", "name": "m0"}});
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("binding.json");
    fs_err::write(&file, binding.to_string()).unwrap();
    let path = format!("--raw=/api/v1/namespaces/{namespace}/pods/hardway-verify/binding");
    hardway_testing::succeed(driver.plane.kubectl().args(["create", &path, "-f"]).arg(&file));
    let patch = json!({"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}})
        .to_string();
    let pod = [
        "patch",
        "pod",
        "hardway-verify",
        "-n",
        &namespace,
        "--subresource=status",
        "--type=merge",
        "--patch",
        &patch,
    ];
    hardway_testing::succeed(driver.plane.kubectl().args(pod));
    let outcomes = run.await.unwrap();
    assert_eq!(verdict(&outcomes, "workload"), Verdict::Passed, "{outcomes:#?}");
    assert_eq!(
        [verdict(&outcomes, "logs"), verdict(&outcomes, "exec")],
        [Verdict::Failed; 2],
        "{outcomes:#?}"
    );
}

fn terminating(driver: &Driver, namespace: &str) -> bool {
    driver.plane.get(&["namespace", namespace])["metadata"]["deletionTimestamp"].is_string()
}

/// A cluster of one master that is well.
async fn play(driver: &Driver) {
    driver.version("TFF", "Cluster version is 4.18.1").await;
    driver.operator("dns", "TFF").await;
    driver.node("m0", "master", true).await;
    let version = hardway_testing::succeed(driver.plane.kubectl().args(["get", "--raw=/version"]));
    let version: Value = serde_json::from_str(&version).unwrap();
    let info = json!({"metadata": {"name": "m0"}, "status": {"nodeInfo": {"kubeletVersion": version["gitVersion"], "architecture": "amd64",
        "bootID": "", "containerRuntimeVersion": "", "kernelVersion": "", "kubeProxyVersion": "", "machineID": "",
        "operatingSystem": "linux", "osImage": "", "systemUUID": ""}}});
    driver.put("Node", None, info).await;
    for (kind, component) in [
        ("Etcd", "etcd"),
        ("KubeAPIServer", "kube-apiserver"),
        ("KubeControllerManager", "kube-controller-manager"),
        ("KubeScheduler", "kube-scheduler"),
    ] {
        driver.static_pods(kind, &[], &["m0"]).await;
        let latest = json!({"metadata": {"name": "cluster"}, "status": {"latestAvailableRevision": 1}});
        driver.put(kind, None, latest).await;
        let namespace = format!("openshift-{component}");
        driver.put("Namespace", None, json!({"metadata": {"name": namespace}})).await;
        let pod = json!({"metadata": {"name": format!("{component}-m0")},
            "spec": {"nodeName": "m0", "containers": [{"name": "c", "image": "i"}]},
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}});
        driver.put("Pod", Some(&namespace), pod).await;
    }
    driver.put("Namespace", None, json!({"metadata": {"name": "openshift-console"}})).await;
    let host = "console.no-such-domain.invalid";
    let route = json!({"metadata": {"name": "console"}, "spec": {"host": host, "tls": {}},
        "status": {"ingress": [{"host": host, "conditions": [{"type": "Admitted", "status": "True"}]}]}});
    driver.put("Route", Some("openshift-console"), route).await;
}
