//! The `registries.conf` of the cluster's machines.

use std::collections::BTreeMap;

use hardway_assets::graph::Lock;
use hardway_assets::ignition::{data_of, registries_conf};
use hardway_assets::install_config::ImageSource;
use hardway_assets::release_payload::VersionContract;
use hardway_assets::work_paths::MANIFEST_FOLDERS;
use hardway_assets::{Cluster, Tree, yaml};
use hardway_release::node_images::{
    MappingOrigin, MirrorMapping, NodeRegistries, Pulls, RegistriesConf, RegistriesConfError,
};
use serde_json::Value;

use crate::inputs::InputFiles;
use crate::report::{Code, Report};

/// Who pulls images, in output.
pub(super) const NODES: &str = "nodes";
pub(super) const BOOTSTRAP: &str = "bootstrap host";

/// What machines will have.
pub(super) struct NodeFiles {
    pub(super) registries: NodeRegistries,
    /// Of nodes, by who has it.
    pub(super) confs: Vec<(&'static str, RegistriesConf)>,
    /// Of the bootstrap host, which knows the install-config only.
    pub(super) bootstrap: Option<RegistriesConf>,
    /// CAs (PEM) by registry.
    pub(super) trusted: BTreeMap<String, String>,
}

const CONF: &str = "/etc/containers/registries.conf";
const CONF_FOLDER: &str = "/etc/containers/registries.conf.d/";
/// Files that are made from the install-config, and count only where somebody edited them.
const OWN: [&str; 2] =
    ["manifests/image-digest-mirror-set.yaml", "manifests/image-content-source-policy.yaml"];
/// What the objects that name mirrors are called.
const MIRROR_SETS: [&str; 3] = ["ImageDigestMirrorSet", "ImageTagMirrorSet", "ImageContentSourcePolicy"];

impl NodeFiles {
    /// As the machine-config-operator will make them of the files that are there, and of those that are still to be made.
    pub(super) fn of(
        cluster: &Cluster,
        files: &InputFiles,
        tree: &Tree,
        lock: &Lock,
    ) -> Result<Self, Report> {
        let mut registries = NodeRegistries::default();
        let is_edited = |path: &str| {
            lock.is_deleted(path, tree) || (tree.get(path).is_some() && !lock.is_ours(path, tree))
        };
        let lines = Lines::of(&files.config.text.0);
        for ((field, sources), own) in of_config(cluster).into_iter().zip(OWN) {
            if is_edited(own) {
                continue;
            }
            for (i, source) in sources.iter().enumerate() {
                registries.mappings.push(mapping(source, &lines.origin(&format!("{field}[{i}]"))));
            }
        }
        let objects = objects(tree);
        for (path, text, node) in objects.iter().filter(|(path, ..)| !OWN.contains(path) || is_edited(path)) {
            registries.add(&node.to_json(), path, &|field| line_of(text, node, field));
        }
        let objects: Vec<Value> = objects.iter().map(|(.., node)| node.to_json()).collect();
        let trusted = trusted(&registries, &objects);
        let mut conf = registries.conf();
        for (path, text) in objects.iter().flat_map(machine_files) {
            if path.starts_with(CONF_FOLDER) {
                conf.overlay(read(&path, &text)?);
            }
        }
        Ok(Self { registries, confs: vec![(NODES, conf)], bootstrap: None, trusted })
    }

    /// A manifest of the release.
    pub(super) fn add_of_release(&mut self, file: &str, text: &str) {
        if let Ok(node) = yaml::read(text) {
            let line_of = |field: &str| line_of(text, &node, field);
            self.registries.add(&node.to_json(), &format!("{file} of the release"), &line_of);
        }
    }

    /// The files of node configs that are rendered already: the very ones that nodes will have.
    pub(super) fn take_rendered(&mut self, rendered: &BTreeMap<String, Value>) -> Result<(), Report> {
        let mut confs = Vec::new();
        for (pool, config) in rendered {
            let who = match pool.as_str() {
                "master" => "masters",
                "worker" => "workers",
                _ => continue,
            };
            let files = machine_files(config);
            let Some((_, text)) = files.iter().find(|(path, _)| path == CONF) else { continue };
            let mut conf = read(CONF, text)?;
            for (path, text) in files.iter().filter(|(path, _)| path.starts_with(CONF_FOLDER)) {
                conf.overlay(read(path, text)?);
            }
            confs.push((who, conf));
        }
        if let [(_, first), (_, second)] = &confs[..]
            && first == second
        {
            confs = vec![(NODES, first.clone())];
        }
        if !confs.is_empty() {
            self.confs = confs;
        }
        Ok(())
    }

