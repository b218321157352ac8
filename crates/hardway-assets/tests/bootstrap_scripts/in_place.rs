//! `make-master-ignition.sh`: the config a single node starts from after its reboot.

use std::collections::BTreeMap;
use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hardway_testing::{run, succeed, tools};
use serde_json::{Value, json};

use super::host::Host;

fn node() -> Host {
    let host = Host::new();
    let node = json!({
        "ignition": {"version": "3.4.0"},
        "storage": {"files": [
            {"path": "/etc/hostname", "mode": 420, "contents": {"source": "data:,node"}},
            {"path": "/etc/kubernetes/manifests/etcd-pod.yaml", "mode": 420, "contents": {"source": "data:,old"}},
        ]},
        "systemd": {"units": [{"name": "kubelet.service", "enabled": true, "contents": "[Install]\nWantedBy=multi-user.target\n"}]},
    });
    for (path, text) in [
        ("opt/openshift/node.ign", node.to_string().as_str()),
        ("opt/openshift/tls/etcd-client.key", "key"),
        ("opt/openshift/auth/kubeconfig-loopback", "loopback"),
        ("opt/openshift/etcd-member-pod.yaml", "etcd pod"),
        ("opt/openshift/bootstrap-manifests/kube-apiserver-pod.yaml", "pod"),
        ("opt/openshift/bootstrap-manifests/kube-controller-manager-pod.yaml", "pod"),
        ("opt/openshift/bootstrap-manifests/kube-scheduler-pod.yaml", "pod"),
        ("opt/openshift/original_cvo_overrides.patch", "{}"),
        ("opt/openshift/log-bundle-bootstrap.tar.gz", "bundle"),
        ("etc/kubernetes/bootstrap-configs/kube-apiserver-config.yaml", "config"),
        ("etc/kubernetes/static-pod-resources/etcd-member/ca.crt", "ca"),
        ("etcd/member/snap/db", "data with \u{0} bytes"),
        ("etcd/member/wal/0.tmp", "scratch"),
    ] {
        host.write(path, text);
    }
    host
}

fn make(host: &Host) -> Value {
    succeed(host.script("make-master-ignition.sh").env("ETCD_DATA_DIR", host.path("etcd")));
    host.json("opt/openshift/master.ign")
}

fn content(file: &Value) -> String {
    let source = file["contents"]["source"].as_str().unwrap().strip_prefix("data:;base64,").unwrap();
    let packed = STANDARD.decode(source).unwrap();
    std::io::read_to_string(flate2::read::GzDecoder::new(packed.as_slice())).unwrap()
}

#[test]
fn the_control_plane_and_its_data_go_along() {
    let host = node();
    let made = make(&host);
    let files = made["storage"]["files"].as_array().unwrap();
    let by_path: BTreeMap<&str, &Value> = files.iter().map(|f| (f["path"].as_str().unwrap(), f)).collect();
    assert_eq!(by_path.len(), files.len(), "a path is there twice");
    assert_eq!(by_path["/etc/hostname"]["contents"]["source"], "data:,node", "the node's own files stay");
    for (path, mode, text) in [
        ("/etc/kubernetes/manifests/etcd-pod.yaml", 0o600, "etcd pod"),
        ("/etc/kubernetes/bootstrap-secrets/kubeconfig", 0o600, "loopback"),
        ("/etc/kubernetes/bootstrap-secrets/etcd-client.key", 0o644, "key"),
        ("/etc/kubernetes/static-pod-resources/etcd-member/ca.crt", 0o644, "ca"),
        ("/var/lib/etcd/member/snap/db", 0o644, "data with \u{0} bytes"),
    ] {
        assert_eq!(
            (by_path[path]["mode"].as_u64(), content(by_path[path]).as_str()),
            (Some(mode), text),
            "{path}"
        );
    }
    assert!(!by_path.contains_key("/var/lib/etcd/member/wal/0.tmp"));
    let script = by_path["/usr/local/bin/bootstrap-in-place-post-reboot.sh"];
    assert_eq!((script["mode"].as_u64(), content(script).starts_with("#!/")), (Some(0o555), true));
    assert_eq!(made["storage"]["directories"][0]["mode"], 0o700);
    let units: Vec<&Value> =
        made["systemd"]["units"].as_array().unwrap().iter().map(|unit| &unit["name"]).collect();
    assert_eq!(units, ["kubelet.service", "bootkube.service"]);
}

/// Every script that the one after the reboot needs is on the installed system.
#[test]
fn sourced_and_called_scripts_go_along() {
    let host = node();
    let made = make(&host);
    let files = made["storage"]["files"].as_array().unwrap();
    let paths: Vec<&str> =
        files.iter().filter_map(|f| f["path"].as_str()?.strip_prefix("/usr/local/bin/")).collect();
    for path in &paths {
        let file = files.iter().find(|f| f["path"] == format!("/usr/local/bin/{path}")).unwrap();
        for word in content(file).split(['/', '"', ' ', '\n']).filter(|word| word.ends_with(".sh")) {
            let is_shipped =
                hardway_assets::ignition::bootstrap_files::scripts().iter().any(|s| s.path.ends_with(word));
            assert!(!is_shipped || paths.contains(&word), "{path} speaks of {word}");
        }
    }
}

#[test]
fn real_ignition_accepts_it() {
    let host = node();
    make(&host);
    let validate = tools(&["ignition-validate"]).join("ignition-validate");
    let (success, output) = run(Command::new(validate).arg(host.path("opt/openshift/master.ign")));
    assert!(success && output.is_empty(), "{output}");
}

#[test]
fn without_etcds_data_nothing_is_made() {
    let host = node();
    host.write("empty/0.tmp", "scratch");
    for (folder, said) in [("no-etcd", "No such file or directory"), ("empty", "there is nothing in")] {
        let (success, output) =
            run(host.script("make-master-ignition.sh").env("ETCD_DATA_DIR", host.path(folder)));
        assert!(!success && output.contains(said), "{output}");
        assert!(!host.has("opt/openshift/master.ign"));
    }
}

#[test]
fn without_the_nodes_config_it_says_so() {
    let host = Host::new();
    let (success, output) = run(&mut host.script("make-master-ignition.sh"));
    assert!(!success && output.contains("node.ign is missing"), "{output}");
}
