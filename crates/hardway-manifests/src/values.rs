//! A value held against a schema: types, bounds, patterns, formats, what is required and what is allowed
//! (kube-openapi `pkg/validation/validate`).

use std::collections::BTreeMap;

use hardway_assets::violation::FieldErrorKind;
use serde_json::{Map, Value};

use crate::field_path::PathStep;
use crate::formats::Format;
use crate::schema::{Additional, Schema, Type};
use crate::{FieldPath, Mistake};

/// Types of the built-in API by name.
pub(crate) type Types = BTreeMap<String, Schema>;

/// The schema itself, or the type that it names.
pub(crate) fn resolve<'s>(schema: &'s Schema, types: &'s Types) -> &'s Schema {
    match &schema.reference {
        Some(name) => types.get(name).unwrap_or(schema),
        None => schema,
    }
}

/// Everything wrong with a value.
pub(crate) fn check(schema: &Schema, value: &Value, path: &FieldPath, types: &Types) -> Vec<Mistake> {
    let mut checker = Checker { types, path: path.clone(), found: Vec::new() };
    checker.check(schema, value);
    checker.found
}

struct Checker<'t> {
    types: &'t Types,
    path: FieldPath,
    found: Vec<Mistake>,
}

impl Checker<'_> {
    fn check(&mut self, schema: &Schema, value: &Value) {
        let nullable = schema.nullable;
        let schema = resolve(schema, self.types);
        if value.is_null() {
            if !schema.types().is_empty() && !schema.nullable && !nullable {
                self.wrong_type(schema, value);
            }
            self.one_of_a_set(schema, value);
            return;
        }
        if !is_of_type(schema, value) {
            self.wrong_type(schema, value);
        }
        self.combinations(schema, value);
        match value {
            Value::String(text) => self.text(schema, text, value),
            Value::Number(number) => self.number(schema, number, value),
            Value::Array(items) => self.items(schema, items),
            _ => {}
        }
        self.one_of_a_set(schema, value);
        if let Value::Object(fields) = value {
            self.fields(schema, fields);
        }
    }

    fn add(&mut self, kind: FieldErrorKind, value: &Value, detail: impl Into<String>) {
        self.found.push(Mistake::new(&self.path, kind, detail).of(value));
    }

    fn wrong_type(&mut self, schema: &Schema, value: &Value) {
        let expected = schema.types().iter().map(|kind| kind.name()).collect::<Vec<_>>().join(" or ");
        let found = Type::of(value).map_or("null", Type::name);
        let mut mistake =
            Mistake::new(&self.path, FieldErrorKind::Type, format!("must be of type {expected}: {found}"))
                .of(value);
        mistake.fix = slip_of_type(schema, value);
        self.found.push(mistake);
    }

    fn text(&mut self, schema: &Schema, text: &str, value: &Value) {
        let limits = &schema.limits;
        let length = || text.chars().count() as u64;
        if let Some(max) = limits.max_length.filter(|max| length() > *max) {
            self.add(FieldErrorKind::TooLong, value, format!("may not be longer than {max}"));
        }
        if let Some(min) = limits.min_length.filter(|min| length() < *min) {
            self.add(FieldErrorKind::Invalid, value, format!("should be at least {min} chars long"));
        }
        if let Some(pattern) = schema.pattern.as_ref().filter(|pattern| pattern.is_in(text) == Some(false)) {
            self.add(FieldErrorKind::Invalid, value, format!("should match '{}'", pattern.text()));
        }
        if let Some(format) = schema.format.filter(|format: &Format| !format.admits(text)) {
            self.add(FieldErrorKind::Type, value, format!("must be of type {}", format.name()));
        }
    }

    fn number(&mut self, schema: &Schema, number: &serde_json::Number, value: &Value) {
        let limits = &schema.limits;
        let Some(found) = number.as_f64() else { return };
        if let Some(max) = limits.maximum {
            let exceeds = if limits.exclusive_maximum { found >= max } else { found > max };
            if exceeds {
                let than = if limits.exclusive_maximum { "less than" } else { "less than or equal to" };
                self.add(FieldErrorKind::Invalid, value, format!("should be {than} {max}"));
            }
        }
        if let Some(min) = limits.minimum {
            let exceeds = if limits.exclusive_minimum { found <= min } else { found < min };
            if exceeds {
                let than = if limits.exclusive_minimum { "greater than" } else { "greater than or equal to" };
                self.add(FieldErrorKind::Invalid, value, format!("should be {than} {min}"));
            }
        }
        if let Some(factor) = limits.multiple_of.filter(|factor| *factor > 0.0) {
            let times = found / factor;
            if (times - times.round()).abs() > 1e-9 {
                self.add(FieldErrorKind::Invalid, value, format!("should be a multiple of {factor}"));
            }
        }
    }

    fn items(&mut self, schema: &Schema, items: &[Value]) {
        if let Some(element) = &schema.items {
            for (index, item) in items.iter().enumerate() {
                self.below(PathStep::Index(index), element, item);
            }
        }
        let (limits, count) = (&schema.limits, items.len() as u64);
        if let Some(min) = limits.min_items.filter(|min| count < *min) {
            self.add(
                FieldErrorKind::Invalid,
                &Value::Null,
                format!("should have at least {min} items, has {count}"),
            );
        }
        if let Some(max) = limits.max_items.filter(|max| count > *max) {
            self.add(FieldErrorKind::TooMany, &count.into(), format!("must have at most {max} items"));
        }
        let is_double = |index: usize| items[..index].contains(&items[index]);
        if limits.unique_items && (0..items.len()).any(is_double) {
            self.add(FieldErrorKind::Invalid, &Value::Null, "shouldn't contain duplicates");
        }
    }

    fn fields(&mut self, schema: &Schema, fields: &Map<String, Value>) {
        let (limits, count) = (&schema.limits, fields.len() as u64);
        if let Some(min) = limits.min_properties.filter(|min| count < *min) {
            self.add(FieldErrorKind::Invalid, &Value::Null, format!("should have at least {min} properties"));
        }
        if let Some(max) = limits.max_properties.filter(|max| count > *max) {
            self.add(FieldErrorKind::TooMany, &count.into(), format!("must have at most {max} items"));
        }
        for (name, value) in fields {
            match (schema.properties.get(name), &schema.additional) {
                (Some(property), _) => self.below(PathStep::Field(name.clone()), property, value),
                (None, Some(Additional::Values(values))) => {
                    self.below(PathStep::Key(name.clone()), values, value)
                }
                (None, Some(Additional::Nothing)) => {
                    self.path.push(PathStep::Field(name.clone()));
                    self.add(FieldErrorKind::Forbidden, &Value::Null, "is a forbidden property");
                    self.path.pop();
                }
                _ => {}
            }
        }
        for name in schema.required.iter().filter(|name| !fields.contains_key(*name)) {
            self.path.push(PathStep::Field(name.clone()));
            self.add_missing(schema.properties.get(name));
            self.path.pop();
        }
    }

    fn add_missing(&mut self, schema: Option<&Schema>) {
        let mut mistake = Mistake::new(&self.path, FieldErrorKind::Required, "");
        let allowed: Vec<String> =
            schema.map_or(&[][..], |schema| &schema.allowed).iter().map(Value::to_string).collect();
        if !allowed.is_empty() {
            mistake = mistake.fix(format!("one of {}", allowed.join(", ")));
        }
        self.found.push(mistake);
    }

    fn below(&mut self, step: PathStep, schema: &Schema, value: &Value) {
        self.path.push(step);
        self.check(schema, value);
        self.path.pop();
    }

    fn one_of_a_set(&mut self, schema: &Schema, value: &Value) {
        if schema.allowed.is_empty() || schema.allowed.iter().any(|allowed| is_equal(allowed, value)) {
            return;
        }
        let list: Vec<String> = schema.allowed.iter().map(Value::to_string).collect();
        let mut mistake = Mistake::new(
            &self.path,
            FieldErrorKind::Unsupported,
            format!("supported values: {}", list.join(", ")),
        )
        .of(value);
        let near =
            value.as_str().and_then(|text| near_word(text, schema.allowed.iter().filter_map(Value::as_str)));
        mistake.fix = near.map(|near| format!("did you mean {near:?}?"));
        self.found.push(mistake);
    }

    fn combinations(&mut self, schema: &Schema, value: &Value) {
        let mut fails = |schema: &Schema| {
            let before = self.found.len();
            self.check(schema, value);
            self.found.split_off(before)
        };
        let any: Vec<Vec<Mistake>> = schema.any_of.iter().map(&mut fails).collect();
        let one: Vec<Vec<Mistake>> = schema.one_of.iter().map(&mut fails).collect();
        let all: Vec<Vec<Mistake>> = schema.all_of.iter().map(&mut fails).collect();
        let not = schema.not.as_ref().map(|not| fails(not));
        if !any.is_empty() && any.iter().all(|failed| !failed.is_empty()) {
            self.add(FieldErrorKind::Invalid, &Value::Null, "must validate at least one schema (anyOf)");
            self.found.extend(least(any));
        }
        let valid = one.iter().filter(|failed| failed.is_empty()).count();
        if !one.is_empty() && valid != 1 {
            let found = if valid == 0 {
                "found none valid".to_owned()
            } else {
                format!("found {valid} valid alternatives")
            };
            self.add(
                FieldErrorKind::Invalid,
                &Value::Null,
                format!("must validate one and only one schema (oneOf): {found}"),
            );
            if valid == 0 {
                self.found.extend(least(one));
            }
        }
        if all.iter().any(|failed| !failed.is_empty()) {
            self.add(FieldErrorKind::Invalid, &Value::Null, "must validate all the schemas (allOf)");
            self.found.extend(all.into_iter().flatten());
        }
        if not.is_some_and(|failed| failed.is_empty()) {
            self.add(FieldErrorKind::Invalid, &Value::Null, "must not validate the schema (not)");
        }
    }
}

