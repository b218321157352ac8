//! What a person changes by hand is kept, said, and used.

use base64::Engine as _;
use hardway_testing::{Snapshot, Work};
use serde_json::Value;

use crate::work;

const DNS: &str = "manifests/cluster-dns-02-config.yml";
const CONFIG_MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: mine, namespace: default}\n";
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
    work.ok(&["create", "ignition-configs"]).says(&format!("{path} is no longer needed and is removed"));
    assert!(!work.exists(path));
}

#[test]
fn a_deleted_file_is_made_again() {
    let work = work::made();
    let before = Snapshot::of(work.root());
    work.remove("pki/etcd-signer.crt");
    work.remove("bootstrap.ign");
    work.ok(&["create", "ignition-configs", "--log-level", "debug"])
        .says("pki/etcd-signer.crt is missing")
        .says("bootstrap.ign is missing")
        .says("2 files made");
    before.assert_same(&Snapshot::of(work.root()));
}

#[test]
fn a_deleted_manifest_stays_deleted_and_is_said_to_be() {
    let work = work::made();
    let before = work.read(DNS);
    work.remove(DNS);
    let status = work.ok(&["status"]).stdout;
    let row = status.lines().find(|line| line.contains(&format!(" {DNS} "))).unwrap_or_default();
    assert!(row.starts_with("gone") && row.ends_with("deleted by hand; stays deleted"), "{status}");
    assert!(status.contains(&format!("{DNS} was removed")), "{status}");
    let value: Value = serde_json::from_str(&work.ok(&["status", "-o", "json"]).stdout).unwrap();
    let files =
        value["assets"].as_array().unwrap().iter().flat_map(|asset| asset["files"].as_array().unwrap());
    let states: Vec<&Value> = files.filter(|file| file["path"] == DNS).map(|file| &file["state"]).collect();
    assert_eq!(states, ["deleted-by-hand"]);

    let said = format!("warning: {DNS} was deleted by hand and stays deleted\n");
    work.ok(&["create", "ignition-configs", "--dry-run"]).says(&said);
    work.ok(&["create", "ignition-configs"]).says(&said).says("1 kept as edited or deleted");
    assert!(!work.exists(DNS));
    assert_eq!(in_bootstrap(&work, &format!("/opt/openshift/{DNS}")), None);
    work.ok(&["create", "ignition-configs"]).says(&said).says("0 files made");
    assert!(work.ok(&["status"]).stdout.contains("deleted by hand; stays deleted"));

    // What it was made from may change: the wish of whoever deleted it stays.
    work.edit("install-config.yaml", "baseDomain: example.com", "baseDomain: example.org");
    work.ok(&["create", "ignition-configs"])
        .says(&format!("{DNS} was deleted by hand and stays deleted; would be made again"));
    assert!(!work.exists(DNS));
    work.edit("install-config.yaml", "baseDomain: example.org", "baseDomain: example.com");
    work.ok(&["create", "ignition-configs", "--undo", DNS]);
    assert_eq!(work.read(DNS), before);
    work.ok(&["create", "ignition-configs"]).does_not_say("by hand").says("0 files made");
}

#[test]
fn a_folder_that_is_gone_is_made_again() {
    let work = work::made();
    let before = Snapshot::of(work.root());
    std::fs::remove_dir_all(work.root().join("manifests")).unwrap();
    work.ok(&["create", "ignition-configs"]).does_not_say("deleted by hand");
    before.assert_same(&Snapshot::of(work.root()));
}

#[test]
fn a_deleted_manifest_that_others_need_is_named_with_the_way_back() {
    let work = work::made();
    let path = "manifests/cvo-overrides.yaml";
    work.remove(path);
    work.refused(1, &["create", "ignition-configs"])
        .says(&format!("making bootstrap-ignition: {path} was deleted by hand, and is needed"))
        .says(&format!("hardway create manifests --undo {path}"));
    work.ok(&["create", "manifests", "--undo", path]);
    work.ok(&["create", "ignition-configs"]).says("0 files made");
}

#[test]
fn undo_brings_back_what_hardway_makes() {
    let work = work::made();
    let before = Snapshot::of(work.root());
    work.edit(DNS, "type: \"\"", "type: AWS");
    work.write("worker.ign", work.read("worker.ign").replacen('{', "{\"storage\":{},", 1));
    work.ok(&["create", "ignition-configs"]);
    work.refused(2, &["create", "manifests", "--undo", "worker.ign"])
        .says("worker.ign is made in phase make-ignition, which this command does not reach")
        .says("hardway create ignition-configs --undo worker.ign");
    let dry = work.ok(&["create", "manifests", "--dry-run", "--undo", DNS]).stdout;
    assert!(dry.contains(&format!("would write {DNS} ({DNS} is brought back)\n")), "{dry}");
    // By its path in the folder, and as somebody elsewhere would name it.
    let elsewhere = work.root().join("worker.ign");
    work.ok(&["create", "ignition-configs", "--undo", DNS, "--undo", elsewhere.to_str().unwrap()])
        .does_not_say("edited by hand")
        .says("openshift/99_openshift-installer-ignition_worker.yaml is no longer needed and is removed");
    before.assert_same(&Snapshot::of(work.root()));
    work.ok(&["create", "ignition-configs", "--undo", DNS])
        .says(&format!("{DNS} is as hardway made it: nothing to undo"));

    work.write("manifests/mine.yaml", CONFIG_MAP);
    work.refused(2, &["create", "manifests", "--undo", "manifests/mine.yaml"])
        .says("hardway does not make manifests/mine.yaml")
        .says("delete the file");
    work.refused(2, &["create", "manifests", "--undo", "manifests/typo.yaml"])
        .says("hardway does not make manifests/typo.yaml");
    assert!(work.exists("manifests/mine.yaml"));
}

