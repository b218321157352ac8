//! Certificates that a real API server tells of.

use hardway_testing::ControlPlane;
use serde_json::json;

use super::folder::Folder;
use crate::work;

#[test]
fn real_certificates_of_a_cluster_are_found_in_its_secrets() {
    let plane = ControlPlane::start();
    let folder = Folder::new(&plane);
    let made = work::made();
    folder.write("pki/root-ca.crt", made.read("pki/root-ca.crt"));
    let secret = |name: &str, kind: &str, annotations: serde_json::Value, data: serde_json::Value| {
        plane.apply(&json!({
            "apiVersion": "v1", "kind": "Secret", "type": kind, "stringData": data,
            "metadata": {"namespace": "default", "name": name, "annotations": annotations},
        }));
    };
    let rotated = json!({
        "auth.openshift.io/certificate-not-before": "2026-11-15T12:00:00Z",
        "auth.openshift.io/certificate-not-after": "2099-12-15T12:00:00Z",
        "auth.openshift.io/certificate-issuer": "openshift-etcd_etcd-signer@1",
        "openshift.io/owning-component": "Etcd",
    });
    secret("etcd-client", "Opaque", rotated, json!({}));
    let service = json!({"service.beta.openshift.io/expiry": "2098-12-15T12:00:00Z"});
    secret("metrics", "Opaque", service, json!({}));
    // Put there by a person: nobody says when it ends, and nobody renews it.
    let own =
        json!({"tls.crt": made.read("pki/kube-apiserver-lb-server.crt"), "tls.key": "KEY THAT NOBODY SEES"});
    secret("own", "kubernetes.io/tls", json!({}), own);
    secret("broken", "kubernetes.io/tls", json!({}), json!({"tls.crt": "", "tls.key": ""}));

    let ran = folder.run(&["certs", "-o", "json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let all = ran.json();
    let found = |name: &str| {
        let all = all["certificates"].as_array().unwrap();
        all.iter().find(|one| one["name"] == name).unwrap_or_else(|| panic!("{name}: {all:#?}")).clone()
    };
    let etcd = found("default/etcd-client");
    assert_eq!((&etcd["renewer"], &etcd["notAfter"]), (&json!("Etcd"), &json!("2099-12-15T12:00:00Z")));
    assert_eq!(found("default/metrics")["signer"], "service-ca");
    let own = found("default/own");
    assert_eq!((&own["renewer"], &own["signer"]), (&json!(null), &json!("kube-apiserver-lb-signer")));
    assert_eq!(found("pki/root-ca.crt")["place"], "folder");
    assert_eq!(all["unknown"], json!(["Secret default/broken holds no certificate that can be read"]));
    assert!(!format!("{}{}", ran.stdout, ran.stderr).contains("NOBODY SEES"), "{}", ran.stdout);
}
