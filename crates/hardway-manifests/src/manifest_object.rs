//! One object of a cluster's files.

use hardway_assets::yaml::Node;
use serde_json::Value;

/// An object, where it is from, and how it is called.
pub(crate) struct ManifestObject<'f> {
    pub(crate) file: usize,
    pub(crate) text: &'f str,
    pub(crate) node: Node,
    pub(crate) value: Value,
}

impl ManifestObject<'_> {
    /// `ConfigMap test/a`
    pub(crate) fn name(&self) -> String {
        let name = match self.text_at("/metadata/name") {
            "" => self.text_at("/metadata/generateName"),
            name => name,
        };
        match self.text_at("/metadata/namespace") {
            "" => format!("{} {name}", self.text_at("/kind")),
            namespace => format!("{} {namespace}/{name}", self.text_at("/kind")),
        }
    }

    pub(crate) fn text_at(&self, pointer: &str) -> &str {
        self.value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
    }
}
