//! Tests over all manifests together.

mod openshift_install;
mod schemas;
mod sources;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::testing::{CERTIFICATE, World};
use crate::explain::{Catalogue, Kind};
use crate::graph::{Asset, Graph, Inputs, MakeError, Output, Source};
use crate::install_config::{ImageSource, OvnIpv4, OvnKubernetesConfig, Proxy};
use crate::{Phase, yaml};

/// Clusters that between them make every file there is.
fn worlds() -> Vec<(&'static str, World)> {
    let mut no_ssh_key = World::new();
    no_ssh_key.cluster.config.ssh_key.clear();
    vec![
        ("three masters and two workers", World::new()),
        ("compact", World::sized(3, 0)),
        ("one worker", World::sized(3, 1)),
        ("single node", World::sized(1, 0)),
        ("in place", World::in_place()),
        ("IPv6", World::ipv6()),
        ("dual stack", World::dual_stack("4.20.0")),
        ("no SSH key", no_ssh_key),
        ("everything at once", everything()),
    ]
}

/// Every optional setting, in a release after 4.18.
fn everything() -> World {
    let mut world = World::dual_stack("4.20.0");
    let config = &mut world.cluster.config;
    config.additional_trust_bundle = CERTIFICATE.to_owned();
    config.compute[0].hyperthreading = "Disabled".to_owned();
    config.control_plane.hyperthreading = "Disabled".to_owned();
    config.fips = true;
    let mirrors = vec![ImageSource {
        mirrors: vec!["mirror.example/a".to_owned()],
        source: "quay.io/a".to_owned(),
        source_policy: String::new(),
    }];
    config.image_content_sources = mirrors.clone();
    config.image_digest_sources = mirrors;
    config.networking.ovn_kubernetes_config = Some(OvnKubernetesConfig {
        ipv4: Some(OvnIpv4 { internal_join_subnet: Some("100.99.0.0/16".parse().unwrap()) }),
    });
    config.proxy = Some(Proxy {
        http_proxy: "http://proxy:3128".to_owned(),
        https_proxy: "http://proxy:3128".to_owned(),
        no_proxy: "example.org".to_owned(),
    });
    world
}

#[test]
fn every_file_is_one_object_with_a_name() {
    for (name, world) in worlds() {
        let tree = world.made();
        let objects = super::objects::objects(&tree).unwrap();
        let paths: BTreeSet<&str> = objects.iter().map(|object| object.path.as_str()).collect();
        assert_eq!(objects.len(), paths.len(), "{name}");
        assert_eq!(objects.len() + 1, world.paths().len(), "{name}: all but metadata.json");
    }
}

#[test]
fn nothing_is_null_or_an_empty_status() {
    for (name, world) in worlds() {
        for (path, bytes) in world.made().iter().filter(|(path, _)| *path != "metadata.json") {
            let object = yaml::read(std::str::from_utf8(bytes).unwrap()).unwrap().to_json();
            assert!(!holds_null(&object), "{name}: {path}: {object}");
            assert_ne!(object.get("status"), Some(&json!({})), "{name}: {path}");
        }
    }
}

fn holds_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(holds_null),
        Value::Object(map) => map.values().any(holds_null),
        _ => false,
    }
}

#[test]
fn files_with_secrets_are_for_their_owner_only() {
    let is_secret =
        |source: &Source| matches!(source, Source::Secret(_)) || *source == Source::config("pullSecret");
    for (name, world) in worlds() {
        for asset in world.assets() {
            let mode = if asset.sources().iter().any(is_secret) { 0o600 } else { 0o644 };
            for output in asset.outputs() {
                assert_eq!(output.mode, mode, "{name}: {}", output.path);
            }
        }
    }
}

#[test]
fn they_form_a_graph_with_what_they_read() {
    for (name, world) in worlds() {
        let mut assets = world.assets();
        for (path, _) in world.tree.iter() {
            assets.push(Box::new(Given(path.to_owned())));
        }
        let graph = Graph::new(assets).unwrap_or_else(|error| panic!("{name}: {error}"));
        let edges = graph.edges();
        assert!(edges.contains(&("given master.ign".to_owned(), "master-user-data".to_owned())), "{name}");
    }
}

/// A file that another module makes.
struct Given(String);

impl Asset for Given {
    fn id(&self) -> String {
        format!("given {}", self.0)
    }

    fn phase(&self) -> Phase {
        Phase::MakePki
    }

    fn sources(&self) -> Vec<Source> {
        Vec::new()
    }

    fn outputs(&self) -> Vec<Output> {
        vec![Output::public(&self.0)]
    }

    fn make(&self, _: &Inputs<'_>) -> Result<Vec<Vec<u8>>, MakeError> {
        Ok(vec![Vec::new()])
    }
}

#[test]
fn every_file_is_explained() {
    let catalogue = Catalogue::of_assets();
    for (name, world) in worlds() {
        for path in world.paths() {
            let kind = if path == "metadata.json" { Kind::WorkFile } else { Kind::Manifest };
            let Some(found) = catalogue.get(kind, &path) else { panic!("{name}: {path} is not explained") };
            for part in [found.what, found.why, found.readers, found.without, found.source] {
                assert!(!part.is_empty(), "{path}: a line is missing");
            }
        }
    }
}
