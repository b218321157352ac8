//! The same objects as openshift-install 4.18 makes of one install-config, where its output is at hand.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use hardway_testing::real_data;

use super::World;
use crate::yaml;

/// `[{file: [object]}]`, with random values masked. Not part of the project.
const SAMPLE: &str = "openshift-install-4.18-prod1.json";

/// What openshift-install writes and we do not: the file, the place, and what stands there. `*` is every file.
const OMITTED: [(&str, &str, &str); 14] = [
    ("*", "/metadata/creationTimestamp", "null"),
    ("cluster-dns-02-config.yml", "/spec/platform/aws", "null"),
    ("cluster-dns-02-config.yml", "/status", "{}"),
    (
        "cluster-network-02-config.yml",
        "/spec/networkDiagnostics",
        r#"{"mode":"","sourcePlacement":{"nodeSelector":null,"tolerations":null},"targetPlacement":{"nodeSelector":null,"tolerations":null}}"#,
    ),
    ("cluster-network-02-config.yml", "/status", "{}"),
    ("cluster-proxy-01-config.yaml", "/status", "{}"),
    ("cluster-scheduler-02-config.yml", "/spec/profileCustomizations", r#"{"dynamicResourceAllocation":""}"#),
    ("cluster-scheduler-02-config.yml", "/status", "{}"),
    ("-ssh.yaml", "/spec/baseOSExtensionsContainerImage", r#""""#),
    ("-ssh.yaml", "/spec/extensions", "null"),
    ("-ssh.yaml", "/spec/fips", "false"),
    ("-ssh.yaml", "/spec/kernelArguments", "null"),
    ("-ssh.yaml", "/spec/kernelType", r#""""#),
    ("-ssh.yaml", "/spec/osImageURL", r#""""#),
];

/// The install-config that the sample was made from.
fn prod1() -> World {
    let mut world = World::new();
    let config = &mut world.cluster.config;
    config.base_domain = "corp.example".to_owned();
    config.metadata.name = "prod1".to_owned();
    config.networking.cluster_network[0].cidr = "10.132.0.0/14".parse().unwrap();
    config.networking.machine_network[0].cidr = "10.20.30.0/24".parse().unwrap();
    config.networking.service_network[0] = "172.31.0.0/16".parse().unwrap();
    config.ssh_key =
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGf1Zt0nHxq0V6c0q1mZs4rN2n9vQy0b3cYk8u6i2J5d admin@corp.example"
            .to_owned();
    world.cluster.identity.infra_id = "prod1-<rand5>".to_owned();
    world.cluster.identity.cluster_id = "<uuid>".to_owned();
    world
}

fn sample() -> Option<Value> {
    let file = std::fs::File::open(real_data(SAMPLE)?).unwrap();
    let text = std::io::read_to_string(file).unwrap();
    Some(serde_json::from_str::<Value>(&text).unwrap()["manifests"].clone())
}

#[test]
fn the_same_files_are_made() {
    let Some(sample) = sample() else { return };
    let theirs: BTreeSet<String> = sample.as_object().unwrap().keys().cloned().collect();
    let mut ours = BTreeSet::from_iter(prod1().paths());
    ours.remove("metadata.json");
    assert_eq!(ours, theirs);
}

#[test]
fn the_objects_mean_the_same() {
    let Some(sample) = sample() else { return };
    let tree = prod1().made();
    let mut used = BTreeSet::new();
    for (path, objects) in sample.as_object().unwrap() {
        let mut theirs = objects[0].clone();
        for (i, (file, pointer, value)) in OMITTED.iter().enumerate() {
            if (*file == "*" || path.ends_with(file)) && take(&mut theirs, pointer, value) {
                used.insert(i);
            }
        }
        let text = std::str::from_utf8(tree.get(path).unwrap()).unwrap();
        let ours = yaml::read(text).unwrap().to_json();
        assert_eq!(ours, settled(path, theirs, &ours), "{path}");
    }
    assert_eq!(used.len(), OMITTED.len(), "an omission that the sample does not have");
}

/// Takes a value away that is exactly the expected one.
fn take(object: &mut Value, pointer: &str, value: &str) -> bool {
    let value: Value = serde_json::from_str(value).unwrap();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let Some(Value::Object(parent)) = object.pointer_mut(parent) else { return false };
    if parent.get(key).is_some_and(|found| *found == value) {
        return parent.remove(key).is_some();
    }
    false
}

/// Their object with the masked values, and those that differ on purpose, taken from ours.
fn settled(path: &str, mut theirs: Value, ours: &Value) -> Value {
    if let Some(Value::Object(data)) = theirs.get_mut("data") {
        let is_mask = |value: &Value| value.as_str().is_some_and(|text| text.starts_with('<'));
        for (key, value) in data.iter_mut().filter(|(_, value)| is_mask(value)) {
            value.clone_from(&ours["data"][key]);
            assert_ne!(*value, json!(""), "{path}: {key}");
        }
    }
    match path {
        // Our own words; and the text is the same YAML, though folded otherwise.
        "manifests/cluster-config.yaml" => {
            let parsed = |object: &Value| {
                yaml::read(object["data"]["install-config"].as_str().unwrap()).unwrap().to_json()
            };
            assert_eq!(parsed(ours), parsed(&theirs));
            theirs["data"] = ours["data"].clone();
            theirs["metadata"]["annotations"] = ours["metadata"]["annotations"].clone();
        }
        // Theirs is filled in later, on the bootstrap host.
        "openshift/99_feature-gate.yaml" => {
            assert_eq!(theirs["status"], json!({"featureGates": null}));
            theirs["status"] = ours["status"].clone();
            theirs["metadata"]["annotations"] = ours["metadata"]["annotations"].clone();
        }
        "openshift/openshift-install-manifests.yaml" => {
            assert_eq!(ours["data"]["version"], concat!("hardway v", env!("CARGO_PKG_VERSION")));
            theirs["data"] = ours["data"].clone();
        }
        _ => {}
    }
    theirs
}
