//! Kinds that every API server has, from a table of names and types that the real one gave (`kubernetes.txt`).
//!
//! ```text
//! version 1.31
//! kind v1 ConfigMap namespaced core.v1.ConfigMap
//! type core.v1.ConfigMapEnvSource
//!  name string
//!  optional boolean
//! ```
//!
//! `!` behind a name: required. `[T]` is a list, `{T}` a map. What an enum allows stands behind its type.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde_json::Value;

use crate::formats::Format;
use crate::schema::{Additional, Schema, Type};
use crate::values::Types;

/// The table, read.
#[derive(Debug)]
pub(crate) struct BuiltIn {
    /// Minor version of Kubernetes that it is of: 31.
    pub(crate) minor: u32,
    /// By apiVersion and kind.
    pub(crate) kinds: BTreeMap<(String, String), BuiltInKind>,
    pub(crate) types: Types,
}

/// A kind and its type.
#[derive(Debug)]
pub(crate) struct BuiltInKind {
    pub(crate) is_namespaced: bool,
    pub(crate) type_name: String,
}

/// The type of `metadata`.
pub(crate) const OBJECT_META: &str = "meta.v1.ObjectMeta";

const TABLE: &str = include_str!("../kubernetes.txt");

impl BuiltIn {
    pub(crate) fn get() -> &'static Self {
        static READ: OnceLock<BuiltIn> = OnceLock::new();
        READ.get_or_init(|| Self::read(TABLE))
    }

    fn read(table: &str) -> Self {
        let mut found = Self { minor: 0, kinds: BTreeMap::new(), types: Types::new() };
        let mut current = String::new();
        for line in table.lines() {
            if let Some(field) = line.strip_prefix(' ') {
                found.types.entry(current.clone()).or_default().add(field);
                continue;
            }
            let words: Vec<&str> = line.split(' ').collect();
            match words.as_slice() {
                ["version", version] => {
                    found.minor =
                        version.rsplit('.').next().and_then(|minor| minor.parse().ok()).unwrap_or(0);
                }
                ["kind", version, kind, scope, type_name] => {
                    let key = ((*version).to_owned(), (*kind).to_owned());
                    let is_namespaced = *scope == "namespaced";
                    found
                        .kinds
                        .insert(key, BuiltInKind { is_namespaced, type_name: (*type_name).to_owned() });
                }
                ["type", name] => {
                    current = (*name).to_owned();
                    found.types.insert(
                        current.clone(),
                        Schema { kind: Some(Type::Object), nullable: true, ..Schema::default() },
                    );
                }
                ["type", name, "=", other] => {
                    found.types.insert((*name).to_owned(), typed(other));
                }
                _ => {}
            }
        }
        found
    }
}

impl Schema {
    /// A field of a type: `name! type "a" "b"`.
    fn add(&mut self, line: &str) {
        let mut words = line.split(' ');
        let (Some(name), Some(kind)) = (words.next(), words.next()) else { return };
        let (name, is_required) = match name.strip_suffix('!') {
            Some(name) => (name, true),
            None => (name, false),
        };
        let mut schema = typed(kind);
        schema.allowed = words.map(Value::from).collect();
        if !schema.allowed.is_empty() {
            // Nothing at all is a default, not a choice.
            schema.allowed.push("".into());
            schema.allowed.push(Value::Null);
        }
        if is_required {
            self.required.push(name.to_owned());
        }
        self.properties.insert(name.to_owned(), schema);
    }
}

/// Null is as good as nothing to whoever decodes into Go's types.
fn typed(name: &str) -> Schema {
    let plain = |kind| Schema { kind: Some(kind), nullable: true, ..Schema::default() };
    if let Some(inner) = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')) {
        return Schema { items: Some(Box::new(typed(inner))), ..plain(Type::Array) };
    }
    if let Some(inner) = name.strip_prefix('{').and_then(|name| name.strip_suffix('}')) {
        return Schema {
            additional: Some(Additional::Values(Box::new(typed(inner)))),
            ..plain(Type::Object)
        };
    }
    match name {
        "string" => plain(Type::String),
        "boolean" => plain(Type::Boolean),
        "number" => plain(Type::Number),
        "integer" => plain(Type::Integer),
        "int32" => {
            let mut schema = plain(Type::Integer);
            schema.limits.maximum = Some(f64::from(i32::MAX));
            schema.limits.minimum = Some(f64::from(i32::MIN));
            schema
        }
        "bytes" => plain(Type::String),
        "time" => Schema { format: Some(Format::DateTime), ..plain(Type::String) },
        "int-or-string" => Schema { int_or_string: true, nullable: true, ..Schema::default() },
        "quantity" => Schema {
            any_of: vec![plain(Type::String), plain(Type::Number)],
            nullable: true,
            ..Schema::default()
        },
        "object" => Schema { preserve_unknown: true, ..plain(Type::Object) },
        "any" => Schema { preserve_unknown: true, nullable: true, ..Schema::default() },
        other => Schema { reference: Some(other.to_owned()), nullable: true, ..Schema::default() },
    }
}