/// What is nearest to being right says best what is wrong.
fn least(alternatives: Vec<Vec<Mistake>>) -> Vec<Mistake> {
    alternatives.into_iter().min_by_key(Vec::len).unwrap_or_default()
}

/// Whole numbers count as integers however they are written; a text of a known format is left to the format, and a list
/// in its place slips through there as it does in the server.
fn is_of_type(schema: &Schema, value: &Value) -> bool {
    let types = schema.types();
    let Some(found) = Type::of(value) else { return true };
    if types.is_empty() {
        return true;
    }
    let is_numeric = types.iter().any(|kind| matches!(kind, Type::Integer | Type::Number));
    if schema.format.is_some() && !is_numeric && matches!(found, Type::String | Type::Array) {
        return true;
    }
    let whole = || value.as_f64().is_some_and(|number| number.fract() == 0.0);
    types.contains(&found)
        || (found == Type::Number && types.contains(&Type::Integer) && whole())
        || (found == Type::Integer && types.contains(&Type::Number))
}

fn is_equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        _ => one == other,
    }
}

/// The slips that YAML makes easy.
fn slip_of_type(schema: &Schema, value: &Value) -> Option<String> {
    match (schema.types(), value) {
        ([Type::String], Value::Number(_) | Value::Bool(_)) => {
            Some(format!("write it in quotes: \"{value}\""))
        }
        ([Type::Integer | Type::Number], Value::String(text)) if text.parse::<f64>().is_ok() => {
            Some(format!("write it without quotes: {text}"))
        }
        ([Type::Boolean], Value::String(text)) if text == "true" || text == "false" => {
            Some(format!("write it without quotes: {text}"))
        }
        ([Type::Array], _) => Some("a list begins each element with \"- \"".to_owned()),
        _ => None,
    }
}

/// What may have been meant: a slip of the hand, or another way to write upper and lower case.
pub(crate) fn near_word<'n>(name: &str, known: impl Iterator<Item = &'n str> + Clone) -> Option<&'n str> {
    let same = known.clone().find(|known| known.eq_ignore_ascii_case(name));
    same.or_else(|| hardway_assets::explain::nearest(name, known))
}
