//! `installer-gather.sh`: the log bundle holds what helps and nothing that must not leave the host.

use std::process::Command;

use super::host::Host;
use hardway_testing::{run, succeed};

#[test]
fn a_bundle_has_the_layout_that_analyze_reads_and_no_secrets() {
    let host = Host::new();
    let secret_object = "apiVersion: v1\nkind: Secret\nmetadata: {name: x}\ndata: {a: Yg==}\n";
    for (path, text) in [
        ("opt/openshift/tls/root-ca.crt", "certificate"),
        ("opt/openshift/tls/x.key", "-----BEGIN PRIVATE KEY-----"),
        ("opt/openshift/tls/odd-name.pem", "-----BEGIN RSA PRIVATE KEY-----"),
        ("opt/openshift/auth/kubeconfig", "kubeconfig"),
        ("opt/openshift/auth/kubeconfig-loopback", "kubeconfig"),
        ("opt/openshift/manifests/cluster-config.yaml", "kind: ConfigMap"),
        ("opt/openshift/manifests/openshift-config-secret-pull-secret.yaml", "x"),
        ("opt/openshift/operator-seeds/etcd-signer.yaml", secret_object),
        ("opt/openshift/operator-seeds/list.json", r#"{"items":[{"kind":"Secret","data":{"a":"Yg=="}}]}"#),
        (
            "opt/openshift/operator-seeds/list.yaml",
            "kind: List\nitems:\n- apiVersion: v1\n  kind: Secret # one of many\n  stringData: {a: b}\n",
        ),
        ("opt/openshift/operator-seeds/flow.yaml", "{apiVersion: v1, kind: 'Secret', data: {a: Yg==}}\n"),
        (
            "opt/openshift/manifests/cvo-overrides.yaml",
            "spec:\n  overrides:\n  - kind: Secret\n    unmanaged: true\n",
        ),
        ("opt/openshift/create-manifests/objects/Secret+a+b.json", "{}"),
        ("opt/openshift/node.ign", "{}"),
        ("opt/openshift/wait-for-etcd.done", ""),
        ("records/bootkube.json", "[]"),
        ("records/bootkube.stream.jsonl", ""),
    ] {
        host.write(path, text);
    }
    let id = format!("test{}", std::process::id());
    let tar = host.path("bundle.tar.gz");
    let output = succeed(
        host.script("installer-gather.sh").env("TAR_FILE", &tar).env("OC", "/bin/false").args(["--id", &id]),
    );
    assert!(output.contains("Log bundle written to"), "{output}");

    let list = succeed(Command::new("tar").arg("-tzf").arg(&tar));
    let has = |path: &str| list.lines().any(|line| line == format!("log-bundle-{id}/{path}"));
    for kept in [
        "gather.log",
        "failed-units.txt",
        "bootstrap/services/bootkube.json",
        "bootstrap/services/bootkube.stream.jsonl",
        "bootstrap/journals/bootkube.log",
        "bootstrap/journals/journal.log.gz",
        "bootstrap/network/ip-addr.txt",
        "bootstrap/rpm-ostree/status",
        "control-plane/",
        "rendered-assets/openshift/tls/root-ca.crt",
        "rendered-assets/openshift/manifests/cluster-config.yaml",
        "rendered-assets/openshift/manifests/cvo-overrides.yaml",
        "rendered-assets/openshift/bootstrap.env",
        "rendered-assets/openshift/wait-for-etcd.done",
    ] {
        assert!(has(kept), "{kept} is missing in\n{list}");
    }
    for left in [
        ".key",
        "pem",
        "kubeconfig",
        "secret",
        "etcd-signer",
        "list.json",
        "list.yaml",
        "flow.yaml",
        "node.ign",
        "Secret",
    ] {
        assert!(!list.contains(left), "{left} is in\n{list}");
    }
    assert!(
        !std::path::Path::new("/tmp").join(format!("artifacts-{id}")).exists(),
        "the unpacked copy stays behind"
    );
}

#[test]
fn machine_configs_lose_their_files_contents() {
    let host = Host::new();
    let config = r#"{"items":[{"metadata":{"name":"m"},"spec":{"config":{"storage":{"files":[
        {"path":"/var/lib/kubelet/config.json","contents":{"source":"data:,PULLSECRET"}}]}}}},{"spec":{}}]}"#;
    host.write("opt/openshift/auth/kubeconfig", "");
    host.write("machineconfigs.json", config);
    host.program("bin/some-oc", "#!/bin/bash\ncase \"$*\" in *machineconfigs*) cat machineconfigs.json;; *raw=/version*) echo {};; *) exit 1;; esac\n");
    host.program("bin/gather", "#!/bin/bash\n. \"$1\"\ngather_cluster\n");
    let mut gather = host.script("../../../bin/gather");
    gather.env("OC", host.path("bin/some-oc")).arg(host.path("usr/local/bin/bootstrap-cluster-gather.sh"));
    let (success, output) = run(&mut gather);
    assert!(success, "{output}");
    let kept = host.read("gathered/resources/machineconfigs.json");
    assert!(
        kept.contains("/var/lib/kubelet/config.json") && kept.contains("16 characters left out"),
        "{kept}"
    );
    assert!(!kept.contains("PULLSECRET"), "{kept}");
    assert!(host.has("gathered/resources/nodes.json.error"), "what could not be had says why");
}
