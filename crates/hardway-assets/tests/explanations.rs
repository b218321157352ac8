//! Whatever is generated for any scenario can be explained: files of the working directory, files and units of the hosts.

mod common;

use std::collections::BTreeSet;

use common::{Made, SCENARIOS, made};
use hardway_assets::explain::{Catalogue, Kind};
use serde_json::Value;

#[test]
fn every_file_of_the_working_directory_is_explained() {
    let catalogue = Catalogue::load();
    let mut missing = BTreeSet::new();
    for scenario in SCENARIOS {
        let made = made(scenario);
        let paths = made.tree.iter().map(|(path, _)| path.to_owned());
        let secrets = made.secrets.files().map(|(name, _)| format!("secrets/{name}"));
        missing.extend(paths.chain(secrets).filter(|path| catalogue.find(path).is_empty()));
    }
    assert!(missing.is_empty(), "no explanation of: {missing:#?}");
}

#[test]
fn every_file_and_unit_of_the_bootstrap_host_is_explained() {
    let catalogue = Catalogue::load();
    let is_explained = |kind, name: &str| catalogue.find(name).iter().any(|e| e.kind == kind);
    let mut missing = BTreeSet::new();
    for scenario in SCENARIOS {
        let made = made(scenario);
        for config in ["bootstrap.ign", "bootstrap-in-place-for-live-iso.ign"] {
            let files = names(&made, config, "/storage/files", "path");
            missing.extend(files.into_iter().filter(|path| !is_explained(Kind::File, path)));
            let units = names(&made, config, "/systemd/units", "name");
            missing.extend(units.into_iter().filter(|unit| !is_explained(Kind::Unit, unit)));
        }
    }
    assert!(missing.is_empty(), "no explanation of: {missing:#?}");
}

/// What the machine-config-operator renders is its own to explain; we explain what we put on top.
#[test]
fn every_file_we_add_to_a_node_is_explained() {
    let catalogue = Catalogue::load();
    let mut missing = BTreeSet::new();
    for scenario in SCENARIOS {
        let made = made(scenario);
        for host in &made.cluster.inventory.hosts {
            let Some(rendered) = made.release.rendered.get(host.role.name()) else { continue };
            let theirs = listed(&rendered.machine_config["spec"]["config"], "/storage/files", "path");
            let ours = names(&made, &format!("ignition/{}.ign", host.name), "/storage/files", "path");
            let added = ours.into_iter().filter(|path| !theirs.contains(path));
            missing.extend(added.filter(|path| catalogue.find(path).is_empty()));
        }
    }
    assert!(missing.is_empty(), "no explanation of: {missing:#?}");
}

fn names(made: &Made, config: &str, list: &str, key: &str) -> Vec<String> {
    let Some(bytes) = made.tree.get(config) else { return Vec::new() };
    listed(&serde_json::from_slice(bytes).unwrap(), list, key)
}

fn listed(config: &Value, list: &str, key: &str) -> Vec<String> {
    let entries = config.pointer(list).and_then(Value::as_array).into_iter().flatten();
    entries.filter_map(|entry| entry[key].as_str().map(str::to_owned)).collect()
}
