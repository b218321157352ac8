//! The head of a manifest: what it is and its annotations, read without parsing the rest.
//!
//! A release has hundreds of manifests and some CRDs are hundreds of kilobytes of schema. Filters only ask for kind,
//! name and annotations, so only those lines are parsed.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use super::ReleaseManifest;
use crate::yaml::{self, SyntaxError};

/// What a manifest says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ManifestHead {
    /// `apiVersion`, or nothing.
    pub api_version: String,
    /// `kind`, or nothing.
    pub kind: String,
    /// `metadata.name`, or nothing.
    pub name: String,
    /// `metadata.namespace`, or nothing.
    pub namespace: String,
    /// `metadata.annotations`; values that are not text are left out, as Kubernetes refuses them.
    pub annotations: BTreeMap<String, String>,
}

/// What tells two Kubernetes objects of a cluster apart. The version of its API group is no part of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObjectId {
    /// Such as `Deployment`.
    pub kind: String,
    /// Empty for Kubernetes' core.
    pub group: String,
    /// Empty for an object of the cluster.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

impl ObjectId {
    /// Of any object; parts that are missing are empty.
    pub(crate) fn of(object: &Value) -> Self {
        let text = |pointer| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        Self {
            kind: text("/kind"),
            group: text("/apiVersion").split_once('/').map(|(group, _)| group.to_owned()).unwrap_or_default(),
            namespace: text("/metadata/namespace"),
            name: text("/metadata/name"),
        }
    }
}

/// In the words of openshift-install (`ignition/bootstrap/cvoignore.go`).
impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, group, namespace, name } = self;
        write!(f, "group {group} kind {kind} namespace {namespace} name {name}")
    }
}

impl ManifestHead {
    /// Reads the head of one document, in block YAML or in JSON.
    pub fn of(document: &str) -> Result<Self, Vec<SyntaxError>> {
        let is_json = document.trim_start().starts_with('{');
        let object = match yaml::read(&head_lines(document)) {
            Ok(object) if !is_json => object,
            // Also where the lines are no YAML: errors must point into the whole document.
            _ => yaml::read(document)?,
        };
        let text = |node: Option<&yaml::Node>| match node.map(|node| &node.value) {
            Some(yaml::Value::String(text)) => text.clone(),
            _ => String::new(),
        };
        let metadata = object.get("metadata");
        let annotations = match metadata.and_then(|m| m.get("annotations")).map(|node| &node.value) {
            Some(yaml::Value::Map(entries)) => entries
                .iter()
                .filter(|(_, value)| matches!(value.value, yaml::Value::String(_)))
                .map(|(key, value)| (key.text.clone(), text(Some(value))))
                .collect(),
            _ => BTreeMap::new(),
        };
        Ok(Self {
            api_version: text(object.get("apiVersion")),
            kind: text(object.get("kind")),
            name: text(metadata.and_then(|m| m.get("name"))),
            namespace: text(metadata.and_then(|m| m.get("namespace"))),
            annotations,
        })
    }

    /// The API group; nothing for Kubernetes' core.
    pub fn group(&self) -> &str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }

    /// True for a CRD.
    pub fn is_crd(&self) -> bool {
        self.kind == "CustomResourceDefinition" && self.api_version.starts_with("apiextensions.k8s.io/")
    }
}

impl ReleaseManifest {
    /// Its kind, name and annotations.
    pub fn head(&self) -> Result<ManifestHead, Vec<SyntaxError>> {
        ManifestHead::of(&self.text)
    }
}

/// The lines of the top-level keys a head is made of. In block style a key of the document itself, and nothing else,
/// stands at the beginning of a line.
fn head_lines(document: &str) -> String {
    let mut wanted = false;
    let mut lines = String::new();
    for line in document.lines() {
        if !line.starts_with([' ', '\t', '#']) && !line.is_empty() {
            let key = line.split(':').next().unwrap_or_default().trim_matches(['"', '\'']);
            wanted = ["apiVersion", "kind", "metadata"].contains(&key);
        }
        if wanted {
            lines.push_str(line);
            lines.push('\n');
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_head_is_read() {
        let head = ManifestHead::of(
            "---\n# a comment\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  \
             annotations:\n    a: \"true\"\n    b: true\n\n  name: dnses.config.openshift.io\nspec:\n  names:\n    \
             kind: DNS\n  text: |-\n    kind: Other\n  broken: [\n",
        )
        .unwrap();
        assert_eq!(head.name, "dnses.config.openshift.io");
        assert_eq!(head.annotations, BTreeMap::from([("a".to_owned(), "true".to_owned())]));
        assert!(head.is_crd());
    }

    #[test]
    fn json_will_do() {
        let head =
            ManifestHead::of(r#"{"kind": "FeatureGate", "metadata": {"name": "cluster"}, "spec": {}}"#);
        let head = head.unwrap();
        assert_eq!((head.kind.as_str(), head.name.as_str()), ("FeatureGate", "cluster"));
        assert!(!head.is_crd());
        assert!(ManifestHead::of("{").is_err());
        assert_eq!(ManifestHead::of("").unwrap(), ManifestHead::default());
    }
}
