//! Everything the two commands would stop at, looked for before they run.
//!
//! Their own words come late, one at a time, and do not name the file. The rules are those of the code named in each
//! comment (machine-config-operator, release-4.18 to main).

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hardway_assets::Phase;
use hardway_assets::release_payload::{ReleasePayload, VersionContract};
use hardway_assets::{Cluster, Tree};
use serde_json::Value;

use super::fault::{Faults, Problem, RenderFault};
use super::inputs::{CERTIFICATES, OPERATOR_FILES, base_name};
use super::objects::{self, FOLDERS, RenderedObject, is_manifest};
use super::{images, pools};

pub(super) const CONFIG_FILE: &str = "manifests/cluster-config.yaml";
pub(super) const PULL_SECRET: &str = "manifests/openshift-config-secret-pull-secret.yaml";
const INFRASTRUCTURE: &str = "manifests/cluster-infrastructure-02-config.yml";
const NETWORK: &str = "manifests/cluster-network-02-config.yml";
const USER_CA_BUNDLE: &str = "manifests/user-ca-bundle-config.yaml";
const FEATURE_GATE: &str = "openshift/99_feature-gate.yaml";
const CONFIG_GROUP: &str = "config.openshift.io";
/// Files that the operator reads by name, and the kind it expects in each.
const REQUIRED: [(&str, &str); 6] = [
    (CONFIG_FILE, "ConfigMap"),
    (INFRASTRUCTURE, "Infrastructure"),
    (NETWORK, "Network"),
    ("manifests/cluster-dns-02-config.yml", "DNS"),
    ("manifests/cluster-proxy-01-config.yaml", "Proxy"),
    (PULL_SECRET, "Secret"),
];

/// Checks a working directory. `Ok` means that both commands get what they ask for.
pub fn check(tree: &Tree, release: &ReleasePayload, cluster: &Cluster) -> Result<(), Faults> {
    let mut faults = Vec::new();
    let (objects, unreadable) = objects::read(tree);
    match VersionContract::new(&release.version).and_then(|version| version.supports().map(|()| version)) {
        Ok(version) => {
            faults.extend(images::check(release, &version));
            faults.extend(machine_configs(&objects, &version));
        }
        Err(error) => {
            faults.push(RenderFault::new("release/release-metadata", Problem::Version(error.to_string())));
        }
    }
    faults.extend(certificates(tree));
    faults.extend(required_files(tree, &objects, &unreadable));
    faults.extend(unreadable);
    faults.extend(same_names(tree, release, cluster));
    faults.extend(first(&objects, INFRASTRUCTURE).into_iter().flat_map(infrastructure));
    faults.extend(first(&objects, NETWORK).and_then(network));
    faults.extend(first(&objects, PULL_SECRET).into_iter().flat_map(pull_secret));
    faults.extend(user_ca_bundle(tree, &objects, cluster));
    faults.extend(feature_gate(&objects, &release.version));
    faults.extend(pools::check(&objects));
    faults.extend(
        objects
            .iter()
            .filter(|object| object.is(pools::GROUP, "ControllerConfig"))
            .map(|object| RenderFault::new(&object.path, Problem::MadeByOperator("ControllerConfig"))),
    );
    let tuned = objects.iter().filter(|object| object.is("performance.openshift.io", "PerformanceProfile"));
    faults.extend(tuned.map(|object| RenderFault::new(&object.path, Problem::PerformanceProfile)));
    if faults.is_empty() { Ok(()) } else { Err(Faults(faults)) }
}

/// The operator reads the first document of a file.
fn first<'o>(objects: &'o [RenderedObject], path: &str) -> Option<&'o RenderedObject> {
    objects.iter().find(|object| object.path == path)
}

fn certificates(tree: &Tree) -> Vec<RenderFault> {
    let fault = |path: &str| match tree.get(path) {
        None => Some(Problem::Missing { phase: Phase::MakePki }),
        Some(bytes) if !bytes.windows(27).any(|part| part == b"-----BEGIN CERTIFICATE-----") => {
            Some(Problem::Unexpected { expected: "PEM certificates".to_owned(), found: "none".to_owned() })
        }
        Some(_) => None,
    };
    CERTIFICATES
        .iter()
        .filter_map(|(path, _)| fault(path).map(|problem| RenderFault::new(path, problem)))
        .collect()
}

