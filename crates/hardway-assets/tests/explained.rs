//! Everything generated is explained, and nothing is explained that is no longer generated.

use std::collections::BTreeSet;

use hardway_assets::explain::{Catalogue, Explanation, Kind};
use hardway_assets::pki::catalogue;
use hardway_assets::release_payload::sample;
use serde_json::Value;

use crate::common::{self, Made, SCENARIOS, made, make, texts};

/// What the program itself keeps in the working directory, besides what the graph makes.
const KEPT: [&str; 18] = [
    "install-config.yaml",
    "inventory.yaml",
    ".hardway.lock",
    ".assets.lock.next",
    "logs/journal-20261115T120000Z.jsonl",
    "assets.lock",
    "journal.jsonl",
    "secrets/identity.json",
    "secrets/root-ca.key",
    "secrets/kubeadmin-password",
    "secrets/kubeadmin-password.hash",
    "secrets/ignition-token-key",
    "release/image-references",
    "media/master-0.iso",
    "pxe/boot.ipxe",
    "recovery/master-0.sh",
    "render-nodes/",
    "logs/approvals.jsonl",
];

/// Brought by every real render, but not by the sample's: it has no pull secret to put there.
const RENDERED: &str = "/var/lib/kubelet/config.json";

/// The scenarios, and variants that turn on what they lack.
fn everything() -> Vec<Made> {
    let mut all: Vec<Made> = SCENARIOS.iter().map(|scenario| made(scenario)).collect();
    let (config, inventory) = texts("ha");
    let extra = "cpuPartitioningMode: AllNodes\nimageContentSources:\n- source: quay.io/x/y\n  mirrors: [m.example.com/x/y]\n";
    let config_1 = config.replace("platform:", &format!("{extra}platform:"));
    let mut signed = sample();
    signed.image_policies.push(common::image_policy());
    all.push(make(&config_1, &inventory, signed));
    let config_2 = config
        .replace(
            "  serviceNetwork:",
            "  ovnKubernetesConfig: {ipv4: {internalJoinSubnet: 100.65.0.0/16}}\n  serviceNetwork:",
        )
        .replace("replicas: 3", "replicas: 3\n  hyperthreading: Disabled")
        .replace("- name: worker\n", "- name: worker\n  hyperthreading: Disabled\n");
    all.push(make(&config_2, &inventory, sample()));
    let (dual, dual_inventory) = texts("dual-stack");
    let mut newer = sample();
    newer.version = "4.21.3".to_owned();
    all.push(make(&dual, &dual_inventory, newer.clone()));
    newer.version = "4.23.0".to_owned();
    let gates = newer.feature_gates.get_mut("").unwrap();
    gates.enabled.extend(["ConfigurablePKI", "OSStreams"].map(str::to_owned));
    all.push(make(&config, &inventory, newer));
    let mut okd = sample();
    okd.version = "4.18.0-okd-scos.3".to_owned();
    all.push(make(&config, &inventory, okd));
    let mut fips = made("ha");
    fips.cluster.config.fips = true;
    all.push(common::make_checked(fips.cluster.config, fips.cluster.inventory, sample()));
    all
}

#[test]
fn all_that_is_made_is_explained_and_nothing_else() {
    let catalogue = Catalogue::of_assets();
    let mut hit: BTreeSet<(Kind, &str)> = BTreeSet::new();
    let mut unexplained: BTreeSet<String> = BTreeSet::new();
    let mut look = |kinds: &[Kind], what: &str| {
        let found: Vec<&Explanation> =
            catalogue.find(what).into_iter().filter(|e| kinds.contains(&e.kind)).collect();
        if found.is_empty() {
            unexplained.insert(format!("{what} ({kinds:?})"));
        }
        hit.extend(found.iter().map(|e| (e.kind, e.name)));
    };
    for made in everything() {
        for (path, _) in made.tree.iter() {
            match path.split_once('/') {
                Some(("pki", name)) => {
                    let name = name.trim_end_matches(".crt").trim_end_matches(".pub");
                    look(&[Kind::Certificate], name);
                }
                Some(("auth" | "kubeconfigs", _)) => look(&[Kind::Kubeconfig, Kind::WorkFile], path),
                Some(("manifests" | "openshift" | "operator-seeds", _)) => look(&[Kind::Manifest], path),
                _ => look(&[Kind::WorkFile], path),
            }
            if path.ends_with(".ign") {
                let config = serde_json::from_slice(made.tree.get(path).unwrap()).unwrap();
                ignition(&config, &made, &mut look);
                ignition(&common::live_config(made.tree.get(path).unwrap()), &made, &mut look);
            }
        }
    }
    look(&[Kind::Certificate], catalogue::SSH_KEY);
    look(&[Kind::Certificate], &hardway_assets::host_identity::ssh_host_key("master-0"));
    look(&[Kind::File], RENDERED);
    KEPT.iter().for_each(|path| look(&[Kind::WorkFile], path));
    // Made only after a pointer config was edited by hand.
    look(&[Kind::Manifest], "openshift/99_openshift-installer-ignition_worker.yaml");
    assert!(unexplained.is_empty(), "not explained:\n{}", Vec::from_iter(unexplained).join("\n"));
    // Fields, flags and error codes are checked where they are listed.
    let walked =
        [Kind::Certificate, Kind::File, Kind::Kubeconfig, Kind::Manifest, Kind::WorkFile, Kind::Unit];
    let gone: Vec<String> = catalogue
        .iter()
        .filter(|e| walked.contains(&e.kind) && !hit.contains(&(e.kind, e.name)))
        .map(|e| format!("{} ({})", e.name, e.kind.name()))
        .collect();
    assert!(gone.is_empty(), "explained, but never made:\n{}", gone.join("\n"));
}

/// Files, units and drop-ins of a config; those that the rendered MachineConfig brought may be explained as the release's.
fn ignition(config: &Value, made: &Made, look: &mut impl FnMut(&[Kind], &str)) {
    let rendered: BTreeSet<String> =
        made.release.rendered.values().flat_map(|r| names(&r.machine_config["spec"]["config"])).collect();
    for name in names(config) {
        let kind = if name.starts_with('/') { Kind::File } else { Kind::Unit };
        match rendered.contains(&name) {
            true => look(&[kind, Kind::Rendered], &name),
            false => look(&[kind], &name),
        }
    }
}

fn names(config: &Value) -> Vec<String> {
    let mut names = Vec::new();
    for file in config["storage"]["files"].as_array().into_iter().flatten() {
        names.push(file["path"].as_str().unwrap().to_owned());
    }
    for unit in config["systemd"]["units"].as_array().into_iter().flatten() {
        let name = unit["name"].as_str().unwrap();
        if unit["contents"].is_string() || unit["dropins"].is_null() {
            names.push(name.to_owned());
        }
        for dropin in unit["dropins"].as_array().into_iter().flatten() {
            names.push(format!("{name}/{}", dropin["name"].as_str().unwrap()));
        }
    }
    names
}
