//! The recipes of `deploy/`, rendered by kustomize and taken by a real API server.

mod by_hand;

use std::path::{Path, PathBuf};
use std::process::Command;

use hardway_testing::{ControlPlane, feed, succeed};
use serde_json::{Value, json};
use tempfile::TempDir;

const RECIPES: [&str; 4] = ["approver", "hosted/hosted-cluster", "hosted/management", "ignition-server"];

/// What else may run beside ours: the control plane of a hosted cluster as HyperShift labels it, whatever an administrator put there, and
/// pods of other recipes of ours.
const OTHERS: &[(&str, &[(&str, &str)])] = &[
    ("etcd-0", &[("app", "etcd"), ("hypershift.openshift.io/control-plane-component", "etcd")]),
    (
        "kube-apiserver-0",
        &[("app", "kube-apiserver"), ("hypershift.openshift.io/hosted-control-plane", "clusters-demo")],
    ),
    ("ignition-server-0", &[("app", "ignition-server")]),
    ("nothing-on-it", &[]),
    ("of-another-instance", &[("app.kubernetes.io/name", "hardway"), ("app", "hardway")]),
    ("of-the-approver", &[("app", "hardway-approver-of-others")]),
];

/// Each selector selects our pods, all of them, and only them.
#[test]
fn real_selectors_select_our_pods_and_only_ours() {
    let plane = ControlPlane::start();
    let folder = copied();
    for namespace in ["clusters", "clusters-demo"] {
        succeed(plane.kubectl().args(["create", "namespace", namespace]));
    }
    let mut own = Vec::new();
    let mut objects = Vec::new();
    for recipe in RECIPES {
        let rendered = succeed(plane.kubectl().arg("kustomize").arg(folder.path().join(recipe)));
        feed(plane.kubectl().args(["apply", "--server-side", "--validate=strict", "-f", "-"]), &rendered);
        let documents = hardway_assets::yaml::read_all(&rendered).unwrap();
        let documents: Vec<Value> = documents.iter().map(hardway_assets::yaml::Node::to_json).collect();
        for deployment in documents.iter().filter(|object| object["kind"] == "Deployment") {
            own.push(pod_of(&plane, deployment));
        }
        objects.extend(documents.into_iter().map(|object| (recipe, object)));
    }
    assert_eq!(own.len(), 3, "a Deployment each, but for the rights in the hosted cluster");
    for (namespace, _) in &own {
        // Ours keep to it; others need not.
        let any = "pod-security.kubernetes.io/enforce=privileged";
        succeed(plane.kubectl().args(["label", "--overwrite", "namespace", namespace, any]));
        let others = OTHERS.iter().map(|(name, labels)| {
            let labels: Value = labels.iter().map(|(key, value)| ((*key).to_owned(), json!(value))).collect();
            pod(namespace, name, &labels, &json!({"containers": [{"name": "x", "image": "x"}]}))
        });
        plane.apply(&json!({"apiVersion": "v1", "kind": "List", "items": others.collect::<Vec<_>>()}));
    }
    let mut looked = 0;
    for (recipe, object) in &objects {
        for (place, selector) in selectors(object) {
            let namespace = object["metadata"]["namespace"].as_str().unwrap();
            let what = format!("{recipe}: {} {place}", object["kind"]);
            let selected = selected(&plane, namespace, &selector);
            let ours: Vec<String> =
                own.iter().filter(|(of, _)| of == namespace).map(|(_, name)| name.clone()).collect();
            assert_eq!(selected, ours, "{what}: {selector}");
            looked += 1;
        }
    }
    // ignition-server: Deployment, spread, Service, budget, policy; hosted: Deployment, spread, policy; approver: Deployment, affinity.
    assert_eq!(looked, 10, "a selector that nobody looked at");
}