/// pkg/operator/bootstrap.go: every file is read at once, each must be of its kind.
fn required_files(tree: &Tree, objects: &[RenderedObject], unreadable: &[RenderFault]) -> Vec<RenderFault> {
    let mut faults = Vec::new();
    for (path, kind) in REQUIRED {
        let is_told = unreadable.iter().any(|fault| fault.file == path);
        match first(objects, path).map(RenderedObject::kind) {
            Some(found) if found != kind && !is_told => {
                let (expected, found) = (kind.to_owned(), found.to_owned());
                faults.push(RenderFault::new(path, Problem::Unexpected { expected, found }));
            }
            Some(_) => {}
            None if tree.get(path).is_none() => {
                faults.push(RenderFault::new(path, Problem::Missing { phase: Phase::MakeManifests }));
            }
            None if !is_told => {
                let (expected, found) = (kind.to_owned(), "no object".to_owned());
                faults.push(RenderFault::new(path, Problem::Unexpected { expected, found }));
            }
            None => {}
        }
    }
    faults
}

/// Both folders are copied into one, where the operator also writes.
fn same_names(tree: &Tree, release: &ReleasePayload, cluster: &Cluster) -> Vec<RenderFault> {
    let mut seen: BTreeMap<&str, String> = OPERATOR_FILES
        .iter()
        .chain(&["image-references"])
        .map(|name| (*name, "a file of the machine-config-operator".to_owned()))
        .collect();
    let policies = release.image_policies_of(&cluster.config);
    seen.extend(policies.iter().map(|policy| (policy.file_name.as_str(), "one of the release".to_owned())));
    let mut faults = Vec::new();
    for (path, _) in FOLDERS.iter().flat_map(|folder| tree.folder(folder)) {
        if let Some(other) = seen.insert(base_name(path), path.to_owned())
            && is_manifest(path)
        {
            faults.push(RenderFault::new(path, Problem::SameName { other }));
        }
    }
    faults
}

/// The URL goes into a template that stops at one without a scheme (pkg/controller/template/render.go `urlPort`).
fn infrastructure(object: &RenderedObject) -> Vec<RenderFault> {
    let (spec, status) = (&object.value["spec"], &object.value["status"]);
    let mut problems = Vec::new();
    if !is_text(&status["platformStatus"]["type"]) {
        let why = "the platform decides which node files there are";
        problems.push(Problem::Field { field: "status.platformStatus.type".to_owned(), why });
    }
    let url = status["apiServerInternalURI"].as_str().unwrap_or_default();
    if url.is_empty() && !status["apiServerInternalURL"].is_null() {
        problems.push(Problem::InternalUrlMisspelt);
    } else if !(url.starts_with("https://") || url.starts_with("http://")) {
        let why = "nodes reach the API by this URL, with its scheme";
        problems.push(Problem::Field { field: "status.apiServerInternalURI".to_owned(), why });
    }
    if is_text(&spec["cloudConfig"]["name"]) {
        let why = "platform none has no cloud configuration, and none is passed to the render";
        problems.push(Problem::Field { field: "spec.cloudConfig.name".to_owned(), why });
    }
    problems.into_iter().map(|problem| RenderFault::new(&object.path, problem)).collect()
}

/// The cluster DNS is the tenth address of the first network (pkg/operator/render.go).
fn network(object: &RenderedObject) -> Option<RenderFault> {
    let first = object.value["spec"]["serviceNetwork"][0].as_str().unwrap_or_default();
    let is_wide_enough =
        first.parse::<ipnet::IpNet>().is_ok_and(|net| net.max_prefix_len() - net.prefix_len() >= 4);
    let why = "the cluster DNS is the tenth address of the first service network";
    let problem = Problem::Field { field: "spec.serviceNetwork".to_owned(), why };
    (!is_wide_enough).then(|| RenderFault::new(&object.path, problem))
}

/// pkg/controller/bootstrap/bootstrap.go `getPullSecretFromSecret`; the content is compacted as JSON later.
fn pull_secret(object: &RenderedObject) -> Vec<RenderFault> {
    const TYPE: &str = "kubernetes.io/dockerconfigjson";
    let mut problems = Vec::new();
    let found = object.value["type"].as_str().unwrap_or("no type");
    if object.kind() == "Secret" && found != TYPE {
        problems.push(Problem::Unexpected { expected: format!("type {TYPE}"), found: found.to_owned() });
    }
    let encoded = object.value["data"][".dockerconfigjson"].as_str().unwrap_or_default();
    let decoded = BASE64_STANDARD.decode(encoded).unwrap_or_default();
    if !serde_json::from_slice::<Value>(&decoded).is_ok_and(|json| json["auths"].is_object()) {
        let why = "it must be the pull secret, JSON with `auths`, in base64";
        problems.push(Problem::Field { field: "data[.dockerconfigjson]".to_owned(), why });
    }
    problems.into_iter().map(|problem| RenderFault::new(&object.path, problem)).collect()
}

