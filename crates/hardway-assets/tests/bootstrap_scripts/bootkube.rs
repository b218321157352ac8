//! `bootkube.sh` from its first stage to its last, against a real API server whose operators are played by the test.

use std::process::Command;

use hardway_assets::ignition::bootstrap_files::{IN_PLACE_STAGES, STAGES};
use hardway_testing::{ControlPlane, run, succeed};
use serde_json::{Value, json};

use super::host::Host;

const STATIC_PODS: [&str; 4] = [
    "kube-apiserver-pod",
    "kube-controller-manager-pod",
    "kube-scheduler-pod",
    "cluster-version-operator-pod",
];

/// Stands for the machine-config-operator's `bootstrap` command: writes down how it was called and what it would make.
const PODMAN: &str = r#"#!/usr/bin/env bash
set -euo pipefail
printf '%s\n' "$@" >>podman-arguments
out=$OPENSHIFT_DIR/mco-bootstrap
mkdir -p "$out/bootstrap/manifests" "$out/manifests"
echo 'args: ["--payload-version=4.18.1"]' >"$out/bootstrap/machineconfigoperator-bootstrap-pod.yaml"
echo '{}' >"$out/bootstrap/manifests/machineconfigcontroller-pull-secret"
echo '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "from-mco", "namespace": "kube-system"}}' >"$out/manifests/m.json"
"#;

fn bootkube(plane: &ControlPlane, host: &Host) -> Command {
    let mut command = host.script("bootkube.sh");
    command.env("OC", host.warning_oc(&plane.oc())).env("ETCD_HEALTH_URLS", plane.etcd_health_url());
    command
}

#[test]
fn real_every_stage_is_walked_once() {
    let (plane, host) = (ControlPlane::shared(), Host::new());
    lay_out(&plane, &host);
    play_the_operators(&plane, &host);

    // Something is missing at first: the service fails at once, and says what.
    host.write("opt/openshift/etcd-member-pod.yaml", "");
    let (success, output) = run(&mut bootkube(&plane, &host));
    assert!(!success && output.contains("missing in") && output.contains("etcd-member-pod.yaml"), "{output}");
    host.write("opt/openshift/etcd-member-pod.yaml", "etcd pod");
    // A pod left over from an earlier try must not matter.
    host.write("etc/kubernetes/manifests/kube-scheduler-pod.yaml", "left over");

    let output = succeed(&mut bootkube(&plane, &host));
    assert!(output.ends_with("bootkube.service complete\n"), "{output}");
    let entries = host.json("records/bootkube.json").as_array().unwrap().clone();
    let second_run = entries.iter().rposition(|entry| entry["phase"] == "service start").unwrap();
    let ended: Vec<&Value> =
        entries[second_run..].iter().filter(|entry| entry["phase"] == "stage end").collect();
    let names: Vec<&Value> = ended.iter().map(|entry| &entry["stage"]).collect();
    assert_eq!(names, STAGES);
    let failed: Vec<&Value> =
        ended.iter().filter(|e| e["result"] == "failure").map(|e| &e["stage"]).collect();
    assert_eq!(failed, ["resolve-api-int-url", "check-api-int-url"], "recorded, but no reason to stop");

    what_is_left_on_the_host(&host);
    what_is_in_the_cluster(&plane);
    let again = succeed(&mut bootkube(&plane, &host));
    assert!(!again.contains("stage "), "nothing is done a second time: {again}");
    progress_is_reported(&plane, &host);
}

