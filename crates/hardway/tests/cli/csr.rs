//! `hardway csr`: decisions explained without a cluster.

use hardway_assets::yaml;
use hardway_testing::{AUTH, INSTALL_CONFIG, INVENTORY, NOW, Work, node_request};
use serde_json::{Value, json};

use crate::work;

const SERVING: &str = "kubernetes.io/kubelet-serving";

/// As `oc get csr -o yaml` would print it, made with OpenSSL: the host of the node uses its own identity.
pub(crate) fn request(name: &str, node: &str, names: &str, change: impl Fn(&mut Value)) -> Value {
    let pem = node_request(node, names);
    let host = node.split('.').next().unwrap();
    let mut object = json!({
        "apiVersion": "certificates.k8s.io/v1",
        "kind": "CertificateSigningRequest",
        "metadata": {"name": name, "uid": format!("uid-{name}"), "creationTimestamp": "2026-11-14T23:59:30Z"},
        "spec": {
            "signerName": "kubernetes.io/kube-apiserver-client-kubelet",
            "username": format!("hardway:host:{host}:1"),
            "groups": ["hardway:hosts", "system:authenticated"],
            "usages": ["digital signature", "client auth"],
            "request": base64::Engine::encode(&base64::engine::general_purpose::STANDARD, pem),
        },
        "status": {},
    });
    change(&mut object);
    object
}

/// As a machine from a stock pointer asks, and whoever else wants to.
pub(crate) fn shared(object: &mut Value) {
    object["spec"]["username"] =
        "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper".into();
    object["spec"]["groups"] = json!([
        "system:serviceaccounts",
        "system:serviceaccounts:openshift-machine-config-operator",
        "system:authenticated"
    ]);
}

fn serving(object: &mut Value) {
    object["spec"]["signerName"] = SERVING.into();
    object["spec"]["username"] = "system:node:worker-0.ocp4.example.com".into();
    object["spec"]["groups"] = json!(["system:nodes", "system:authenticated"]);
    object["spec"]["usages"] = json!(["digital signature", "server auth"]);
}