/// Optional for the operator. Left out, nodes would not trust what install-config says they must.
fn user_ca_bundle(tree: &Tree, objects: &[RenderedObject], cluster: &Cluster) -> Option<RenderFault> {
    let is_wanted = !cluster.config.additional_trust_bundle.is_empty();
    let problem = match first(objects, USER_CA_BUNDLE) {
        None if is_wanted && tree.get(USER_CA_BUNDLE).is_none() => {
            Problem::Missing { phase: Phase::MakeManifests }
        }
        Some(object) if object.kind() != "ConfigMap" => {
            Problem::Unexpected { expected: "ConfigMap".to_owned(), found: object.kind().to_owned() }
        }
        Some(object) if !is_text(&object.value["data"]["ca-bundle.crt"]) => {
            let why = "nodes get the CAs from this key";
            Problem::Field { field: "data[ca-bundle.crt]".to_owned(), why }
        }
        _ => return None,
    };
    Some(RenderFault::new(USER_CA_BUNDLE, problem))
}

/// Gates are looked up by the exact version of the release (library-go `configobserver/featuregates`).
fn feature_gate(objects: &[RenderedObject], version: &str) -> Option<RenderFault> {
    let is_gate =
        |object: &&RenderedObject| object.is(CONFIG_GROUP, "FeatureGate") && object.name() == "cluster";
    let Some(object) = objects.iter().rfind(is_gate) else {
        return Some(RenderFault::new(FEATURE_GATE, Problem::Missing { phase: Phase::MakeManifests }));
    };
    let entries = object.value["status"]["featureGates"].as_array().map(Vec::as_slice).unwrap_or_default();
    let found: Vec<String> =
        entries.iter().map(|entry| entry["version"].as_str().unwrap_or_default().to_owned()).collect();
    let problem = Problem::GatesOfOtherVersion { wanted: version.to_owned(), found };
    let is_there = entries.iter().any(|entry| entry["version"] == version);
    (!is_there).then(|| RenderFault::new(&object.path, problem))
}

/// pkg/controller/common/helpers.go `ValidateMachineConfig`: what users get wrong most often.
fn machine_configs(objects: &[RenderedObject], version: &VersionContract) -> Vec<RenderFault> {
    let mut faults = Vec::new();
    for object in objects.iter().filter(|object| object.is(pools::GROUP, "MachineConfig")) {
        let config = &object.value["spec"]["config"];
        let found = config["ignition"]["version"].as_str().unwrap_or_default();
        if !config.is_null() && !is_ignition_version(found, version.ignition_version()) {
            let expected = format!("spec.config.ignition.version up to {}", version.ignition_version());
            let found = if found.is_empty() { "none".to_owned() } else { found.to_owned() };
            faults.push(RenderFault::new(&object.path, Problem::Unexpected { expected, found }));
        }
        let kernel = object.value["spec"]["kernelType"].as_str().unwrap_or_default();
        if !["", "default", "realtime", "64k-pages"].contains(&kernel) {
            let expected = "spec.kernelType default, realtime or 64k-pages".to_owned();
            faults.push(RenderFault::new(
                &object.path,
                Problem::Unexpected { expected, found: kernel.to_owned() },
            ));
        }
    }
    faults
}

/// 2.2, or 3.0 up to the release's own.
fn is_ignition_version(found: &str, newest: &str) -> bool {
    let numbers = |text: &str| -> Option<(u32, u32)> {
        let (major, rest) = text.split_once('.')?;
        Some((major.parse().ok()?, rest.strip_suffix(".0")?.parse().ok()?))
    };
    match (numbers(found), numbers(newest)) {
        (Some(found), Some(newest)) => found == (2, 2) || ((3, 0)..=newest).contains(&found),
        _ => false,
    }
}

fn is_text(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignition_versions_up_to_the_release_are_taken() {
        for (found, newest, expected) in [
            ("2.2.0", "3.4.0", true),
            ("2.1.0", "3.4.0", false),
            ("3.0.0", "3.4.0", true),
            ("3.4.0", "3.4.0", true),
            ("3.5.0", "3.4.0", false),
            ("3.5.0", "3.5.0", true),
            ("3.2", "3.4.0", false),
            ("", "3.4.0", false),
        ] {
            assert_eq!(is_ignition_version(found, newest), expected, "{found} for {newest}");
        }
    }
}