    /// The file that the bootstrap host gets.
    pub(super) fn take_bootstrap(&mut self, cluster: &Cluster, version: &str) -> Result<(), Report> {
        let with_blocked =
            VersionContract::new(version).is_ok_and(|contract| contract.registries_conf_has_blocked());
        self.bootstrap = Some(read(CONF, &registries_conf(cluster, with_blocked))?);
        Ok(())
    }

    /// Whose file it is.
    pub(super) fn conf_of(&self, who: &str) -> &RegistriesConf {
        let of_nodes = self.confs.iter().find(|(other, _)| *other == who).map(|(_, conf)| conf);
        of_nodes.or(self.bootstrap.as_ref()).unwrap_or(&self.confs[0].1)
    }
}

/// Whether a file of a folder names mirrors.
pub(super) fn names_mirrors(tree: &Tree) -> bool {
    let files = MANIFEST_FOLDERS.iter().flat_map(|folder| tree.folder(folder));
    let mut texts = files.filter_map(|(_, bytes)| std::str::from_utf8(bytes).ok());
    texts.any(|text| MIRROR_SETS.iter().any(|kind| text.contains(kind)))
}

fn of_config(cluster: &Cluster) -> [(&'static str, &[ImageSource]); 2] {
    let config = &cluster.config;
    [
        ("imageDigestSources", &config.image_digest_sources),
        ("imageContentSources", &config.image_content_sources),
    ]
}

fn mapping(source: &ImageSource, origin: &MappingOrigin) -> MirrorMapping {
    MirrorMapping {
        source: source.source.clone(),
        mirrors: source.mirrors.clone(),
        pulls: Pulls::DigestOnly,
        is_blocking: source.source_policy == "NeverContactSource",
        origin: origin.clone(),
    }
}

/// Every object of the folder with the path and the text of its file.
fn objects(tree: &Tree) -> Vec<(&str, &str, yaml::Node)> {
    let files = MANIFEST_FOLDERS.iter().flat_map(|folder| tree.folder(folder));
    let texts = files.filter_map(|(path, bytes)| Some((path, std::str::from_utf8(bytes).ok()?)));
    let nodes = texts.flat_map(|(path, text)| {
        yaml::read_all(text).unwrap_or_default().into_iter().map(move |node| (path, text, node))
    });
    nodes.collect()
}

/// The files that a MachineConfig puts on a node.
fn machine_files(object: &Value) -> Vec<(String, String)> {
    if object["kind"] != "MachineConfig" {
        return Vec::new();
    }
    let files = object["spec"]["config"]["storage"]["files"].as_array().into_iter().flatten();
    let text = |file: &Value| {
        let bytes = data_of(file["contents"]["source"].as_str()?)?;
        Some((file["path"].as_str()?.to_owned(), String::from_utf8(bytes).ok()?))
    };
    let mut files: Vec<(String, String)> = files.filter_map(text).collect();
    files.sort();
    files
}

/// The CAs of single registries: keys are `host..port`, since a ConfigMap's may have no colon.
fn trusted(registries: &NodeRegistries, objects: &[Value]) -> BTreeMap<String, String> {
    let Some(name) = &registries.trusted_ca else { return BTreeMap::new() };
    let is_it = |object: &&Value| {
        object["kind"] == "ConfigMap"
            && object["metadata"]["namespace"] == "openshift-config"
            && object["metadata"]["name"] == name.as_str()
    };
    let maps = objects.iter().filter(is_it);
    let entries = maps.filter_map(|map| map["data"].as_object()).flatten();
    let entry =
        |(key, value): (&String, &Value)| Some((key.replacen("..", ":", 1), value.as_str()?.to_owned()));
    entries.filter_map(entry).collect()
}

fn read(path: &str, text: &str) -> Result<RegistriesConf, Report> {
    RegistriesConf::read(text).map_err(|error: RegistriesConfError| {
        Report::new(Code::ManifestsRefused, format!("{path} of the nodes: {error}")).fix(
            "nodes could not pull anything with it: correct the MachineConfig or the mirror set that it comes from",
        )
    })
}

/// Finds the lines of the install-config's fields.
struct Lines<'t> {
    text: &'t str,
    node: Option<yaml::Node>,
}

impl<'t> Lines<'t> {
    fn of(text: &'t str) -> Self {
        Self { text, node: yaml::read(text).ok() }
    }

    fn origin(&self, field: &str) -> MappingOrigin {
        let line = self.node.as_ref().map_or(1, |node| line_of(self.text, node, field));
        MappingOrigin { file: "install-config.yaml".to_owned(), line, field: field.to_owned() }
    }
}

fn line_of(text: &str, node: &yaml::Node, field: &str) -> usize {
    yaml::LineIndex::of(text).line_and_column(text, node.locate(field).start).0
}