/// The requests of a list, the nodes of another, and the reasons that are told.
fn reasons(work: &Work, requests: &[Value], more: &[&str]) -> Vec<String> {
    work.write("requests.yaml", yaml::write(&json!({"apiVersion": "v1", "kind": "List", "items": requests})));
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "worker-0.ocp4.example.com"}});
    work.write("nodes.json", node.to_string());
    let (file, nodes) = (work.path("requests.yaml"), work.path("nodes.json"));
    let arguments = ["csr", "simulate", file.to_str().unwrap(), "--now", NOW, "-o", "json"];
    let more: Vec<&str> =
        more.iter().map(|word| if *word == "NODES" { nodes.to_str().unwrap() } else { word }).collect();
    let ran = work.run(&[&arguments[..], &more].concat());
    let told: Value = serde_json::from_str(&ran.stdout).unwrap();
    let is_denied = told.as_array().unwrap().iter().any(|one| one["verdict"] == "deny");
    let ran = ran.expect(if is_denied { 9 } else { 0 });
    assert!(!ran.stdout.is_empty());
    told.as_array().unwrap().iter().map(|one| one["reason"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_request_is_explained_rule_by_rule() {
    let work = work::with_inputs(INSTALL_CONFIG, INVENTORY);
    let worker = request("csr-good", "worker-0.ocp4.example.com", "", |_| {});
    work.write("request.json", worker.to_string());
    let file = work.path("request.json");
    let ran = work.ok(&["csr", "simulate", file.to_str().unwrap(), "--now", NOW]);
    assert!(ran.stdout.starts_with("csr-good  approve  first-client\n"), "{}", ran.stdout);
    for rule in ["signer", "key", "declared", "requester-groups", "node", "ignition", "budget"] {
        assert!(ran.stdout.contains(&format!("  ok      {rule} ")), "{rule}: {}", ran.stdout);
    }
    let later = work.ok(&["csr", "simulate", file.to_str().unwrap(), "--now", "2026-11-15T09:00:00Z"]);
    assert!(later.stdout.starts_with("csr-good  hold  abandoned\n"), "{}", later.stdout);
    assert!(later.stdout.contains("  hold    age ") && later.stdout.contains("  fix: "), "{}", later.stdout);
}

#[test]
fn lists_nodes_and_settings_count() {
    let work = work::with_inputs(INSTALL_CONFIG, INVENTORY);
    let good = request(
        "a",
        "worker-0.ocp4.example.com",
        "DNS:worker-0.ocp4.example.com,IP:192.168.126.110",
        serving,
    );
    let hostile = request("b", "worker-0.ocp4.example.com", "DNS:api.ocp4.example.com", serving);
    let first = request("c", "worker-0.ocp4.example.com", "", |_| {});
    let stranger = request("d", "worker-7.ocp4.example.com", "", |_| {});
    let decided = request("e", "master-0.ocp4.example.com", "", |object| {
        object["status"] = json!({"conditions": [{"type": "Approved", "status": "True"}]});
    });
    let all = [good, hostile, first, stranger, decided];
    let without =
        ["node-missing", "name-belongs-to-another", "first-client", "node-not-declared", "not-pending"];
    assert_eq!(reasons(&work, &all, &[]), without);
    let with =
        ["first-serving", "name-belongs-to-another", "node-exists", "node-not-declared", "not-pending"];
    assert_eq!(reasons(&work, &all, &["--node", "NODES"]), with);
    assert_eq!(reasons(&work, &all[4..], &["--as-pending"]), ["first-client"]);
    assert_eq!(
        reasons(&work, &all[4..], &["--as-pending", "--ignition", "required"]),
        ["ignition-not-redeemed"]
    );
}

/// The shared identity is good for a host that is declared to boot with it, and for no other; only that one can be let in
/// again by a permission, for what it asks from then on.
#[test]
fn stock_pointers_are_declared() {
    let stock = INVENTORY.replace("{name: worker-0, ", "{name: worker-0, stockPointer: true, ");
    assert_ne!(stock, INVENTORY);
    let (own, stock) =
        (work::with_inputs(INSTALL_CONFIG, INVENTORY), work::with_inputs(INSTALL_CONFIG, &stock));
    let worker = request("a", "worker-0.ocp4.example.com", "", shared);
    let master = request("b", "master-0.ocp4.example.com", "", shared);
    let later = request("c", "worker-0.ocp4.example.com", "", |object| {
        shared(object);
        object["metadata"]["creationTimestamp"] = NOW.into();
    });
    assert_eq!(reasons(&own, std::slice::from_ref(&worker), &[]), ["shared-identity"]);
    assert_eq!(reasons(&stock, &[worker.clone(), master], &[]), ["first-client", "shared-identity"]);
    assert_eq!(reasons(&stock, std::slice::from_ref(&worker), &["--node", "NODES"]), ["node-exists"]);
    let rejoin = ["--node", "NODES", "--rejoin", "worker-0"];
    assert_eq!(reasons(&stock, &[worker], &rejoin), ["node-exists"], "asked before");
    assert_eq!(reasons(&stock, &[later], &rejoin), ["rejoin"]);

    let file = own.path("requests.yaml");
    own.refused(2, &["csr", "simulate", file.to_str().unwrap(), "--rejoin", "worker-0"])
        .says("worker-0 has its own identity, hardway:host:worker-0:1")
        .says("hardway certs recover")
        .says("hardway node replace worker-0");
}

/// Everything the approver elsewhere needs, and no secret.
#[test]
fn who_is_expected_can_be_taken_elsewhere() {
    let work = work::with_inputs(INSTALL_CONFIG, INVENTORY);
    let declared = work.ok(&["csr", "declared"]).stdout;
    assert!(
        declared.contains("worker-0.ocp4.example.com") && declared.contains("172.30.0.0/16"),
        "{declared}"
    );
    assert!(!declared.contains(AUTH), "{declared}");
    let elsewhere = work::empty();
    elsewhere.write("declared.yaml", &declared);
    let path = elsewhere.path("declared.yaml");
    let worker = request("csr-good", "worker-0.ocp4.example.com", "", |_| {});
    assert_eq!(reasons(&elsewhere, &[worker], &["--declared", path.to_str().unwrap()]), ["first-client"]);
}

#[test]
fn files_that_are_something_else_are_named() {
    let work = work::with_inputs(INSTALL_CONFIG, INVENTORY);
    work.write("pod.yaml", "kind: Pod\n---\nkind: Node\n");
    let file = work.path("pod.yaml");
    let ran = work.refused(2, &["csr", "simulate", file.to_str().unwrap()]);
    ran.says("error[csr-unreadable]")
        .says("object 1 is not a CertificateSigningRequest: Pod")
        .says("object 2");
    work.refused(2, &["csr", "simulate", "nothing.yaml"]).says("error[csr-unreadable]");
    work.write("empty.yaml", "");
    work.refused(2, &["csr", "simulate", "empty.yaml"]).says("it has no CertificateSigningRequest");
    let good = request("a", "worker-0.ocp4.example.com", "", |_| {});
    work.write("good.json", good.to_string());
    let good = work.path("good.json");
    work.refused(2, &["csr", "simulate", good.to_str().unwrap(), "--rejoin", "nobody"])
        .says("not a node of this cluster");
    work.write("declared.yaml", "domain: x\nunknown: y\n");
    let declared = work.path("declared.yaml");
    let arguments = ["csr", "simulate", good.to_str().unwrap(), "--declared", declared.to_str().unwrap()];
    work.refused(2, &arguments).says("error[csr-unreadable]").says("unknown");
}

#[test]
fn without_a_cluster_nothing_is_approved() {
    let work = work::with_inputs(INSTALL_CONFIG, INVENTORY);
    let ran = work.refused(2, &["approve", "--kubeconfig", "nothing"]);
    ran.says("error[kubeconfig-unusable]").says("nothing").says("--kubeconfig");
}
