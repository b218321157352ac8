//! What the server would drop, and what it fills in, before it looks at anything else
//! (apiextensions-apiserver `pkg/apiserver/schema/pruning` and `defaulting`).

use hardway_assets::violation::FieldErrorKind;
use serde_json::{Map, Value};

use crate::field_path::PathStep;
use crate::schema::{Additional, Schema};
use crate::values::{Types, near_word, resolve};
use crate::{FieldPath, Mistake};

/// Fields that every object has, whatever its schema says.
pub(crate) const OBJECT_FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Takes out every field that the schema does not know, and says which.
pub(crate) fn prune(schema: &Schema, value: &mut Value, is_root: bool, types: &Types) -> Vec<Mistake> {
    let mut pruner = Pruner { types, path: FieldPath::default(), found: Vec::new() };
    pruner.prune(schema, value, is_root);
    pruner.found
}

struct Pruner<'t> {
    types: &'t Types,
    path: FieldPath,
    found: Vec<Mistake>,
}

impl Pruner<'_> {
    fn prune(&mut self, schema: &Schema, value: &mut Value, is_root: bool) {
        let keeps = schema.preserve_unknown;
        let schema = resolve(schema, self.types);
        self.walk(schema, value, is_root, keeps || schema.preserve_unknown);
    }

    /// Within what is kept as it is, properties that the schema knows are still pruned; elements of a list are kept too.
    fn walk(&mut self, schema: &Schema, value: &mut Value, is_root: bool, keeps: bool) {
        match value {
            Value::Object(fields) => {
                let has_object_fields = is_root || schema.embedded;
                let unknown = self.fields(schema, fields, has_object_fields, keeps);
                for name in unknown {
                    let dropped = fields.remove(&name);
                    let mistake = self.unknown(schema, &name, fields);
                    // Programs in Go write fields of newer versions that are not set. Nothing is lost with them, but a slip of the
                    // pen is one even where nothing follows it.
                    if mistake.fix.is_some() || !dropped.is_some_and(|value| is_empty(&value)) {
                        self.found.push(mistake);
                    }
                }
            }
            Value::Array(items) => {
                let nothing = Schema::default();
                let element = schema.items.as_deref().unwrap_or(&nothing);
                for (index, item) in items.iter_mut().enumerate() {
                    self.path.push(PathStep::Index(index));
                    match keeps {
                        true => self.walk(resolve(element, self.types), item, false, true),
                        false => self.prune(element, item, false),
                    }
                    self.path.pop();
                }
            }
            _ => {}
        }
    }

    fn fields(
        &mut self,
        schema: &Schema,
        fields: &mut Map<String, Value>,
        is_object: bool,
        keeps: bool,
    ) -> Vec<String> {
        let mut unknown = Vec::new();
        for (name, value) in fields.iter_mut() {
            if is_object && OBJECT_FIELDS.contains(&name.as_str()) {
                continue;
            }
            let (step, below) = match (schema.properties.get(name), &schema.additional) {
                (Some(property), _) => (PathStep::Field(name.clone()), Some(property)),
                (None, Some(Additional::Values(values))) => (PathStep::Key(name.clone()), Some(&**values)),
                (None, Some(Additional::Anything)) => continue,
                _ => {
                    if !keeps {
                        unknown.push(name.clone());
                    }
                    continue;
                }
            };
            if let Some(below) = below {
                self.path.push(step);
                self.prune(below, value, false);
                self.path.pop();
            }
        }
        unknown
    }

    fn unknown(&self, schema: &Schema, name: &str, others: &Map<String, Value>) -> Mistake {
        let path = self.path.field(name);
        let mistake = Mistake::new(&path, FieldErrorKind::Unknown, "the API server would silently drop it");
        // A field that is set already is hardly what was meant.
        let free = schema.properties.keys().map(String::as_str).filter(|known| !others.contains_key(*known));
        match near_word(name, free) {
            Some(near) => mistake.fix(format!("did you mean {near:?}?")),
            None => mistake,
        }
    }
}

/// Says nothing, however deep it is.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.values().all(is_empty),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Nulls that may not be null are as good as not there; where there is a default, it takes their place.
pub(crate) fn prune_nulls(schema: &Schema, value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, value| {
                let Some(schema) = schema.properties.get(name).or_else(|| schema.values()) else {
                    return true;
                };
                if value.is_null() && !schema.nullable && schema.default.is_none() {
                    return false;
                }
                prune_nulls(schema, value);
                true
            });
        }
        Value::Array(items) => {
            if let Some(element) = &schema.items {
                items.iter_mut().for_each(|item| prune_nulls(element, item));
            }
        }
        _ => {}
    }
}

/// Fills in what the schema says.
pub(crate) fn fill_in_defaults(schema: &Schema, value: &mut Value) {
    let replaces = |schema: &Schema, value: &Value| value.is_null() && !schema.nullable;
    match value {
        Value::Object(fields) => {
            for (name, property) in &schema.properties {
                let Some(default) = &property.default else { continue };
                if fields.get(name).is_none_or(|value| replaces(property, value)) {
                    fields.insert(name.clone(), default.clone());
                }
            }
            for (name, value) in fields.iter_mut() {
                match (schema.properties.get(name), schema.values()) {
                    (Some(property), _) => fill_in_defaults(property, value),
                    (None, Some(values)) => {
                        if replaces(values, value) {
                            *value = values.default.clone().unwrap_or(Value::Null);
                        }
                        fill_in_defaults(values, value);
                    }
                    (None, None) => {}
                }
            }
        }
        Value::Array(items) => {
            let Some(element) = &schema.items else { return };
            for item in items {
                if replaces(element, item) {
                    *item = element.default.clone().unwrap_or(Value::Null);
                }
                fill_in_defaults(element, item);
            }
        }
        _ => {}
    }
}
