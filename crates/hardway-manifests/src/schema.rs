//! The schema of a kind: a structural schema of apiextensions v1, or a type of the built-in API in the same form.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::cel::{ListType, ValidationRule};
use crate::formats::Format;
use crate::pattern::Pattern;

/// What a value may be.
#[derive(Debug, Default)]
pub(crate) struct Schema {
    /// The one type, if there is one.
    pub(crate) kind: Option<Type>,
    /// A type of the built-in API that stands for this schema.
    pub(crate) reference: Option<String>,
    pub(crate) int_or_string: bool,
    pub(crate) nullable: bool,
    pub(crate) format: Option<Format>,
    pub(crate) default: Option<Value>,
    pub(crate) properties: BTreeMap<String, Schema>,
    pub(crate) additional: Option<Additional>,
    pub(crate) items: Option<Box<Schema>>,
    pub(crate) required: Vec<String>,
    pub(crate) allowed: Vec<Value>,
    pub(crate) limits: Bounds,
    pub(crate) pattern: Option<Pattern>,
    pub(crate) all_of: Vec<Schema>,
    pub(crate) any_of: Vec<Schema>,
    pub(crate) one_of: Vec<Schema>,
    pub(crate) not: Option<Box<Schema>>,
    pub(crate) preserve_unknown: bool,
    pub(crate) embedded: bool,
    pub(crate) list: ListType,
    pub(crate) rules: Vec<ValidationRule>,
    /// A rule is here or below.
    pub(crate) has_rules: bool,
}

/// JSON's types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Array,
    Boolean,
    Integer,
    Number,
    Object,
    String,
}

/// What a key may be that no property names.
#[derive(Debug)]
pub(crate) enum Additional {
    Anything,
    Nothing,
    Values(Box<Schema>),
}

/// Bounds.
#[derive(Debug, Default)]
pub(crate) struct Bounds {
    pub(crate) maximum: Option<f64>,
    pub(crate) exclusive_maximum: bool,
    pub(crate) minimum: Option<f64>,
    pub(crate) exclusive_minimum: bool,
    pub(crate) multiple_of: Option<f64>,
    pub(crate) max_length: Option<u64>,
    pub(crate) min_length: Option<u64>,
    pub(crate) max_items: Option<u64>,
    pub(crate) min_items: Option<u64>,
    pub(crate) unique_items: bool,
    pub(crate) max_properties: Option<u64>,
    pub(crate) min_properties: Option<u64>,
}

impl Type {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Array => "array",
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Object => "object",
            Self::String => "string",
        }
    }

    fn read(name: &str) -> Option<Self> {
        [Self::Array, Self::Boolean, Self::Integer, Self::Number, Self::Object, Self::String]
            .into_iter()
            .find(|kind| kind.name() == name)
    }

    /// What a value is; nothing for null.
    pub(crate) fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Null => None,
            Value::Bool(_) => Some(Self::Boolean),
            Value::Number(number) if number.is_f64() => Some(Self::Number),
            Value::Number(_) => Some(Self::Integer),
            Value::String(_) => Some(Self::String),
            Value::Array(_) => Some(Self::Array),
            Value::Object(_) => Some(Self::Object),
        }
    }
}

impl Schema {
    /// As it stands in a CRD.
    pub(crate) fn read(value: &Value) -> Self {
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        let flag = |key: &str| value.get(key).and_then(Value::as_bool).unwrap_or(false);
        let list =
            |key: &str| value.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let schemas = |key: &str| -> Vec<Self> { list(key).iter().map(Self::read).collect() };
        let texts = |key: &str| -> Vec<String> {
            list(key).iter().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let properties: BTreeMap<String, Self> = match value.get("properties").and_then(Value::as_object) {
            Some(named) => named.iter().map(|(name, schema)| (name.clone(), Self::read(schema))).collect(),
            None => BTreeMap::new(),
        };
        let additional = match value.get("additionalProperties") {
            None | Some(Value::Null) => None,
            Some(Value::Bool(false)) => Some(Additional::Nothing),
            Some(Value::Bool(true)) => Some(Additional::Anything),
            Some(schema) => Some(Additional::Values(Box::new(Self::read(schema)))),
        };
        let items =
            value.get("items").filter(|items| items.is_object()).map(|items| Box::new(Self::read(items)));
        let rules: Vec<ValidationRule> =
            list("x-kubernetes-validations").iter().map(ValidationRule::read).collect();
        let all_of = schemas("allOf");
        let has_rules = !rules.is_empty()
            || properties.values().any(|property| property.has_rules)
            || items.as_ref().is_some_and(|items| items.has_rules)
            || all_of.iter().any(|schema| schema.has_rules)
            || matches!(&additional, Some(Additional::Values(schema)) if schema.has_rules);
        Self {
            kind: text("type").and_then(Type::read),
            reference: None,
            int_or_string: flag("x-kubernetes-int-or-string"),
            nullable: flag("nullable"),
            format: text("format").and_then(Format::read),
            default: value.get("default").filter(|default| !default.is_null()).cloned(),
            properties,
            additional,
            items,
            required: texts("required"),
            allowed: list("enum").to_vec(),
            limits: Bounds::read(value),
            pattern: text("pattern").filter(|pattern| !pattern.is_empty()).map(Pattern::new),
            all_of,
            any_of: schemas("anyOf"),
            one_of: schemas("oneOf"),
            not: value.get("not").filter(|not| not.is_object()).map(|not| Box::new(Self::read(not))),
            preserve_unknown: flag("x-kubernetes-preserve-unknown-fields"),
            embedded: flag("x-kubernetes-embedded-resource"),
            list: match text("x-kubernetes-list-type") {
                Some("set") => ListType::Set,
                Some("map") => ListType::Map(texts("x-kubernetes-list-map-keys")),
                _ => ListType::Atomic,
            },
            rules,
            has_rules,
        }
    }

    /// Types that a value may have; none where everything goes.
    pub(crate) fn types(&self) -> &[Type] {
        match (&self.kind, self.int_or_string) {
            (_, true) => &[Type::Integer, Type::String],
            (Some(kind), false) => std::slice::from_ref(kind),
            (None, false) => &[],
        }
    }

    /// The schema of a key that no property names, if there is one.
    pub(crate) fn values(&self) -> Option<&Self> {
        match &self.additional {
            Some(Additional::Values(schema)) => Some(schema),
            _ => None,
        }
    }

    /// Says nothing about what is in an object: whoever has only this cannot judge.
    pub(crate) fn accepts_anything(&self) -> bool {
        self.preserve_unknown
            && self.properties.keys().all(|name| ["apiVersion", "kind", "metadata"].contains(&name.as_str()))
            && self.required.is_empty()
            && self.rules.is_empty()
    }
}

impl Bounds {
    fn read(value: &Value) -> Self {
        let number = |key: &str| value.get(key).and_then(Value::as_f64);
        let count = |key: &str| value.get(key).and_then(Value::as_u64);
        let flag = |key: &str| value.get(key).and_then(Value::as_bool).unwrap_or(false);
        Self {
            maximum: number("maximum"),
            exclusive_maximum: flag("exclusiveMaximum"),
            minimum: number("minimum"),
            exclusive_minimum: flag("exclusiveMinimum"),
            multiple_of: number("multipleOf"),
            max_length: count("maxLength"),
            min_length: count("minLength"),
            max_items: count("maxItems"),
            min_items: count("minItems"),
            unique_items: flag("uniqueItems"),
            max_properties: count("maxProperties"),
            min_properties: count("minProperties"),
        }
    }
}
