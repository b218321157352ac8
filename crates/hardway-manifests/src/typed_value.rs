//! A value of an object as its schema means it: a time where that says `date-time`, a set where it says set.

use std::sync::Arc;

use base64::Engine as _;
use serde_json::Value;

use crate::cel::{List, MapKey, Val};
use crate::formats::{Format, duration};
use crate::schema::{Schema, Type};

impl Val {
    /// A value of an object as its schema means it.
    pub(crate) fn of(value: &Value, schema: &Schema, is_object: bool) -> Self {
        if schema.int_or_string {
            return Self::plain(value);
        }
        match (value, schema.kind) {
            (Value::Object(fields), _) => {
                let is_object = is_object || schema.embedded;
                let named = !schema.properties.is_empty() || is_object;
                let entries = fields.iter().map(|(name, value)| {
                    let below = schema.properties.get(name).or_else(|| schema.values());
                    let value =
                        below.map_or_else(|| Self::plain(value), |schema| Self::of(value, schema, false));
                    let name = if named { escape(name) } else { name.clone() };
                    (MapKey::Text(name.into()), value)
                });
                Self::Map(Arc::new(entries.collect()))
            }
            (Value::Array(items), _) => {
                let element = |value: &Value| match &schema.items {
                    Some(items) => Self::of(value, items, false),
                    None => Self::plain(value),
                };
                let items = items.iter().map(element).collect();
                Self::List(Arc::new(List { items, kind: schema.list.clone() }))
            }
            (Value::String(text), _) => Self::formatted(text, schema.format),
            (Value::Number(number), Some(Type::Number)) => Self::Double(number.as_f64().unwrap_or_default()),
            _ => Self::plain(value),
        }
    }

    fn formatted(text: &str, format: Option<Format>) -> Self {
        let broken = |what: &str| Self::Broken(format!("invalid {what} {text:?}").into());
        match format {
            Some(Format::Duration) => duration(text).map_or_else(|| broken("duration"), Self::Duration),
            Some(Format::DateTime) => text.parse().map_or_else(|_| broken("date-time"), Self::Timestamp),
            Some(Format::Date) => {
                let parsed = format!("{text}T00:00:00Z").parse();
                parsed.map_or_else(|_| broken("date"), Self::Timestamp)
            }
            Some(Format::Byte) => base64::engine::general_purpose::URL_SAFE
                .decode(text)
                .map_or_else(|_| broken("byte"), |bytes| Self::Bytes(bytes.into())),
            _ => Self::text(text),
        }
    }
}

const KEYWORDS: [&str; 21] = [
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// How a property's name is written in an expression (apiserver `pkg/cel/escaping.go`).
fn escape(name: &str) -> String {
    if KEYWORDS.contains(&name) {
        return format!("__{name}__");
    }
    if !name.contains(['.', '-', '/']) && !name.contains("__") {
        return name.to_owned();
    }
    name.replace("__", "__underscores__")
        .replace('.', "__dot__")
        .replace('-', "__dash__")
        .replace('/', "__slash__")
}
