//! Steps of day two on a real API server. Operators are not there: what they would roll out stays a wish, and undoing a step is
//! compared field by field.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use hardway_testing::{ControlPlane, NEW_KEY, Work, self_signed, succeed};
use serde_json::{Value, json};

use crate::work;

const NAMESPACES: [&str; 6] = [
    "openshift-config",
    "openshift-image-registry",
    "openshift-ingress",
    "openshift-ingress-operator",
    "openshift-monitoring",
    "openshift-user-workload-monitoring",
];

const KINDS: [(&str, &str, &str, &str); 8] = [
    ("config.openshift.io", "APIServer", "apiservers", "Cluster"),
    ("config.openshift.io", "OAuth", "oauths", "Cluster"),
    ("config.openshift.io", "Proxy", "proxies", "Cluster"),
    ("imageregistry.operator.openshift.io", "Config", "configs", "Cluster"),
    ("machineconfiguration.openshift.io", "MachineConfig", "machineconfigs", "Cluster"),
    ("machineconfiguration.openshift.io", "MachineConfigPool", "machineconfigpools", "Cluster"),
    ("operator.openshift.io", "IngressController", "ingresscontrollers", "Namespaced"),
    ("user.openshift.io", "User", "users", "Cluster"),
];

const DAY_TWO: &str = "
day2:
  identity:
    admin: alice
    htpasswd: {users: [{name: alice, passwordFile: given/alice}]}
  certificates:
    api: {certificateFile: given/api.crt, keyFile: given/api.key}
    ingress: {certificateFile: given/apps.crt, keyFile: given/apps.key}
  trust: {bundleFile: given/ca.crt}
  proxy: {httpProxy: 'http://proxy.example.com:3128', httpsProxy: 'http://proxy.example.com:3128'}
  time: {servers: [ntp1.example.com, ntp2.example.com]}
  sshKeys: {file: given/keys}
  pullSecret: {file: given/pull.json}
  registry: {sizeGiB: 100}
  monitoring: {sizeGiB: 50, userWorkloads: true}
";

struct Site {
    plane: ControlPlane,
    folder: Work,
}

impl Site {
    fn new() -> Self {
        let mut plane = ControlPlane::start();
        plane.kill_api_server();
        let tokens = plane.folder().join("tokens.csv");
        fs_err::write(&tokens, "alices-token-that-is-long,alice,1\nbobs-token-that-is-long,bob,2\n").unwrap();
        let tokens = format!("--token-auth-file={}", tokens.display());
        // Nobody here would take the finalizer off a claim.
        let flags = ["--disable-admission-plugins=StorageObjectInUseProtection", &tokens];
        plane.start_api_server_with(&flags, &plane.kubeconfig());
        let folder = work::made().with_real_clock().from_outside();
        work::lead_to(&folder, &plane);
        give(&folder);
        let site = Self { plane, folder };
        site.play();
        site
    }

