//! The objects of the manifest folders, as both commands will read them.

use hardway_assets::{Tree, yaml};
use serde_json::Value;

use super::fault::{Problem, RenderFault};

/// Where manifests lie in a working directory.
pub(super) const FOLDERS: [&str; 2] = ["manifests", "openshift"];

/// One object of one file.
#[derive(Debug)]
pub(super) struct RenderedObject {
    /// Path in the working directory.
    pub(super) path: String,
    /// The object.
    pub(super) value: Value,
}

impl RenderedObject {
    /// `kind`, or nothing.
    pub(super) fn kind(&self) -> &str {
        self.value["kind"].as_str().unwrap_or_default()
    }

    /// `metadata.name`, or nothing.
    pub(super) fn name(&self) -> &str {
        self.value["metadata"]["name"].as_str().unwrap_or_default()
    }

    /// Whether it is of this kind and API group.
    pub(super) fn is(&self, group: &str, kind: &str) -> bool {
        let api_version = self.value["apiVersion"].as_str().unwrap_or_default();
        self.kind() == kind && api_version.split_once('/').is_some_and(|(found, _)| found == group)
    }
}

/// Whether a file is one of those that are handed over, by its name.
pub(super) fn is_manifest(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    !name.starts_with('.') && [".yaml", ".yml", ".json"].iter().any(|end| name.ends_with(end))
}

/// Every object of both folders in the order of paths, and what is no object. The controller stops at any file it
/// cannot read, whatever its name (MCO `pkg/controller/bootstrap/bootstrap.go`).
pub(super) fn read(tree: &Tree) -> (Vec<RenderedObject>, Vec<RenderFault>) {
    let (mut objects, mut faults) = (Vec::new(), Vec::new());
    for (path, bytes) in FOLDERS.iter().flat_map(|folder| tree.folder(folder)) {
        if !is_manifest(path) {
            faults.push(RenderFault::new(path, Problem::NotManifest));
            continue;
        }
        match documents(bytes) {
            Ok(values) => {
                for value in values.into_iter().filter(|value| !value.is_null()) {
                    let object = RenderedObject { path: path.to_owned(), value };
                    faults.extend(head_problem(&object).map(|problem| RenderFault::new(path, problem)));
                    objects.push(object);
                }
            }
            Err(problems) => {
                faults.extend(problems.into_iter().map(|problem| RenderFault::new(path, problem)))
            }
        }
    }
    (objects, faults)
}

fn documents(bytes: &[u8]) -> Result<Vec<Value>, Vec<Problem>> {
    let text = std::str::from_utf8(bytes).map_err(|_| vec![Problem::NotText])?;
    let line = |at: usize| text.bytes().take(at).filter(|b| *b == b'\n').count() + 1;
    match yaml::read_all(text) {
        Ok(nodes) => Ok(nodes.iter().map(yaml::Node::to_json).collect()),
        Err(errors) => Err(errors
            .into_iter()
            .map(|error| Problem::Syntax { line: line(error.span.start), message: error.message })
            .collect()),
    }
}

fn head_problem(object: &RenderedObject) -> Option<Problem> {
    for field in ["apiVersion", "kind"] {
        if object.value[field].as_str().is_none_or(str::is_empty) {
            return Some(Problem::Field { field: field.to_owned(), why: "every object must have one" });
        }
    }
    // The controller does not look into lists, the cluster does: the two would render different configs.
    (object.kind() == "List").then_some(Problem::List)
}
