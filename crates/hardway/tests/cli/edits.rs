//! What a person changes by hand is kept, said, and used.

use base64::Engine as _;
use hardway_testing::{Snapshot, Work};
use serde_json::Value;

use crate::work;

const DNS: &str = "manifests/cluster-dns-02-config.yml";
const MIRRORS: &str = "imageDigestSources:\n- {source: quay.io/a, mirrors: [m.example.com/a]}\n";

/// The text of a file inside bootstrap.ign.
fn in_bootstrap(work: &Work, path: &str) -> Option<String> {
    let config: Value = serde_json::from_str(&work.read("bootstrap.ign")).unwrap();
    let files = config["storage"]["files"].as_array().unwrap().clone();
    let file = files.into_iter().find(|file| file["path"] == path)?;
    let source = file["contents"]["source"].as_str().unwrap();
    let data = source.split_once("base64,").unwrap().1;
    Some(String::from_utf8(base64::engine::general_purpose::STANDARD.decode(data).unwrap()).unwrap())
}

#[test]
fn an_edited_manifest_is_kept_said_and_used() {
    let work = work::made();
    work.edit(DNS, "type: \"\"", "type: AWS");
    let edited = work.read(DNS);
    let status = work.ok(&["status"]).stdout;
    assert!(status.lines().any(|line| line.starts_with("kept") && line.contains(DNS)), "{status}");
    assert!(status.contains(&format!("{DNS} changed")), "{status}");

    work.ok(&["create", "ignition-configs"])
        .says(&format!("warning: {DNS} was edited by hand and is kept\n"))
        .says("1 file made");
    assert_eq!(work.read(DNS), edited);
    assert_eq!(in_bootstrap(&work, &format!("/opt/openshift/{DNS}")).unwrap(), edited);

    let before = Snapshot::of(work.root());
    work.ok(&["create", "ignition-configs"]).says("edited by hand and is kept").says("0 files made");
    before.assert_untouched(&Snapshot::of(work.root()));
}

#[test]
fn a_manifest_of_the_users_own_is_used() {
    let work = work::made();
    let path = "manifests/my-config.yaml";
    work.write(path, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: mine, namespace: default}\n");
    let status = work.ok(&["status"]).stdout;
    assert!(status.contains("manifests/my-config.yaml was added"), "{status}");
    work.ok(&["create", "ignition-configs"]).does_not_say("edited by hand");
    assert_eq!(in_bootstrap(&work, &format!("/opt/openshift/{path}")).unwrap(), work.read(path));
    work.remove(path);
    work.ok(&["create", "ignition-configs", "--log-level", "debug"])
        .says("manifests/my-config.yaml was removed");
    assert_eq!(in_bootstrap(&work, &format!("/opt/openshift/{path}")), None);
}

#[test]
fn what_is_added_to_a_pointer_stays_in_force() {
    let work = work::made();
    let path = "openshift/99_openshift-installer-ignition_worker.yaml";
    let pointer = work.read("worker.ign");
    let mut config: Value = serde_json::from_str(&pointer).unwrap();
    config["storage"] =
        serde_json::json!({"files": [{"path": "/etc/mine", "contents": {"source": "data:,mine"}}]});
    work.write("worker.ign", config.to_string());
    work.ok(&["create", "ignition-configs"]).says("worker.ign was edited by hand and is kept");
    assert!(work.read(path).contains("/etc/mine") && work.mode(path) == 0o600);
    assert_eq!(in_bootstrap(&work, &format!("/opt/openshift/{path}")).unwrap(), work.read(path));
    assert!(!work.exists("openshift/99_openshift-installer-ignition_master.yaml"));

    work.write("worker.ign", "{");
    work.refused(1, &["create", "ignition-configs"]).says("worker-edited-pointer: worker.ign: line 1");
    work.write("worker.ign", pointer);
    work.ok(&["create", "ignition-configs"]).says(&format!("{path} is no longer needed and goes away"));
    assert!(!work.exists(path));
}

#[test]
fn a_deleted_file_is_made_again() {
    let work = work::made();
    let before = Snapshot::of(work.root());
    work.remove(DNS);
    work.remove("bootstrap.ign");
    work.ok(&["create", "ignition-configs", "--log-level", "debug"])
        .says(&format!("{DNS} is missing"))
        .says("bootstrap.ign is missing")
        .says("2 files made");
    before.assert_same(&Snapshot::of(work.root()));
}