    /// As after an install.
    fn play(&self) {
        for (group, kind, plural, scope) in KINDS {
            self.plane.apply(&crd(group, kind, plural, scope));
            let waited = format!("crd/{plural}.{group}");
            succeed(self.plane.kubectl().args([
                "wait",
                "--for=condition=Established",
                "--timeout=120s",
                &waited,
            ]));
        }
        for name in NAMESPACES {
            self.plane.apply(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}));
        }
        let config = "config.openshift.io/v1";
        let object = |api: &str, kind: &str, metadata: Value, spec: Value| {
            self.plane.apply(&json!({"apiVersion": api, "kind": kind, "metadata": metadata, "spec": spec}));
        };
        let cluster = || json!({"name": "cluster"});
        object(config, "OAuth", cluster(), json!({}));
        object(config, "APIServer", cluster(), json!({"audit": {"profile": "Default"}}));
        object(config, "Proxy", cluster(), json!({"noProxy": ".example.com"}));
        let removed = json!({"managementState": "Removed", "replicas": 2, "storage": {"emptyDir": {}}});
        object("imageregistry.operator.openshift.io/v1", "Config", cluster(), removed);
        let place = json!({"namespace": "openshift-ingress-operator", "name": "default"});
        object("operator.openshift.io/v1", "IngressController", place, json!({"replicas": 2}));
        for pool in ["master", "worker"] {
            let role = format!("node-role.kubernetes.io/{pool}");
            let spec = json!({"nodeSelector": {"matchLabels": {role: ""}}});
            object("machineconfiguration.openshift.io/v1", "MachineConfigPool", json!({"name": pool}), spec);
        }
        for (name, role) in [("m-0", "master"), ("w-0", "worker"), ("w-1", "worker")] {
            let labels = json!({format!("node-role.kubernetes.io/{role}"): ""});
            self.plane.apply(
                &json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}),
            );
        }
        let secret = |namespace: &str, name: &str, kind: &str, data: Value| {
            let metadata = json!({"namespace": namespace, "name": name});
            self.plane.apply(&json!({"apiVersion": "v1", "kind": "Secret", "type": kind, "metadata": metadata, "data": data}));
        };
        let old = json!({".dockerconfigjson": "e30="});
        secret("openshift-config", "pull-secret", "kubernetes.io/dockerconfigjson", old);
        secret("kube-system", "kubeadmin", "Opaque", json!({"kubeadmin": "aGFzaA=="}));
    }

    /// Everything that people or steps write, without what the server writes.
    fn all(&self) -> BTreeMap<String, Value> {
        let mut all = BTreeMap::new();
        let own = KINDS.map(|(group, _, plural, _)| format!("{plural}.{group}"));
        let built_in = ["secrets", "configmaps", "persistentvolumeclaims", "clusterrolebindings"];
        for kind in own.iter().map(String::as_str).chain(built_in) {
            for item in self.plane.get(&[kind, "-A"])["items"].as_array().unwrap() {
                let mut item = item.clone();
                item.as_object_mut().unwrap().remove("status");
                let metadata = item["metadata"].as_object_mut().unwrap();
                let name = format!("{kind} {:?} {}", metadata.get("namespace"), metadata["name"]);
                for key in ["managedFields", "resourceVersion", "generation", "uid", "creationTimestamp"] {
                    metadata.remove(key);
                }
                all.insert(name, item);
            }
        }
        all
    }
}

fn crd(group: &str, kind: &str, plural: &str, scope: &str) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{group}")},
        "spec": {
            "group": group, "scope": scope,
            "names": {"kind": kind, "plural": plural, "singular": kind.to_lowercase()},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "x-kubernetes-preserve-unknown-fields": true,
            }}}],
        },
    })
}

