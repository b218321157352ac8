//! `hardway node` on a real API server. Nobody runs pods there, and no machine boots: what the cluster would do is played.

use std::path::Path;

use hardway_assets::ignition::data_of;
use hardway_assets::{pki, yaml};
use hardway_testing::{ControlPlane, Ran, feed, node_request, succeed};
use serde_json::{Value, json};

use super::site::Site;
use crate::work;

const POINTER: &str = r#"{"ignition":{"version":"3.2.0","config":{"merge":[{"source":"https://api-int.ocp4.example.com:22623/config/worker"}]}}}"#;

/// A folder whose cluster is this control plane.
pub(crate) fn site(plane: &ControlPlane) -> Site {
    let site = Site::new("{}");
    // The folder's own is there already, and leads to a cluster that is not.
    work::lead_to(&site, plane);
    site
}

pub(crate) fn create(plane: &ControlPlane, object: &Value) {
    let file = plane.folder().join("object.json");
    fs_err::write(&file, object.to_string()).unwrap();
    succeed(plane.kubectl().args(["create", "-f"]).arg(&file));
}

pub(crate) fn node(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}})
}

/// What the machine-config-operator keeps for machines that join, as in a cluster that runs.
pub(crate) fn keeps_user_data(plane: &ControlPlane, role: &str) {
    succeed(plane.kubectl().args(["create", "namespace", "openshift-machine-api"]));
    let name = format!("{role}-user-data-managed");
    let data = POINTER.replace("/config/worker", &format!("/config/{role}"));
    let object = json!({"apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": name, "namespace": "openshift-machine-api"}, "stringData": {"userData": data}});
    create(plane, &object);
}

/// Who a host asks as with the config that the folder has for it now: what is merged last brings it.
pub(crate) fn identity_in(site: &Site, host: &str) -> String {
    let config: Value = serde_json::from_str(&site.read(&format!("ignition/{host}.ign"))).unwrap();
    let merged = config["ignition"]["config"]["merge"].as_array().unwrap().last().unwrap();
    let last: Value = serde_json::from_slice(&data_of(merged["source"].as_str().unwrap()).unwrap()).unwrap();
    let file = &last["storage"]["files"][0];
    assert_eq!(file["path"], "/etc/kubernetes/kubeconfig");
    let kubeconfig = data_of(file["contents"]["source"].as_str().unwrap()).unwrap();
    let kubeconfig = yaml::read(std::str::from_utf8(&kubeconfig).unwrap()).unwrap().to_json();
    let certificate = kubeconfig["users"][0]["user"]["client-certificate-data"].as_str().unwrap();
    let certificate =
        base64::Engine::decode(&base64::engine::general_purpose::STANDARD, certificate).unwrap();
    let facts = pki::inspect(std::str::from_utf8(&certificate).unwrap()).unwrap().remove(0);
    assert_eq!(facts.issuer_common_name, "kubelet-bootstrap-kubeconfig-signer");
    facts.common_name
}

/// Asks for a node's first client certificate as whomever; the name of the request.
pub(crate) fn first_request(plane: &ControlPlane, node: &str, who: &Path) -> String {
    let pem = node_request(node, "");
    let object = json!({
        "apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "metadata": {"name": "csr-first"},
        "spec": {
            "signerName": "kubernetes.io/kube-apiserver-client-kubelet",
            "usages": ["digital signature", "client auth"],
            "request": base64::Engine::encode(&base64::engine::general_purpose::STANDARD, pem),
        },
    });
    feed(plane.kubectl_with(who).args(["create", "-f", "-"]), &object.to_string());
    "csr-first".to_owned()
}

#[test]
fn real_node_remove_empties_a_worker_and_leaves_masters_alone() {
    let plane = ControlPlane::start();
    let site = site(&plane);
    let worker = "worker-0.ocp4.example.com";
    create(&plane, &node(worker));
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "alone", "namespace": "default"},
        "spec": {"nodeName": worker, "terminationGracePeriodSeconds": 0, "containers": [{"name": "c", "image": "x"}]}});
    create(&plane, &pod);

    let Ran { code, stderr, .. } = site.run(&["node", "remove", "master-0"]);
    assert!(code == Some(2) && stderr.contains("node replace master-0"), "{stderr}");
    let Ran { code, stderr, .. } = site.run(&["node", "remove", "bootstrap"]);
    assert!(code == Some(2) && stderr.contains("never becomes a node"), "{stderr}");
    let Ran { code, stderr, .. } = site.run(&["node", "remove", "nobody"]);
    assert!(code == Some(2) && stderr.contains("add a new machine there first"), "{stderr}");
    let Ran { code, stderr, .. } = site.run(&["node", "remove", "worker-0", "--yes"]);
    assert!(
        code == Some(9) && stderr.contains("error[node-kept]") && stderr.contains("default/alone"),
        "{stderr}"
    );
    assert_eq!(plane.get(&["node", worker])["spec"]["unschedulable"], true, "nothing new comes meanwhile");

    site.ok(&["node", "remove", "worker-0", "--force", "--yes"]);
    assert_eq!(plane.get(&["node", worker]), Value::Null);
    assert_eq!(plane.get(&["pod", "alone"]), Value::Null);
    let table = site.read("bare-metal/load-balancer.txt");
    assert!(!table.contains("worker-0") && table.contains("master-0"), "{table}");
    let names = site.read("bare-metal/dnsmasq.conf");
    assert!(!names.contains("worker-0."), "{names}");
    site.ok(&["node", "remove", "worker-0", "--yes"]);
}

