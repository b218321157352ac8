//! The rules of a schema, tried on everything they are about (apiextensions-apiserver `pkg/apiserver/schema/cel`).

use std::cell::LazyCell;
use std::collections::BTreeSet;

use hardway_assets::violation::FieldErrorKind;
use serde_json::Value;

use crate::cel::{Tested, Val};
use crate::field_path::PathStep;
use crate::schema::Schema;
use crate::{FieldPath, Mistake};

/// What the rules of a kind came to.
#[derive(Debug, Default)]
pub(crate) struct Tried {
    pub(crate) mistakes: Vec<Mistake>,
    /// Rules that nobody could try here, each with what is missing.
    pub(crate) unknown: BTreeSet<String>,
    /// Rules that held or did not: what a corpus of objects has reached.
    pub(crate) reached: BTreeSet<(String, bool)>,
}

impl Tried {
    /// Tries every rule of an object.
    pub(crate) fn on(schema: &Schema, object: &Value) -> Self {
        let mut tried = Self::default();
        tried.walk(schema, schema, object, &mut FieldPath::default(), true);
        tried
    }

    /// `rules` is the schema itself, or one that must hold too (`allOf`): what a value means is said by the first.
    fn walk(
        &mut self,
        schema: &Schema,
        rules: &Schema,
        value: &Value,
        path: &mut FieldPath,
        is_object: bool,
    ) {
        if value.is_null() || !rules.has_rules {
            return;
        }
        self.here(schema, rules, value, path, is_object);
        for more in &rules.all_of {
            self.walk(schema, more, value, path, is_object);
        }
        match value {
            Value::Array(items) => {
                let (Some(element), Some(rules)) = (&schema.items, &rules.items) else { return };
                for (index, item) in items.iter().enumerate() {
                    path.push(PathStep::Index(index));
                    self.walk(element, rules, item, path, element.embedded);
                    path.pop();
                }
            }
            Value::Object(fields) => {
                for (name, value) in fields {
                    let (step, below, rules) = match (schema.properties.get(name), rules.properties.get(name))
                    {
                        (Some(below), Some(rules)) => (PathStep::Field(name.clone()), below, rules),
                        (None, None) => match (schema.values(), rules.values()) {
                            (Some(below), Some(rules)) => (PathStep::Key(name.clone()), below, rules),
                            _ => continue,
                        },
                        _ => continue,
                    };
                    path.push(step);
                    self.walk(below, rules, value, path, below.embedded);
                    path.pop();
                }
            }
            _ => {}
        }
    }

    fn here(&mut self, schema: &Schema, rules: &Schema, value: &Value, path: &FieldPath, is_object: bool) {
        let itself = LazyCell::new(|| Val::of(value, schema, is_object));
        for rule in &rules.rules {
            match rule.test(|| itself.clone()) {
                Tested::Holds => {
                    self.reached.insert((rule.text.clone(), true));
                }
                Tested::ComparesOnly => {}
                Tested::Unknown(what) => {
                    self.unknown.insert(what);
                }
                Tested::Broken(message) => {
                    self.reached.insert((rule.text.clone(), false));
                    let names = rule.field_path.split('.').filter(|name| !name.is_empty());
                    let path = names.fold(path.clone(), |path, name| path.field(name));
                    let mistake = Mistake::new(&path, rule.reason, message);
                    self.mistakes.push(match rule.reason {
                        FieldErrorKind::Invalid => mistake.of(value),
                        _ => mistake,
                    });
                }
            }
        }
    }
}