#[test]
fn real_in_place_it_ends_with_the_config_of_the_node() {
    let (plane, host) = (ControlPlane::shared(), Host::new());
    lay_out(&plane, &host);
    host.set(&[("API_URL", &plane.url()), ("API_INT_URL", &plane.url()), ("IN_PLACE", "true")]);
    host.write("opt/openshift/node.ign", r#"{"ignition":{"version":"3.4.0"}}"#);
    host.write("etc/kubernetes/bootstrap-configs/kube-apiserver-config.yaml", "config");
    host.write("etc/kubernetes/static-pod-resources/etcd-member/ca.crt", "ca");
    host.write("etcd/member/snap/db", "data");
    // etcd is seen running once, then no longer.
    host.program(
        "bin/crictl",
        "#!/bin/bash\n[[ $* == *running* ]] || exit 0\n[[ -e asked ]] || echo 4711\ntouch asked\n",
    );

    let output = succeed(bootkube(&plane, &host).env("ETCD_DATA_DIR", host.path("etcd")));
    assert!(output.contains("waiting for etcd to stop: container 4711 still runs"), "{output}");
    assert!(!host.has("etc/kubernetes/manifests/etcd-member-pod.yaml"));
    let record = host.json("records/bootkube.json");
    let ended = record.as_array().unwrap().iter().filter(|entry| entry["phase"] == "stage end");
    let stages: Vec<&Value> = ended.map(|entry| &entry["stage"]).collect();
    let [.., success, teardown, first, second, third] = stages.as_slice() else { panic!("{stages:?}") };
    assert_eq!([success, teardown], [&"bootstrap-success", &"teardown"]);
    assert_eq!([first, second, third].map(|stage| stage.as_str().unwrap()), IN_PLACE_STAGES);
    assert!(host.read("opt/openshift/master.ign").contains("/var/lib/etcd/member/snap/db"));
    // There is no API to report to before the reboot.
    succeed(host.script("report-progress.sh").env("OC", "/bin/false").arg(plane.kubeconfig()));
}

/// What Ignition writes, as far as bootkube.sh looks at it.
pub(crate) fn lay_out(plane: &ControlPlane, host: &Host) {
    let kubeconfig = plane.read("kubeconfig");
    for name in ["kubeconfig", "kubeconfig-kubelet", "kubeconfig-loopback"] {
        host.write(&format!("opt/openshift/auth/{name}"), &kubeconfig);
    }
    for pod in STATIC_PODS {
        host.write(&format!("opt/openshift/bootstrap-manifests/{pod}.yaml"), pod);
    }
    let overrides = json!({"apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion", "metadata": {"name": "version"},
        "spec": {"overrides": [{"kind": "ConfigMap"}]}});
    let gates = "apiVersion: config.openshift.io/v1\nkind: FeatureGate\nmetadata: {name: cluster}\nspec: {}\n\
                 status: {featureGates: [{version: 4.18.1}]}\n";
    for (path, text) in [
        ("etcd-member-pod.yaml", "etcd pod"),
        ("original_cvo_overrides.patch", r#"{"spec":{"overrides":null}}"#),
        ("image-references", "{}"),
        ("manifests/cvo-overrides.yaml", &overrides.to_string()),
        ("manifests/notes.md", "no manifest"),
        (
            "image-policies/0000_90_openshift-cluster-image-policy.yaml",
            "apiVersion: config.openshift.io/v1\nkind: ClusterImagePolicy\nmetadata: {name: openshift}\n",
        ),
        ("openshift/99_feature-gate.yaml", gates),
        (
            "operator-seeds/seed.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: seed, namespace: kube-system}\n",
        ),
        ("tls/etcd-ca-bundle.crt", &plane.read("ca.crt")),
        ("tls/etcd-client.crt", &plane.read("admin.crt")),
        ("tls/etcd-client.key", &plane.read("admin.key")),
        ("tls/machine-config-server.crt", "certificate"),
        ("tls/machine-config-server.key", "key"),
    ] {
        host.write(&format!("opt/openshift/{path}"), text);
    }
    for (group, kind, plural) in [
        ("config.openshift.io", "ClusterImagePolicy", "clusterimagepolicies"),
        ("config.openshift.io", "ClusterVersion", "clusterversions"),
        ("config.openshift.io", "FeatureGate", "featuregates"),
        ("operator.openshift.io", "Etcd", "etcds"),
        ("operator.openshift.io", "KubeAPIServer", "kubeapiservers"),
        ("operator.openshift.io", "KubeControllerManager", "kubecontrollermanagers"),
        ("operator.openshift.io", "KubeScheduler", "kubeschedulers"),
    ] {
        host.write(&format!("opt/openshift/crds/{plural}.yaml"), &definition(group, kind, plural));
    }
    host.program("bin/podman", PODMAN);
    host.set(&[
        ("API_URL", &plane.url()),
        ("API_INT_URL", "https://api-int.no-such-domain.invalid:6443"),
        ("HIGHLY_AVAILABLE", "true"),
        ("SERVE_MACHINE_CONFIGS", "true"),
        ("RELEASE_IMAGE", "quay.io/x/release@sha256:1"),
        ("IMAGE_MACHINE_CONFIG_OPERATOR", "quay.io/x/mco@sha256:2"),
    ]);
}

/// Kinds as loose as they can be: their schemas are not the matter here.
fn definition(group: &str, kind: &str, plural: &str) -> String {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{group}")},
        "spec": {
            "group": group, "scope": "Cluster", "names": {"kind": kind, "plural": plural},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
            }],
        },
    })
    .to_string()
}