/// What the settings name.
fn give(folder: &Work) {
    let inventory = folder.read("inventory.yaml");
    folder.write("inventory.yaml", inventory + DAY_TWO);
    folder.write("given/alice", "correct horse battery staple");
    folder.write("given/pull.json", r#"{"auths": {"quay.io": {"auth": "dXNlcjpwYXNz"}}}"#);
    let key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ3Ck7pBvDl8mQyUYnpCTyTp0VYbq2nCTfEbTDh6Hn2d alice\n";
    folder.write("given/keys", key);
    let domain = work::cluster(folder).domain();
    let given = folder.path("given");
    self_signed(&given, "ca", "DNS:ca");
    leaf(&given, "api", &format!("DNS:api.{domain}"));
    leaf(&given, "apps", &format!("DNS:*.apps.{domain}"));
}

fn leaf(folder: &Path, name: &str, names: &str) {
    let mut openssl = Command::new("openssl");
    openssl
        .current_dir(folder)
        .args(["req", "-x509", "-days", "2", "-CA", "ca.crt", "-CAkey", "ca.key"])
        .args(NEW_KEY);
    openssl.args(["-subj", &format!("/CN={name}"), "-addext", &format!("subjectAltName={names}")]);
    openssl.args(["-addext", "basicConstraints=critical,CA:FALSE"]);
    succeed(openssl.args(["-keyout", &format!("{name}.key"), "-out", &format!("{name}.crt")]));
}

#[test]
fn real_steps_of_day_two_are_planned_applied_once_and_undone_to_the_last_field() {
    let site = Site::new();
    let Site { plane, folder } = &site;
    let before = site.all();
    let steps = [
        "trust",
        "proxy",
        "time",
        "ssh-keys",
        "pull-secret",
        "identity",
        "certificates",
        "registry",
        "monitoring",
    ];
    for step in steps {
        let plan = folder.ok(&["day2", "plan", step, "-o", "json"]);
        assert_eq!(site.all(), before, "{step}: a plan changes nothing");
        assert!(!folder.exists(&format!("day2/{step}")), "{step}");
        let planned = plan.json();
        let kinds: Vec<&Value> =
            planned["objects"].as_array().unwrap().iter().map(|one| &one["planned"]).collect();
        assert!(kinds.iter().all(|kind| **kind == "created" || **kind == "changed"), "{step}: {kinds:?}");
        if ["proxy", "time"].contains(&step) {
            assert_eq!(planned["nodes"]["effect"], "reboots", "{step}");
            let worker = &planned["nodes"]["pools"][1];
            assert_eq!((&worker["pool"], &worker["atOnce"]), (&json!("worker"), &json!(1)), "{step}");
            assert_eq!(worker["nodes"].as_array().unwrap().len(), 2, "{step}");
            let ran = folder.run(&["day2", "apply", step]).expect(9);
            ran.says("reboots nodes: nothing was changed");
            assert_eq!(site.all(), before, "{step}");
        }
        folder.ok(&["day2", "apply", step, "--yes"]);
        let applied = site.all();
        assert_ne!(applied, before, "{step}");
        assert!(folder.exists(&format!("day2/{step}/README.md")), "{step}");
        if step == "identity" {
            assert_eq!(folder.mode("day2/identity/secret/secret-day2-htpasswd.yaml"), 0o600);
        }
        folder.ok(&["day2", "apply", step, "--yes"]).says("nothing to change");
        assert_eq!(site.all(), applied, "{step}: twice is once");
        let row = folder.ok(&["day2", "list", "-o", "json"]).json()["steps"]
            .as_array()
            .unwrap()
            .iter()
            .find(|row| row["step"] == step)
            .unwrap()
            .clone();
        assert_eq!(row["state"], "applied");
        folder.ok(&["day2", "undo", step, "--dry-run"]);
        folder.ok(&["day2", "undo", step, "--yes"]);
        assert!(!folder.exists(&format!("day2/{step}/secret")), "{step}: a secret that nobody needs");
        let after = site.all();
        for (name, object) in &before {
            assert_eq!(after.get(name), Some(object), "{step}");
        }
        assert_eq!(after.len(), before.len(), "{step}: {:?}", after.keys().collect::<Vec<_>>());
        folder.ok(&["day2", "undo", step, "--yes"]).says("nothing to undo");
    }

    // Killed somewhere, then on, then back.
    let mut run = folder.start(&["day2", "apply", "monitoring"]);
    run.until_said("cluster-monitoring-config: applied");
    drop(run);
    folder.ok(&["day2", "apply", "monitoring"]);
    // As if it had been killed between two objects: one is not there yet, and the journal does not say that it was done.
    succeed(plane.kubectl().args([
        "delete",
        "configmap",
        "-n",
        NAMESPACES[5],
        "user-workload-monitoring-config",
    ]));
    let journal = folder.read("journal.jsonl");
    let end = journal.trim_end().rfind('\n').unwrap() + 1;
    assert!(journal[end..].contains("day2-applied"), "{journal}");
    folder.write("journal.jsonl", &journal[..end]);
    folder.ok(&["day2", "apply", "monitoring"]);
    folder.ok(&["day2", "undo", "monitoring", "--yes"]);
    assert_eq!(site.all(), before);

    // Somebody else's login is not overwritten without a word, and comes back.
    let theirs = json!([{"name": "theirs", "type": "HTPasswd", "mappingMethod": "claim", "htpasswd": {"fileData": {"name": "x"}}}]);
    let oauth = json!({"apiVersion": "config.openshift.io/v1", "kind": "OAuth", "metadata": {"name": "cluster"}, "spec": {"identityProviders": theirs}});
    plane.apply(&oauth);
    folder.run(&["day2", "apply", "identity"]).expect(1).says("--take-over").says("nothing was changed");
    assert_eq!(plane.get(&["oauth", "cluster"])["spec"]["identityProviders"], theirs);
    folder.ok(&["day2", "apply", "identity", "--take-over"]);
    assert_eq!(plane.get(&["oauth", "cluster"])["spec"]["identityProviders"][0]["name"], "htpasswd");
    let checked = folder.ok(&["day2", "check", "identity"]).stdout;
    assert!(checked.contains("alice has not logged in yet"), "{checked}");
    // What is changed by hand is seen.
    succeed(plane.kubectl().args(["delete", "clusterrolebinding", "day2-cluster-admin"]));
    folder.run(&["day2", "check", "identity"]).expect(1).says("error[day2-unmet]").says("day2-cluster-admin");
    folder.ok(&["day2", "undo", "identity", "--yes"]);
    assert_eq!(plane.get(&["oauth", "cluster"])["spec"]["identityProviders"], theirs);
}

#[test]
fn real_kubeadmin_goes_only_when_the_administrator_has_logged_in() {
    let site = Site::new();
    let Site { plane, folder } = &site;
    let token = |text: &str| folder.write("given/token", text);
    let file = folder.path("given/token").display().to_string();
    let gone = ["day2", "apply", "kubeadmin-gone", "--token-file", &file];
    let is_there = || !plane.get(&["secret", "-n", "kube-system", "kubeadmin"]).is_null();
    let held = |said: &str| {
        folder.run(&gone).expect(9).says(said);
        assert!(is_there());
    };

    folder
        .run(&["day2", "apply", "kubeadmin-gone", "--yes"])
        .expect(9)
        .says("nobody has shown that alice can log in");
    token("no-token-at-all");
    held("the token does not work");
    token("bobs-token-that-is-long");
    held("the token belongs to bob, but day2.identity.admin is alice");
    token("alices-token-that-is-long\n");
    held("alice has not logged in through htpasswd");
    let user = |identities: Value| {
        plane.apply(&json!({"apiVersion": "user.openshift.io/v1", "kind": "User", "metadata": {"name": "alice"}, "identities": identities}));
    };
    user(json!(["somebody-else:alice"]));
    held("alice has not logged in through htpasswd");
    user(json!(["htpasswd:alice"]));
    held("alice is not cluster-admin");
    folder.ok(&["day2", "apply", "identity"]);
    held("this cannot be undone");
    folder.ok(&[&gone[..], &["--yes"]].concat()).says("no longer works");
    assert!(!is_there());
    folder.ok(&[&gone[..], &["--yes"]].concat()).says("gone already");
    folder.ok(&["day2", "check", "kubeadmin-gone"]);
    folder.run(&["day2", "undo", "kubeadmin-gone", "--yes"]).expect(9).says("cannot be undone");
    let said = folder.read("journal.jsonl");
    assert!(!said.contains("alices-token") && !said.contains("aGFzaA"), "{said}");
}

#[test]
fn mistakes_in_settings_and_their_files_are_told_at_their_lines() {
    let folder = work::made();
    give(&folder);
    folder.edit("inventory.yaml", "admin: alice", "admin: kubeadmin");
    folder.edit("inventory.yaml", "servers: [ntp1.example.com, ntp2.example.com]", "servers: ['a b']");
    folder
        .refused(3, &["day2", "list"])
        .says("day2.identity.admin: Invalid value: \"kubeadmin\": is the first user, who is meant to go")
        .says("day2.time.servers[0]: Invalid value: \"a b\": must be a name or an address, and nothing else")
        .says("hardway explain day2.time.servers");
}