#[test]
fn what_follows_from_an_edit_is_told() {
    let work = work::made();
    let why = |file: &str| work.ok(&["status", "--why", file]).stdout;
    let told = why(DNS);
    assert!(told.starts_with(&format!("{DNS} (as hardway makes it)\n")), "{told}");
    assert!(told.contains("read by   rendered-nodes, bootstrap-ignition\n"), "{told}");

    work.edit(DNS, "type: \"\"", "type: AWS");
    let told = why(DNS);
    for line in [
        &*format!("{DNS} (edited by hand)"),
        "  made by   dns (make-manifests)",
        "  differs   in spec.platform.type",
        "  changes   bootstrap.ign (make-ignition), by bootstrap-ignition; the next run makes it so",
        "  nodes     worker: the same rendered config, which came with the release; rendered here, DNS cluster would count",
        &format!("  undo      hardway create manifests --undo {DNS}"),
    ] {
        assert!(told.lines().any(|found| found == line), "{line}: {told}");
    }
    // `explain` tells what the file is for, and then the same.
    let explained = work.ok(&["explain", DNS]).stdout;
    assert!(explained.contains("  read by ") && explained.ends_with(&told), "{explained}");
    work.ok(&["create", "ignition-configs"]);
    assert!(why(DNS).contains("by bootstrap-ignition\n"), "it is made by now");

    work.remove(DNS);
    let told = why(DNS);
    assert!(told.starts_with(&format!("{DNS} (deleted by hand, and stays deleted)\n")), "{told}");
    assert!(told.contains("changes   bootstrap.ign"), "{told}");

    work.write("manifests/mine.yaml", CONFIG_MAP);
    let told = why("manifests/mine.yaml");
    assert!(told.starts_with("manifests/mine.yaml (added by hand)\n  changes   bootstrap.ign"), "{told}");
    assert!(told.contains("nodes     master: the same rendered config\n"), "{told}");
    assert!(told.ends_with("  undo      rm manifests/mine.yaml\n"), "{told}");
    assert_eq!(work.ok(&["explain", "manifests/mine.yaml"]).stdout, told);
    work.write("manifests/below/mine.yaml", CONFIG_MAP);
    let told = why("manifests/below/mine.yaml");
    assert!(told.contains("and nothing is made from it)\n") && !told.contains("changes"), "{told}");

    work.refused(2, &["status", "--why", "manifests/typo.yaml"])
        .says("manifests/typo.yaml is not a file that hardway makes");
    work.refused(2, &["status", "--why", "install-config.yaml"]).says("is an input file");
    let value: Value =
        serde_json::from_str(&work.ok(&["status", "--why", "manifests/mine.yaml", "-o", "json"]).stdout)
            .unwrap();
    assert_eq!(value["state"], "added");
    assert_eq!(value["changes"][0]["files"], serde_json::json!(["bootstrap.ign"]));
    assert_eq!(
        value["nodes"][0],
        serde_json::json!({"pool": "master", "rendered": "same", "parts": [], "hosts": value["nodes"][0]["hosts"]})
    );
}

#[test]
fn what_an_edit_means_for_nodes_is_told_before_they_are_rendered() {
    let work = work::made();
    // The sample as a release of somebody's own, of which no node is rendered yet.
    let release = work.path("own");
    let copied = std::process::Command::new("cp").arg("-r").arg(work.path("release")).arg(&release).status();
    assert!(copied.unwrap().success());
    std::fs::remove_dir_all(release.join("rendered")).unwrap();
    work.remove("own/sha256sums");
    work.edit("own/release-metadata", "\"hardway.dev/sample\": \"true\"", "");
    let image = work.read("own/release-image");
    work.edit("inventory.yaml", "image: sample", &format!("image: {}", image.trim()));
    let release = release.to_str().unwrap();
    std::fs::remove_dir_all(work.path("release")).unwrap();
    work.ok(&["create", "manifests", "--release-dir", release]);

    let path = "openshift/99-mine.yaml";
    let config = "apiVersion: machineconfiguration.openshift.io/v1\nkind: MachineConfig\nmetadata:\n  name: 99-mine\n  labels: {machineconfiguration.openshift.io/role: worker}\nspec:\n  config:\n    ignition: {version: 3.2.0}\n    storage:\n      files:\n      - {path: /etc/mine, contents: {source: 'data:,mine'}}\n";
    work.write(path, config);
    let told = work.ok(&["status", "--why", path, "--release-dir", release]).stdout;
    assert!(told.contains("  nodes     master: the same rendered config\n"), "{told}");
    let worker = told.lines().find(|line| line.starts_with("  nodes     worker: ")).unwrap_or_default();
    let begins = "  nodes     worker: another rendered config: file /etc/mine, for ignition/worker-0.ign";
    assert!(worker.starts_with(begins) && worker.ends_with("; the next run renders it"), "{told}");
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
    work.ok(&["create", "ignition-configs"]).says(&format!("{path} is no longer needed and is removed"));
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
