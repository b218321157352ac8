//! One of the two working directories, taken apart.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::ignition;
use super::masks::Masks;
use crate::{Tree, yaml};

/// Everything of a working directory that is compared.
pub(super) struct Side<'t> {
    /// The files.
    pub(super) tree: &'t Tree,
    /// The Ignition configs that are there, by file name.
    pub(super) ignition: BTreeMap<&'static str, Json>,
    /// The objects in `manifests/` and `openshift/`.
    pub(super) in_folders: Vec<Document>,
    /// The objects inside the bootstrap host's Ignition config.
    pub(super) in_ignition: Vec<Document>,
    /// Files that should hold objects but cannot be read, with the reason.
    pub(super) unreadable: BTreeMap<String, String>,
    /// What is random.
    pub(super) masks: Masks,
}

/// An object and where it lies.
pub(super) struct Document {
    /// `manifests/cluster-config.yaml`
    pub(super) file: String,
    /// Inside Ignition: the mode it will have.
    pub(super) mode: Option<u64>,
    /// The object.
    pub(super) object: Json,
}

/// The Ignition configs openshift-install writes.
pub(super) const IGNITION_FILES: [&str; 4] =
    ["bootstrap-in-place-for-live-iso.ign", "bootstrap.ign", "master.ign", "worker.ign"];

/// Where the bootstrap host keeps the two folders.
pub(super) const FOLDERS_ON_BOOTSTRAP: &str = "/opt/openshift/";

impl<'t> Side<'t> {
    /// Takes a working directory apart.
    pub(super) fn read(tree: &'t Tree) -> Self {
        let mut side = Self {
            tree,
            ignition: BTreeMap::new(),
            in_folders: Vec::new(),
            in_ignition: Vec::new(),
            unreadable: BTreeMap::new(),
            masks: Masks::default(),
        };
        for name in IGNITION_FILES {
            match tree.get(name).map(serde_json::from_slice::<Json>) {
                Some(Ok(config)) if ignition::is_ignition(&config) => {
                    drop(side.ignition.insert(name, config))
                }
                Some(_) => drop(side.unreadable.insert(name.to_owned(), "not an Ignition config".to_owned())),
                None => {}
            }
        }
        side.read_folders();
        side.read_bootstrap();
        let metadata = tree.get("metadata.json").and_then(|bytes| serde_json::from_slice(bytes).ok());
        let documents = side.in_folders.iter().chain(&side.in_ignition);
        side.masks = Masks::find(metadata.as_ref(), documents.map(|document| &document.object));
        side
    }

    /// Is there anything a machine could boot from, or does this side stop at `create manifests`?
    pub(super) fn has_ignition(&self) -> bool {
        IGNITION_FILES.iter().any(|name| self.tree.get(name).is_some())
    }

    fn read_folders(&mut self) {
        for folder in ["manifests", "openshift"] {
            for (path, bytes) in self.tree.folder(folder) {
                match objects(path, bytes) {
                    Ok(objects) => self.in_folders.extend(objects.map(|object| Document {
                        file: path.to_owned(),
                        mode: None,
                        object,
                    })),
                    Err(why) => drop(self.unreadable.insert(path.to_owned(), why.to_string())),
                }
            }
        }
    }

    /// Both of the installer's bootstrap configs hold the same objects; one is enough.
    fn read_bootstrap(&mut self) {
        let configs = ["bootstrap.ign", "bootstrap-in-place-for-live-iso.ign"];
        let Some(config) = configs.iter().find_map(|name| self.ignition.get(name)) else { return };
        for (path, mode, bytes) in ignition::files(config) {
            let Some(file) = manifest_name(&path) else { continue };
            match objects(file, &bytes) {
                Ok(objects) => self.in_ignition.extend(objects.map(|object| Document {
                    file: file.to_owned(),
                    mode,
                    object,
                })),
                Err(why) => drop(self.unreadable.insert(path, why.to_string())),
            }
        }
    }
}

/// `manifests/x.yaml` for a path on the bootstrap host that is in one of the two folders.
pub(super) fn manifest_name(path: &str) -> Option<&str> {
    let file = path.strip_prefix(FOLDERS_ON_BOOTSTRAP)?;
    ["manifests/", "openshift/"].iter().any(|folder| file.starts_with(folder)).then_some(file)
}

/// Why a file has no objects to compare.
#[derive(Debug, thiserror::Error)]
enum Unreadable {
    #[error("not text")]
    NotText,
    #[error("not YAML")]
    NotYaml,
    #[error("{0}")]
    Yaml(yaml::SyntaxError),
}

fn objects(path: &str, bytes: &[u8]) -> Result<impl Iterator<Item = Json> + use<>, Unreadable> {
    let is_ours = [".json", ".yaml", ".yml"].iter().any(|ending| path.ends_with(ending));
    let text = if is_ours { std::str::from_utf8(bytes).map_err(|_| Unreadable::NotText)? } else { "" };
    let nodes = yaml::read_all(text).map_err(|errors| match errors.into_iter().next() {
        Some(error) => Unreadable::Yaml(error),
        None => Unreadable::NotYaml,
    })?;
    Ok(nodes.into_iter().map(|node| node.to_json()))
}