/// Pods and operator states of two masters, brought in by the very script, status included.
pub(crate) fn play_the_operators(plane: &ControlPlane, host: &Host) {
    let mut objects = Vec::new();
    for (namespace, pod) in [
        ("openshift-kube-apiserver", "kube-apiserver-master-0"),
        ("openshift-kube-scheduler", "openshift-kube-scheduler-master-0"),
        ("openshift-kube-controller-manager", "kube-controller-manager-master-0"),
        ("openshift-cluster-version", "cluster-version-operator-7d5f-abcde"),
    ] {
        objects.push(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}));
        objects.push(
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": pod, "namespace": namespace},
            "spec": {"nodeName": "master-0", "containers": [{"name": "c", "image": "i"}]}}),
        );
    }
    let nodes = json!([{"nodeName": "master-0", "currentRevision": 2}, {"nodeName": "master-1", "currentRevision": 1},
        {"nodeName": "master-2", "currentRevision": 0}]);
    for kind in ["KubeAPIServer", "KubeControllerManager", "KubeScheduler"] {
        objects.push(
            json!({"apiVersion": "operator.openshift.io/v1", "kind": kind, "metadata": {"name": "cluster"},
            "status": {"nodeStatuses": nodes}}),
        );
    }
    objects.push(
        json!({"apiVersion": "operator.openshift.io/v1", "kind": "Etcd", "metadata": {"name": "cluster"},
        "status": {"conditions": [{"type": "EtcdRunningInCluster", "status": "True"}]}}),
    );
    let list = json!({"apiVersion": "v1", "kind": "List", "items": objects});
    host.write("operators.json", &list.to_string());
    let mut create = host.script("create-manifests.sh");
    create
        .env("OC", plane.oc())
        .arg("--kubeconfig")
        .arg(plane.kubeconfig())
        .args(["--state-dir", "operators"]);
    succeed(create.args(["opt/openshift/crds", "operators.json"]));
    let ready = r#"-p={"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}"#;
    for pod in objects.iter().filter(|object| object["kind"] == "Pod") {
        let [name, namespace] = ["name", "namespace"].map(|key| pod["metadata"][key].as_str().unwrap());
        succeed(plane.kubectl().args([
            "patch",
            "pod",
            name,
            "-n",
            namespace,
            "--subresource=status",
            "--type=merge",
            ready,
        ]));
    }
}

fn what_is_left_on_the_host(host: &Host) {
    assert_eq!(host.read("etc/kubernetes/manifests/etcd-member-pod.yaml"), "etcd pod", "etcd goes on");
    for pod in STATIC_PODS.iter().chain(&["machineconfigoperator-bootstrap-pod"]) {
        assert!(!host.has(&format!("etc/kubernetes/manifests/{pod}.yaml")), "{pod} still runs");
    }
    assert!(!host.has("etc/kubernetes/bootstrap-secrets"));
    assert!(host.has("etc/kubernetes/kubeconfig") && host.has("opt/openshift/.bootkube.done"));
    // What the machine-config-server was given.
    assert_eq!(host.read("etc/ssl/mcs/tls.crt"), "certificate");
    assert_eq!(host.read("etc/mcs/kubeconfig"), host.read("opt/openshift/auth/kubeconfig-kubelet"));
    for input in [
        "machineconfigcontroller-pull-secret",
        "99_feature-gate.yaml",
        "cvo-overrides.yaml",
        "image-references",
        "0000_90_openshift-cluster-image-policy.yaml",
    ] {
        assert!(host.has(&format!("etc/mcc/bootstrap/{input}")), "{input}");
    }
    assert!(!host.has("etc/mcc/bootstrap/notes.md"), "the controller would die of it");
    let arguments = host.read("podman-arguments");
    for argument in
        ["quay.io/x/mco@sha256:2", "--payload-version=4.18.1", "--release-image=quay.io/x/release@sha256:1"]
    {
        assert!(arguments.lines().any(|line| line == argument), "{argument}: {arguments}");
    }
}

fn what_is_in_the_cluster(plane: &ControlPlane) {
    let gates = plane.get(&["featuregates", "cluster"]);
    assert_eq!(gates["status"]["featureGates"][0]["version"], "4.18.1");
    let version = plane.get(&["clusterversions", "version"]);
    assert!(version["spec"]["overrides"].is_null(), "{version}");
    let created = |object: &Value| object["metadata"]["creationTimestamp"].as_str().unwrap().to_owned();
    assert!(created(&gates) <= created(&version), "feature gates come first");
    for name in ["seed", "from-mco"] {
        assert!(!plane.get(&["configmap", name, "-n", "kube-system"]).is_null(), "{name}");
    }
    assert!(!plane.get(&["clusterimagepolicies", "openshift"]).is_null());
    for name in ["bootstrap-success", "bootstrap-finished"] {
        assert!(!plane.get(&["event", name, "-n", "kube-system"]).is_null(), "{name}");
    }
}

fn progress_is_reported(plane: &ControlPlane, host: &Host) {
    for _ in 0..2 {
        succeed(host.script("report-progress.sh").env("OC", plane.oc()).arg(plane.kubeconfig()));
        let config_map = plane.get(&["configmap", "bootstrap", "-n", "kube-system"]);
        assert_eq!(config_map["data"], json!({"status": "complete"}));
    }
}
