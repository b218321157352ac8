//! MachineConfigs: what the machine-config-operator refuses (`pkg/controller/common`), and what two of them cannot both have.

use std::collections::BTreeMap;

use hardway_assets::violation::FieldErrorKind;
use serde_json::Value;

use crate::manifest_object::ManifestObject;
use crate::references::Found;
use crate::values::near_word;
use crate::{FieldPath, Mistake, Severity, ignition};

const ROLE: &str = "machineconfiguration.openshift.io/role";

/// Everything wrong with the MachineConfigs among these objects, and between them.
pub(crate) fn check(objects: &[ManifestObject<'_>], newest_ignition: Option<u32>) -> Vec<Found> {
    let mut found = Vec::new();
    let configs: Vec<(usize, &ManifestObject<'_>)> = objects
        .iter()
        .enumerate()
        .filter(|(_, object)| {
            object.text_at("/kind") == "MachineConfig"
                && object.text_at("/apiVersion").starts_with("machineconfiguration.openshift.io/")
        })
        .collect();
    for (index, object) in &configs {
        found.extend(
            alone(object, newest_ignition).into_iter().map(|(severity, mistake)| (*index, severity, mistake)),
        );
    }
    for (index, object) in objects.iter().enumerate() {
        found.extend(kubelet_config(object).into_iter().map(|mistake| (index, Severity::Error, mistake)));
    }
    found.extend(paths_owned_twice(&configs));
    found.extend(arguments_that_exclude_each_other(&configs));
    found
}

/// What the machine-config-daemon takes on RHCOS (`pkg/daemon`).
const EXTENSIONS: [&str; 8] = [
    "ipsec",
    "kerberos",
    "kernel-devel",
    "sandboxed-containers",
    "sysstat",
    "two-node-ha",
    "usbguard",
    "wasm",
];

fn alone(object: &ManifestObject<'_>, newest_ignition: Option<u32>) -> Vec<(Severity, Mistake)> {
    let spec = FieldPath::of(&["spec"]);
    let mut found = Vec::new();
    if role(object).is_empty() && !object.text_at("/metadata/name").starts_with("rendered-") {
        let path = FieldPath::of(&["metadata", "labels"]);
        let detail = format!("without the label {ROLE} no pool uses it");
        found.push((Severity::Warning, Mistake::new(&path, FieldErrorKind::Required, detail)));
    }
    let kernel = object.text_at("/spec/kernelType");
    if !["", "default", "realtime", "64k-pages"].contains(&kernel) {
        let detail = "supported values: \"default\", \"realtime\", \"64k-pages\"";
        let mistake =
            Mistake::new(&spec.field("kernelType"), FieldErrorKind::Unsupported, detail).of(&kernel.into());
        found.push((Severity::Error, mistake));
    }
    for (index, extension) in list(&object.value, "/spec/extensions").iter().enumerate() {
        let Some(name) = extension.as_str().filter(|name| !EXTENSIONS.contains(name)) else { continue };
        let detail =
            "is no extension of RHCOS that is known; nodes reject a config with one that they do not have";
        let path = spec.field("extensions").index(index);
        let mistake = Mistake::new(&path, FieldErrorKind::Unsupported, detail).of(&name.into());
        let near = near_word(name, EXTENSIONS.into_iter());
        let mistake = near.map_or(mistake.clone(), |near| mistake.fix(format!("did you mean {near:?}?")));
        found.push((Severity::Warning, mistake));
    }
    if let Some(config) = object.value.pointer("/spec/config").filter(|config| !config.is_null()) {
        found.extend(ignition::check(config, &spec.field("config"), newest_ignition));
        found.extend(beyond_the_operator(config, &spec.field("config")));
    }
    found
}

/// What a KubeletConfig may not set (machine-config-operator `pkg/controller/kubelet-config`): nodes would not come back.
const KUBELET_BANNED: [&str; 5] =
    ["cgroupDriver", "clusterDNS", "clusterDomain", "runtimeRequestTimeout", "staticPodPath"];

fn kubelet_config(object: &ManifestObject<'_>) -> Vec<Mistake> {
    let is_it = object.text_at("/kind") == "KubeletConfig"
        && object.text_at("/apiVersion").starts_with("machineconfiguration.openshift.io/");
    let Some(config) = object.value.pointer("/spec/kubeletConfig").filter(|_| is_it) else {
        return Vec::new();
    };
    let is_set = |field: &&&str| {
        config
            .get(**field)
            .is_some_and(|value| !value.is_null() && *value != "" && *value != serde_json::json!([]))
    };
    let mistake = |field: &&str| {
        let path = FieldPath::of(&["spec", "kubeletConfig"]).field(field);
        let detail = "the machine-config-operator rejects a KubeletConfig that sets it";
        Mistake::new(&path, FieldErrorKind::Forbidden, detail).fix("remove the field")
    };
    KUBELET_BANNED.iter().filter(is_set).map(mistake).collect()
}

/// Ignition writes it at the first boot, and whoever changes it later stops the pool (machine-config-daemon `reconcilable`).
fn beyond_the_operator(config: &Value, path: &FieldPath) -> Vec<(Severity, Mistake)> {
    let mut found = Vec::new();
    for (index, user) in list(config, "/passwd/users").iter().enumerate() {
        if user.get("name").and_then(Value::as_str).is_some_and(|name| name != "core") {
            let path = path.field("passwd").field("users").index(index).field("name");
            let detail = "the machine-config-operator only manages the user core, and rejects others";
            found.push((
                Severity::Error,
                Mistake::new(&path, FieldErrorKind::Unsupported, detail).of(&user["name"]),
            ));
        }
    }
    found
}

fn list<'o>(value: &'o Value, pointer: &str) -> &'o [Value] {
    value.pointer(pointer).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn role<'o>(object: &'o ManifestObject<'_>) -> &'o str {
    object
        .value
        .pointer("/metadata/labels")
        .and_then(|labels| labels.get(ROLE))
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// The last by name wins, and the other's content is nowhere.
fn paths_owned_twice(configs: &[(usize, &ManifestObject<'_>)]) -> Vec<Found> {
    let mut owners: BTreeMap<(&str, &str), &ManifestObject<'_>> = BTreeMap::new();
    let mut found = Vec::new();
    for (index, object) in configs {
        for (number, file) in list(&object.value, "/spec/config/storage/files").iter().enumerate() {
            let Some(path) = file.get("path").and_then(Value::as_str) else { continue };
            let key = (role(object), path);
            match owners.get(&key) {
                Some(other) if other.name() != object.name() => {
                    let names = [other.text_at("/metadata/name"), object.text_at("/metadata/name")];
                    let winner = names.iter().max().copied().unwrap_or_default();
                    let place =
                        FieldPath::of(&["spec", "config", "storage", "files"]).index(number).field("path");
                    let detail =
                        format!("{} has this file too; only the one of {winner} is written", other.name());
                    found.push((
                        *index,
                        Severity::Warning,
                        Mistake::new(&place, FieldErrorKind::Duplicate, detail).of(&path.into()),
                    ));
                }
                Some(_) => {}
                None => {
                    owners.insert(key, object);
                }
            }
        }
    }
    found
}

/// Arguments of which the kernel knows one value.
const SINGLE: [&str; 18] = [
    "amd_iommu",
    "audit",
    "default_hugepagesz",
    "enforcing",
    "fips",
    "intel_iommu",
    "iommu",
    "ipv6.disable",
    "isolcpus",
    "mitigations",
    "nohz_full",
    "nosmt",
    "psi",
    "rcu_nocbs",
    "selinux",
    "systemd.unified_cgroup_hierarchy",
    "transparent_hugepage",
    "tuned.non_isolcpus",
];

fn arguments_that_exclude_each_other(configs: &[(usize, &ManifestObject<'_>)]) -> Vec<Found> {
    let mut seen: BTreeMap<(&str, &str), (&str, String)> = BTreeMap::new();
    let mut found = Vec::new();
    for (index, object) in configs {
        for (number, argument) in list(&object.value, "/spec/kernelArguments").iter().enumerate() {
            for word in argument.as_str().unwrap_or_default().split_whitespace() {
                let (key, value) = word.split_once('=').unwrap_or((word, ""));
                if !SINGLE.contains(&key) {
                    continue;
                }
                match seen.get(&(role(object), key)) {
                    Some((other, whose)) if *other != value => {
                        let path = FieldPath::of(&["spec", "kernelArguments"]).index(number);
                        let detail =
                            format!("{whose} sets {key}={other}, and the kernel uses only one of them");
                        found.push((
                            *index,
                            Severity::Error,
                            Mistake::new(&path, FieldErrorKind::Invalid, detail).of(argument),
                        ));
                    }
                    Some(_) => {}
                    None => {
                        seen.insert((role(object), key), (value, object.name()));
                    }
                }
            }
        }
    }
    found
}