#[test]
fn real_node_replace_is_a_plan_that_asks_etcd_first() {
    let plane = ControlPlane::start();
    let site = site(&plane);
    create(&plane, &node("worker-0.ocp4.example.com"));
    let plan: Value = site.ok(&["node", "replace", "worker-0", "-o", "json"]).json();
    let steps: Vec<&str> =
        plan["steps"].as_array().unwrap().iter().map(|step| step["step"].as_str().unwrap()).collect();
    assert_eq!(steps, ["drain", "end-identity", "delete-node", "take-machine-away", "boot-machine"]);
    assert!(!plane.get(&["node", "worker-0.ocp4.example.com"]).is_null(), "a plan does nothing");
    // A machine that has not been heard of cannot be drained, and is surely off before its pods start elsewhere.
    let silent = r#"{"status":{"conditions":[{"type":"Ready","status":"Unknown"}]}}"#;
    let patch = ["patch", "node", "worker-0.ocp4.example.com", "--subresource=status", "-p", silent];
    succeed(plane.kubectl().args(patch));
    let plan: Value = site.ok(&["node", "replace", "worker-0", "-o", "json"]).json();
    let steps: Vec<&str> =
        plan["steps"].as_array().unwrap().iter().map(|step| step["step"].as_str().unwrap()).collect();
    assert_eq!(steps, ["end-identity", "take-machine-away", "delete-node", "boot-machine"]);
    // No etcd of this cluster answers at the masters' addresses: then nothing is known, and nothing is done.
    let Ran { code, stdout, stderr } = site.run(&["node", "replace", "master-0", "--apply"]);
    assert!(code == Some(6) && stderr.contains("error[node-kept]") && stdout.is_empty(), "{stderr}");
}

#[test]
fn real_node_add_boots_with_what_the_cluster_gives() {
    let plane = ControlPlane::start();
    let site = site(&plane);
    let Ran { code, stderr, .. } = site.run(&["node", "add", "worker-0"]);
    assert!(code == Some(6) && stderr.contains("worker-user-data-managed"), "{stderr}");
    succeed(plane.kubectl().args(["create", "namespace", "openshift-machine-api"]));
    let literal = format!("--from-literal=userData={POINTER}");
    let secret = ["create", "secret", "generic", "-n", "openshift-machine-api", "worker-user-data-managed"];
    succeed(plane.kubectl().args(secret).arg(literal));

    // It waits for a person, who does not come; whoever is tired of waiting ends it.
    let mut adding = site.start(&["node", "add", "worker-0"]);
    adding.until_said("worker-0, by hand:");
    drop(adding);
    let config: Value = serde_json::from_str(&site.read("ignition/worker-0.ign")).unwrap();
    let pointer: Value = serde_json::from_str(POINTER).unwrap();
    assert_eq!(
        config["ignition"]["config"]["merge"][0]["source"],
        pointer["ignition"]["config"]["merge"][0]["source"]
    );
    assert_eq!(identity_in(&site, "worker-0"), "hardway:host:worker-0:1");
    let paths: Vec<&str> = config["storage"]["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["path"].as_str().unwrap())
        .collect();
    assert!(paths.contains(&"/etc/hostname"), "{paths:?}");
    let pointer = site.read("ignition/pointers/worker-0.ign");
    assert!(pointer.contains("/ignition/worker-0") && site.path("media/worker-0.iso").exists(), "{pointer}");

    create(&plane, &node("worker-0.ocp4.example.com"));
    let Ran { code, stderr, .. } = site.run(&["node", "add", "worker-0"]);
    assert!(code == Some(0) && stderr.contains("is already a node"), "{stderr}");
}