/// Nothing that lives for long is mounted, and nobody is told to make such a thing.
#[test]
fn tokens_are_short_lived() {
    let folder = copied();
    for recipe in RECIPES {
        let rendered = kustomize(&folder.path().join(recipe));
        for object in &rendered {
            let text = object.to_string();
            assert!(!text.contains("kubernetes.io/service-account-token"), "{recipe}: {text}");
            let volumes = &object["spec"]["template"]["spec"]["volumes"];
            for source in volumes
                .as_array()
                .into_iter()
                .flatten()
                .flat_map(|volume| volume["projected"]["sources"].as_array().cloned().unwrap_or_default())
            {
                if let Some(seconds) = source["serviceAccountToken"]["expirationSeconds"].as_u64() {
                    assert!(seconds <= 3600, "{recipe}: {source}");
                }
            }
            // What is mounted automatically is given a year by API servers, whatever it says.
            if object["kind"] == "Deployment" {
                let spec = &object["spec"]["template"]["spec"];
                assert_eq!(spec["automountServiceAccountToken"], false, "{recipe}");
                assert!(text.contains(r#""expirationSeconds":3600"#), "{recipe}");
            }
            if object["kind"] == "ServiceAccount" {
                assert_eq!(object["automountServiceAccountToken"], false, "{recipe}");
            }
        }
    }
    let deploy = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy");
    let (_, said) = hardway_testing::run(
        Command::new("grep").args(["-rniE", "create token|--duration|8760h"]).arg(&deploy),
    );
    assert_eq!(said, "", "a token by hand");
}

/// What is written for `demo` is printed for any hosted cluster, and nothing of `demo` stays.
#[test]
fn hosted_recipes_are_printed_for_any_cluster() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/hosted/render.sh");
    let tools = hardway_testing::tools(&["kubectl"]);
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap());
    let render = |words: &[&str]| {
        let mut command = Command::new(&script);
        command.args(words).env("PATH", &path);
        command
    };
    for (part, kinds) in [("management", 7), ("hosted-cluster", 3), ("monitoring", 3)] {
        let rendered = succeed(&mut render(&[
            part,
            "guest",
            "tenants",
            "pool-a",
            "logins",
            "registry.example.com/hardway:1",
        ]));
        let names = rendered.replace("hostedclusters", "");
        assert!(!names.contains("demo") && !names.contains("clusters"), "{part}: {names}");
        let objects = hardway_assets::yaml::read_all(&rendered).unwrap();
        assert!(objects.len() >= kinds, "{part}: {} objects", objects.len());
        for object in objects.iter().map(hardway_assets::yaml::Node::to_json) {
            let namespace = object["metadata"]["namespace"].as_str().unwrap_or_default();
            let known = ["", "tenants", "tenants-guest", "default", "kube-system", "pool-a-upgrade"];
            assert!(known.contains(&namespace), "{part}: {object}");
        }
    }
    for bad in [&["management"][..], &["nothing", "guest"], &["management", "Guest"], &["management", "a/b"]]
    {
        let refused = render(bad).output().unwrap();
        assert_eq!(refused.status.code(), Some(2), "{bad:?}");
    }
}

/// With the one file that a person makes.
fn copied() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let deploy = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/.");
    succeed(Command::new("cp").arg("-r").arg(deploy).arg(folder.path()));
    std::fs::write(folder.path().join("approver/declared.yaml"), "{}\n").unwrap();
    folder
}

fn kustomize(folder: &Path) -> Vec<Value> {
    let kubectl: PathBuf = hardway_testing::tools(&["kubectl"]).join("kubectl");
    let rendered = succeed(Command::new(kubectl).arg("kustomize").arg(folder));
    hardway_assets::yaml::read_all(&rendered)
        .unwrap()
        .iter()
        .map(hardway_assets::yaml::Node::to_json)
        .collect()
}

/// Makes the pod that a Deployment would, and gives its namespace and name.
fn pod_of(plane: &ControlPlane, deployment: &Value) -> (String, String) {
    let (metadata, template) = (&deployment["metadata"], &deployment["spec"]["template"]);
    let [namespace, name] = ["namespace", "name"].map(|part| metadata[part].as_str().unwrap().to_owned());
    let mut spec = template["spec"].clone();
    // Whether its priority class is there is OpenShift's business.
    spec.as_object_mut().unwrap().remove("priorityClassName");
    plane.apply(&pod(&namespace, &name, &template["metadata"]["labels"], &spec));
    (namespace, name)
}

fn pod(namespace: &str, name: &str, labels: &Value, spec: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "spec": spec,
        "metadata": {"name": name, "namespace": namespace, "labels": labels}})
}

/// Every selector of pods in an object, and where it stands.
fn selectors(object: &Value) -> Vec<(&'static str, Value)> {
    let mut found = Vec::new();
    match object["kind"].as_str().unwrap() {
        "Service" => found.push(("spec.selector", json!({"matchLabels": object["spec"]["selector"]}))),
        "PodDisruptionBudget" => found.push(("spec.selector", object["spec"]["selector"].clone())),
        "NetworkPolicy" => {
            found.push(("spec.podSelector", object["spec"]["podSelector"].clone()));
            let peers = object["spec"].to_string().matches("Selector").count();
            assert_eq!(peers, 1, "a peer: say here whom it may select");
        }
        "Deployment" => {
            let spec = &object["spec"]["template"]["spec"];
            found.push(("spec.selector", object["spec"]["selector"].clone()));
            for spread in spec["topologySpreadConstraints"].as_array().into_iter().flatten() {
                found.push(("topologySpreadConstraints", spread["labelSelector"].clone()));
            }
            let terms =
                &spec["affinity"]["podAntiAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"];
            for term in terms.as_array().into_iter().flatten() {
                found.push(("podAntiAffinity", term["podAffinityTerm"]["labelSelector"].clone()));
            }
        }
        "ConfigMap" | "ServiceAccount" | "Role" | "RoleBinding" | "ClusterRole" | "ClusterRoleBinding"
        | "Namespace" => {}
        other => panic!("{other}: does it select anything?"),
    }
    found
}

/// The names of pods that a selector selects, as the API server sees it. An empty one selects all.
fn selected(plane: &ControlPlane, namespace: &str, selector: &Value) -> Vec<String> {
    let labels = selector["matchLabels"].as_object().cloned().unwrap_or_default();
    assert!(selector.get("matchExpressions").is_none(), "{selector}");
    let labels: Vec<String> =
        labels.iter().map(|(key, value)| format!("{key}={}", value.as_str().unwrap())).collect();
    let pods = plane.get(&["pods", "-n", namespace, "-l", &labels.join(",")]);
    pods["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|pod| pod["metadata"]["name"].as_str().unwrap().to_owned())
        .collect()
}
