//! A kind that a CustomResourceDefinition brings.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::schema::Schema;

/// A kind of a CRD, with the schemas of all its versions.
#[derive(Debug)]
pub(crate) struct CustomKind {
    pub(crate) group: String,
    pub(crate) kind: String,
    pub(crate) plural: String,
    pub(crate) is_namespaced: bool,
    pub(crate) versions: BTreeMap<String, CustomVersion>,
}

/// One version of it.
#[derive(Debug)]
pub(crate) struct CustomVersion {
    pub(crate) schema: Schema,
    pub(crate) is_served: bool,
    /// Whoever creates an object cannot set its status then.
    pub(crate) has_status: bool,
}

impl CustomKind {
    /// Reads a CRD of apiextensions v1; nothing when it is none.
    pub(crate) fn read(crd: &Value) -> Option<Self> {
        let is_crd = crd.get("kind")?.as_str()? == "CustomResourceDefinition";
        let spec = crd.get("spec").filter(|_| is_crd)?;
        let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let version = |version: &Value| {
            let schema = version.pointer("/schema/openAPIV3Schema");
            let found = CustomVersion {
                schema: schema.map(Schema::read).unwrap_or_default(),
                is_served: version.get("served").and_then(Value::as_bool).unwrap_or(false),
                has_status: version.pointer("/subresources/status").is_some_and(|status| !status.is_null()),
            };
            Some((text(version, "name")?, found))
        };
        Some(Self {
            group: text(spec, "group")?,
            kind: text(spec.get("names")?, "kind")?,
            plural: text(spec.get("names")?, "plural")?,
            is_namespaced: text(spec, "scope")? == "Namespaced",
            versions: spec.get("versions")?.as_array()?.iter().filter_map(version).collect(),
        })
    }
}