#[test]
fn an_edited_file_stays_stale_until_it_is_dealt_with() {
    let work = work::made();
    let original = work.read(DNS);
    work.edit(DNS, "type: \"\"", "type: AWS");
    work.edit("install-config.yaml", "baseDomain: example.com", "baseDomain: example.org");
    let said = format!(
        "{DNS} was edited by hand and is kept; would be made again: install-config changed: baseDomain"
    );
    work.ok(&["create", "ignition-configs"]).says(&said);
    work.ok(&["create", "ignition-configs"]).says(&said).says("0 files made");
    let status = work.ok(&["status"]).stdout;
    assert!(status.contains("install-config changed: baseDomain"), "{status}");

    // Undoing the edit must not bring back what the old config said.
    work.write(DNS, original);
    work.ok(&["create", "ignition-configs"]).does_not_say("edited by hand");
    assert!(work.read(DNS).contains("baseDomain: ocp4.example.org"));
    work.ok(&["create", "ignition-configs"]).says("0 files made");
}

#[test]
fn what_an_option_made_goes_with_the_option_unless_it_was_edited() {
    let path = "manifests/image-digest-mirror-set.yaml";
    let work = work::made();
    let config = work.read("install-config.yaml");
    work.write("install-config.yaml", config.clone() + MIRRORS);
    work.ok(&["create", "ignition-configs"]);
    assert!(work.exists(path));
    let with_mirrors = work.copy(&[""]);

    work.write("install-config.yaml", &config);
    work.ok(&["create", "ignition-configs"]).says(&format!("{path} is no longer needed and goes away"));
    assert!(!work.exists(path));
    assert_eq!(in_bootstrap(&work, &format!("/opt/openshift/{path}")), None);

    with_mirrors.edit(path, "m.example.com/a", "other.example.com/a");
    with_mirrors.write("install-config.yaml", &config);
    with_mirrors
        .ok(&["create", "ignition-configs"])
        .says(&format!("{path} is no longer needed but was edited by hand: kept"));
    assert!(with_mirrors.read(path).contains("other.example.com/a"));
    with_mirrors.ok(&["create", "ignition-configs"]).says("0 files made");
}

#[test]
fn inputs_are_never_touched() {
    let work = work::made();
    for name in ["install-config.yaml", "inventory.yaml"] {
        work.write(name, work.read(name) + "# mine\n");
    }
    let inputs = |snapshot: Snapshot| {
        let names = ["install-config.yaml", "inventory.yaml"];
        names.map(|name| String::from_utf8(snapshot.get(name).to_vec()).unwrap())
    };
    let before = inputs(Snapshot::of(work.root()));
    for target in ["manifests", "ignition-configs"] {
        work.ok(&["create", target]);
    }
    assert_eq!(inputs(Snapshot::of(work.root())), before);
}

#[test]
fn a_certificate_of_the_users_own_is_not_renewed() {
    let work = work::made();
    let own = work.read("pki/kube-apiserver-lb-server.crt") + "\n";
    work.write("pki/kube-apiserver-lb-server.crt", &own);
    work.run_at("2026-11-15T20:00:00Z", &["create", "ignition-configs"])
        .expect(0)
        .says("pki/kube-apiserver-lb-server.crt was edited by hand and is kept");
    assert_eq!(work.read("pki/kube-apiserver-lb-server.crt"), own);
}

#[test]
fn a_broken_edit_is_named_and_nothing_is_written() {
    let work = work::made();
    work.write(DNS, "apiVersion: v1\nkind: [\n");
    work.refused(1, &["create", "ignition-configs"])
        .says("error[asset-failed]: making bootstrap-ignition: manifests/cluster-dns-02-config.yml:2:");
    work.write(DNS, "kind: DNS\n");
    work.refused(1, &["create", "ignition-configs"])
        .says(&format!("{DNS}:1:1: an object without apiVersion"));
    work.write("pki/etcd-signer.crt", "nonsense");
    work.refused(1, &["create", "ignition-configs"]).says("pki/etcd-signer.crt");
}
