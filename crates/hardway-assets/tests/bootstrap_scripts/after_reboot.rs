//! `bootstrap-in-place-post-reboot.sh`: the first boot of a single node from its disk.

use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use hardway_testing::{ControlPlane, succeed};
use serde_json::json;

use super::bootkube::{lay_out, play_the_operators};
use super::host::Host;

#[test]
fn real_after_the_reboot_the_cluster_takes_over() {
    // An API of its own: no other test may find this ClusterVersion.
    let (plane, host) = (ControlPlane::start(), Host::new());
    lay_out(&plane, &host);
    play_the_operators(&plane, &host);
    let script = "bootstrap-in-place-post-reboot.sh";
    host.program(
        &format!("usr/local/bin/{script}"),
        &host.read(&format!("opt/openshift/bootstrap-in-place/{script}")),
    );
    host.program("bin/systemctl", "#!/bin/bash\necho \"$*\" >>systemctl-calls\n");
    host.write("etc/kubernetes/bootstrap-secrets/kubeconfig", &plane.read("kubeconfig"));
    host.write("etc/kubernetes/manifests/kube-apiserver-pod.yaml", "name: kube-apiserver-node-0");
    host.write("state.json", &json!({"apiVersion": "v1", "kind": "List", "items": [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "openshift-kube-apiserver-operator"}},
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "kube-apiserver-operator-1", "namespace": "openshift-kube-apiserver-operator",
            "labels": {"app": "kube-apiserver-operator"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
        {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "version", "namespace": "openshift-cluster-version"}},
        {"apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion", "metadata": {"name": "version"},
            "spec": {"overrides": [{"kind": "ConfigMap"}]}},
    ]}).to_string());
    let mut create = host.script("create-manifests.sh");
    create.env("OC", plane.oc()).arg("--kubeconfig").arg(plane.kubeconfig()).args([
        "--state-dir",
        "played",
        "state.json",
    ]);
    succeed(&mut create);
    let status = |kind: &str, name: &str, namespace: &str, patch: &str| {
        let flags = ["--subresource=status", "--type=merge", "-p", patch];
        succeed(plane.kubectl().args(["patch", kind, name, "-n", namespace]).args(flags))
    };
    let ready = r#"{"status":{"conditions":[{"type":"Ready","status":"True"}]}}"#;
    status("pod", "kube-apiserver-operator-1", "openshift-kube-apiserver-operator", ready);
    host.write("said", "");
    let said = std::fs::File::options().append(true).open(host.path("said")).unwrap();
    scope(|threads| {
        let running = threads
            .spawn(|| succeed(host.script(script).env("OC", host.warning_oc(&plane.oc())).stdout(said)));
        // Nobody on this host approves: the node comes when somebody outside has.
        wait_until(|| host.read("said").contains("approved by hardway wait-for, or by hardway approve"));
        assert!(!host.has("opt/openshift/node-ready.done"));
        plane.apply(&json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-0"}}));
        status("node", "node-0", "default", ready);
        wait_until(|| host.has("opt/openshift/restart-kubelet-again.done"));
        let available = r#"{"status":{"conditions":[{"type":"Available","status":"True"}]}}"#;
        status("clusterversion", "version", "default", available);
        running.join().unwrap()
    });
    assert_eq!(plane.get(&["configmap", "bootstrap", "-n", "kube-system"])["data"]["status"], "complete");
    assert!(plane.get(&["lease", "version", "-n", "openshift-cluster-version"]).is_null());
    assert!(plane.get(&["clusterversion", "version"])["spec"]["overrides"].is_null());
    let calls = host.read("systemctl-calls");
    assert_eq!(calls, "daemon-reload\nrestart kubelet\nrestart kubelet\ndisable bootkube.service\n");
    for gone in ["opt/openshift", "etc/kubernetes/bootstrap-secrets", "usr/local/bin/oc-or-container.sh"] {
        assert!(!host.has(gone), "{gone} still exists");
    }
    assert!(host.has("records") && host.has("etc/kubernetes/manifests"));
}

fn wait_until(mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(120), "waited in vain");
        sleep(Duration::from_millis(200));
    }
}
