//! `hardway diagnose` on a real API server.

use hardway_testing::{ControlPlane, node_request, succeed};
use serde_json::{Value, json};

use super::folder::Folder;

/// A request as a kubelet makes it, made by the admin: nobody signs it here.
fn request(folder: &Folder, plane: &ControlPlane, name: &str) {
    let pem = node_request("worker-0", "");
    let encoded = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, pem);
    let object = json!({"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest",
        "metadata": {"name": name},
        "spec": {"request": encoded, "signerName": "kubernetes.io/kube-apiserver-client-kubelet",
            "usages": ["digital signature", "client auth"]}});
    folder.write("request.json", object.to_string());
    succeed(plane.kubectl().args(["create", "-f"]).arg(folder.path("request.json")));
}

fn codes(value: &Value) -> Vec<&str> {
    value["broken"].as_array().unwrap().iter().map(|found| found["code"].as_str().unwrap()).collect()
}

#[test]
fn real_the_first_broken_link_is_said() {
    let plane = ControlPlane::start();
    let folder = Folder::new(&plane);
    let ran = folder.run(&["diagnose"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.starts_with("no failure found: checked "), "{}", ran.stdout);

    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "worker-1"}});
    folder.write("node.json", node.to_string());
    succeed(plane.kubectl().args(["create", "-f"]).arg(folder.path("node.json")));
    let ran = folder.run(&["diagnose"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stdout.starts_with("E-N18 (nodes) A node is not Ready."), "{}", ran.stdout);
    assert!(ran.stdout.contains("seen   node worker-1 is not Ready"), "{}", ran.stdout);

    // A request that waits comes before the node that suffers from it.
    request(&folder, &plane, "csr-waits");
    let ran = folder.run(&["diagnose", "-o", "json"]);
    assert_eq!((ran.code, codes(&ran.json())), (Some(1), vec!["E-N1"]), "{}", ran.stderr);
    assert!(ran.json()["broken"][0]["evidence"][0].as_str().unwrap().contains("csr-waits"));
    let ran = folder.run(&["diagnose", "--all", "-o", "json"]);
    assert_eq!(codes(&ran.json()), ["E-N1", "E-N18"]);
    missing(&plane, &folder);
    silent(&plane, &folder);
}

/// With an inventory, what is not there counts too.
fn missing(plane: &ControlPlane, before: &Folder) {
    let folder = Folder::new(plane);
    let ran = folder.run(&["init"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    succeed(plane.kubectl().args(["delete", "csr", "csr-waits"]));
    let ran = folder.run(&["diagnose", "--all", "-o", "json"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let value = ran.json();
    let found = value["broken"].as_array().unwrap().iter().find(|found| found["code"] == "E-N17").unwrap();
    assert!(found["evidence"][0].as_str().unwrap().starts_with("master master-0."), "{found}");
    // Nobody resolves the example's names: that comes first.
    assert_eq!(codes(&value)[0], "E-D1", "{value:#}");
    request(before, plane, "csr-waits");
}

fn silent(plane: &ControlPlane, folder: &Folder) {
    let nowhere = Folder::new(plane);
    let kubeconfig = folder.read("auth/kubeconfig").replace(&plane.url(), "https://localhost:1");
    nowhere.write("auth/kubeconfig", &kubeconfig);
    let ran = nowhere.run(&["diagnose"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stdout.starts_with("E-C15 (api) The API does not answer."), "{}", ran.stdout);
    assert!(ran.stdout.contains("https://localhost:1"), "{}", ran.stdout);
}
