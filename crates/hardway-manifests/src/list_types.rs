//! Lists whose elements are told apart by themselves (`set`) or by keys (`map`) hold none twice
//! (apiextensions-apiserver `pkg/apiserver/schema/listtype`).

use std::collections::BTreeMap;

use hardway_assets::violation::FieldErrorKind;
use serde_json::{Map, Value};

use crate::cel::ListType;
use crate::field_path::PathStep;
use crate::schema::Schema;
use crate::values::{Types, resolve};
use crate::{FieldPath, Mistake};

/// Every element that is there a second time.
pub(crate) fn check(
    schema: &Schema,
    value: &Value,
    path: &mut FieldPath,
    types: &Types,
    found: &mut Vec<Mistake>,
) {
    let schema = resolve(schema, types);
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let (step, below) = match (schema.properties.get(name), schema.values()) {
                    (Some(property), _) => (PathStep::Field(name.clone()), property),
                    (None, Some(values)) => (PathStep::Key(name.clone()), values),
                    (None, None) => continue,
                };
                path.push(step);
                check(below, value, path, types, found);
                path.pop();
            }
        }
        Value::Array(items) => {
            match &schema.list {
                ListType::Atomic => {}
                ListType::Set => found.extend(doubles(items.iter().cloned(), path)),
                ListType::Map(keys) => found.extend(doubles_by_key(items, keys, path)),
            }
            let Some(element) = &schema.items else { return };
            for (index, item) in items.iter().enumerate() {
                path.push(PathStep::Index(index));
                check(element, item, path, types, found);
                path.pop();
            }
        }
        _ => {}
    }
}

fn doubles_by_key(items: &[Value], keys: &[String], path: &FieldPath) -> Vec<Mistake> {
    let odd = items.iter().position(|item| !item.is_object() && !item.is_null());
    if let Some(index) = odd {
        let detail = "must be an object for an array of list-type map";
        return vec![Mistake::new(&path.index(index), FieldErrorKind::Invalid, detail).of(&items[index])];
    }
    let key_of = |item: &Value| -> Value {
        let named = keys.iter().filter_map(|key| Some((key.clone(), item.get(key)?.clone())));
        Value::Object(named.collect::<Map<_, _>>())
    };
    doubles(items.iter().map(key_of), path)
}

/// Each value is named once, where it stands the second time.
fn doubles(values: impl Iterator<Item = Value>, path: &FieldPath) -> Vec<Mistake> {
    let mut seen: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let mut found = Vec::new();
    for (index, value) in values.enumerate() {
        let (first, times) = seen.entry(value.to_string()).or_insert((index, 0));
        *times += 1;
        if *times == 2 {
            let detail = format!("as element {first} of the list");
            let mut mistake = Mistake::new(&path.index(index), FieldErrorKind::Duplicate, detail);
            mistake.value = Some(value.to_string()).filter(|text| text.len() <= 80);
            found.push(mistake);
        }
    }
    found
}
