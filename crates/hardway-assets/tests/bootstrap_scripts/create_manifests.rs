//! `create-manifests.sh`: create once, never change, retry, write status, go on after a restart.

use std::process::Command;
use std::thread::{scope, sleep};
use std::time::Duration;

use hardway_testing::{ControlPlane, run, succeed};
use serde_json::json;

use super::host::Host;

fn create(plane: &ControlPlane, host: &Host, arguments: &[&str]) -> Command {
    let mut command = host.script("create-manifests.sh");
    command.env("OC", plane.oc()).arg("--kubeconfig").arg(plane.kubeconfig()).args(["--state-dir", "state"]);
    command.args(arguments);
    command
}

/// A cluster-scoped kind `Widget` with a status subresource, as OpenShift's config kinds are.
fn widget_definition(group: &str) -> String {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("widgets.{group}")},
        "spec": {
            "group": group, "scope": "Cluster", "names": {"kind": "Widget", "plural": "widgets"},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
            }],
        },
    })
    .to_string()
}

#[test]
fn real_objects_are_created_whatever_their_order_and_with_their_status() {
    let (plane, host) = (ControlPlane::shared(), Host::new());
    // The widget comes before its kind, the config map before its namespace.
    host.write(
        "manifests/01.yaml",
        "apiVersion: order.test/v1\nkind: Widget\nmetadata:\n  name: w\nspec: {a: 1}\nstatus: {phase: Given, list: [1]}\n",
    );
    host.write(
        "manifests/02.yml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: order-test}\ndata: {a: b}\n---\n\
         apiVersion: v1\nkind: Namespace\nmetadata: {name: order-test}\n",
    );
    host.write("manifests/03.json", &widget_definition("order.test"));
    host.write("manifests/README.txt", "not a manifest");
    let output = succeed(&mut create(&plane, &host, &["manifests"]));
    assert!(output.contains("created 4 of 4"), "{output}");
    assert!(output.contains("Widget.order.test w: ") && output.contains("no matches for kind"), "{output}");
    let widget = plane.get(&["widgets.order.test", "w"]);
    assert_eq!(widget["status"], json!({"phase": "Given", "list": [1]}));
    assert_eq!(plane.get(&["configmap", "c", "-n", "order-test"])["data"], json!({"a": "b"}));
}

#[test]
fn real_what_exists_is_left_alone() {
    let (plane, host) = (ControlPlane::shared(), Host::new());
    host.write(
        "manifests/1.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kept}\ndata: {a: ours}\n",
    );
    host.write("manifests/2.json", &widget_definition("kept.test"));
    host.write(
        "widget/w.yaml",
        "apiVersion: kept.test/v1\nkind: Widget\nmetadata: {name: w, namespace: any}\nstatus: {a: ours}\n",
    );
    succeed(plane.kubectl().args(["create", "configmap", "kept", "--from-literal=a=theirs"]));
    succeed(&mut create(&plane, &host, &["manifests"]));
    assert_eq!(plane.get(&["configmap", "kept"])["data"], json!({"a": "theirs"}));

    host.write(
        "theirs.json",
        r#"{"apiVersion": "kept.test/v1", "kind": "Widget", "metadata": {"name": "w"}}"#,
    );
    succeed(plane.kubectl().args(["create", "-f"]).arg(host.path("theirs.json")));
    let patch = [
        "patch",
        "widgets.kept.test",
        "w",
        "--subresource=status",
        "--type=merge",
        r#"-p={"status":{"a":"theirs"}}"#,
    ];
    succeed(plane.kubectl().args(patch));
    succeed(&mut create(&plane, &host, &["widget"]));
    assert_eq!(plane.get(&["widgets.kept.test", "w"])["status"], json!({"a": "theirs"}));
}

#[test]
fn real_it_waits_for_what_others_make_and_says_why() {
    let (plane, host) = (ControlPlane::shared(), Host::new());
    host.write(
        "late.yaml",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: late-test}\nstringData: {a: b}\n",
    );
    let (success, output) = run(&mut create(&plane, &host, &["--once", "late.yaml"]));
    assert!(!success && output.contains("created 0 of 1"), "{output}");
    assert!(
        output.contains(
            r#"Secret late-test/s: Error from server (NotFound): namespaces "late-test" not found"#
        ),
        "{output}"
    );
    let output = scope(|threads| {
        let waiting = threads.spawn(|| succeed(&mut create(&plane, &host, &["late.yaml"])));
        sleep(Duration::from_secs(1));
        succeed(plane.kubectl().args(["create", "namespace", "late-test"]));
        waiting.join().unwrap()
    });
    // The same error was shown by the first run already.
    assert!(output.contains("created 1 of 1") && !output.contains("not found"), "{output}");
}

#[test]
fn real_a_restart_goes_on_after_what_is_done() {
    let (plane, host) = (ControlPlane::shared(), Host::new());
    host.write("m/1.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: again-1}\n");
    succeed(&mut create(&plane, &host, &["m"]));
    succeed(plane.kubectl().args(["delete", "configmap", "again-1"]));
    host.write("m/2.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: again-2}\n");
    assert!(succeed(&mut create(&plane, &host, &["m"])).contains("created 2 of 2"));
    assert!(plane.get(&["configmap", "again-1"]).is_null(), "made a second time");
    assert!(!plane.get(&["configmap", "again-2"]).is_null());
}

#[test]
fn real_a_file_that_cannot_be_read_is_named_and_holds_the_rest_not_up() {
    let (plane, host) = (ControlPlane::shared(), Host::new());
    host.write("m/1.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: readable}\n");
    host.write("m/2.yaml", "kind: [\n");
    host.write("m/3.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: nameless-}\n");
    let (success, output) = run(&mut create(&plane, &host, &["--once", "m"]));
    assert!(
        !success && output.contains("m/2.yaml") && output.contains("ConfigMap without a name"),
        "{output}"
    );
    assert!(!plane.get(&["configmap", "readable"]).is_null());
}

#[test]
fn real_a_client_that_warns_but_succeeds_is_believed() {
    let (plane, host) = (ControlPlane::shared(), Host::new());
    host.write("m/1.json", &widget_definition("warned.test"));
    host.write(
        "m/2.yaml",
        "apiVersion: warned.test/v1\nkind: Widget\nmetadata: {name: w}\nstatus: {phase: Given}\n",
    );
    let output = succeed(create(&plane, &host, &["m"]).env("OC", host.warning_oc(&plane.oc())));
    assert!(output.contains("created 2 of 2"), "{output}");
    assert_eq!(output.matches("no such cgroup").count(), 1, "said, and said once: {output}");
    assert_eq!(plane.get(&["widgets.warned.test", "w"])["status"], json!({"phase": "Given"}));
}

#[test]
fn wrong_arguments_are_told() {
    let host = Host::new();
    for (arguments, said) in [
        (vec!["--kubeconfig", "k"], "no file or folder given"),
        (vec!["m"], "--kubeconfig is missing"),
        (vec!["--kubeconfig", "k", "--twice", "m"], "unknown option --twice"),
        (vec!["--kubeconfig", "k", "--state-dir", "state", "nowhere"], "there is no nowhere"),
    ] {
        let (success, output) = run(host.script("create-manifests.sh").args(&arguments));
        assert!(!success && output.contains(said), "{arguments:?}: {output}");
    }
}
