//! Objects grown from a schema, and spoilt in every way that the schema can notice.

use std::collections::BTreeSet;

use hardway_assets::violation::FieldErrorKind;
use hardway_manifests::{FieldPath, Judgement, Kinds, Mistake, PathStep};
use serde_json::{Map, Value, json};

/// One object that is not what it was, and which keyword should notice.
#[derive(Clone, Debug)]
pub(crate) struct Mutant {
    pub(crate) keyword: String,
    pub(crate) object: Value,
}

/// Texts that fit one pattern, format or rule or another.
pub(crate) const TEXTS: [&str; 28] = [
    "a",
    "abc",
    "10.0.0.1",
    "10.0.0.0/16",
    "https://example.com/a",
    "example.com",
    "1.2.3",
    "2024-01-02T03:04:05Z",
    "1h",
    "fd00::/64",
    "fd00::1",
    "a.example.com/b",
    "aGVsbG8=",
    "00:11:22:33:44:55",
    "123e4567-e89b-12d3-a456-426614174000",
    "registry.example.com/a/b@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    "us-east-1",
    "10",
    "1",
    "arn:aws:iam::123456789012:role/a",
    "kubelet.service",
    "registry.example.com/a:b",
    "5m0s",
    "-----BEGIN CERTIFICATE-----",
    "#ffffff",
    "rgb(1,2,3)",
    "0306406152",
    "a@example.com",
];

/// A good object of a CRD's first served version, as full as can be; nothing when none could be grown.
/// Where one of several values is allowed, `choice` says which: unions have their members in turn.
pub(crate) fn grow(crd: &Value, kinds: &Kinds, choice: usize) -> Option<(Value, Value)> {
    let version =
        crd.pointer("/spec/versions")?.as_array()?.iter().find(|version| version["served"] == true)?;
    let schema = version.pointer("/schema/openAPIV3Schema")?.clone();
    let group = crd.pointer("/spec/group")?.as_str()?;
    let mut object = value_of(&schema, 0, choice);
    let fields = object.as_object_mut()?;
    fields.remove("status");
    fields.insert("apiVersion".to_owned(), format!("{group}/{}", version["name"].as_str()?).into());
    fields.insert("kind".to_owned(), crd.pointer("/spec/names/kind")?.clone());
    let mut metadata = json!({"name": "cluster"});
    if crd.pointer("/spec/scope")? == "Namespaced" {
        metadata["namespace"] = "test".into();
    }
    fields.insert("metadata".to_owned(), metadata);
    for _ in 0..600 {
        let Judgement::Judged(verdict) = kinds.judge(&object) else { return None };
        if verdict.mistakes.is_empty() {
            return Some((object, schema));
        }
        let mut repaired: BTreeSet<&FieldPath> = BTreeSet::new();
        for mistake in &verdict.mistakes {
            if repaired.insert(&mistake.path) && !repair(&mut object, &schema, mistake) {
                return None;
            }
        }
    }
    None
}

/// Everything that a schema names, with the first value that comes to mind.
pub(crate) fn value_of(schema: &Value, depth: usize, choice: usize) -> Value {
    if let Some(allowed) = schema["enum"].as_array() {
        let allowed: Vec<&Value> = allowed.iter().filter(|value| **value != "").collect();
        if let Some(value) = allowed.get(choice % allowed.len().max(1)) {
            return (*value).clone();
        }
    }
    if let Some(default) = schema.get("default") {
        return default.clone();
    }
    if schema["x-kubernetes-int-or-string"] == true {
        return "50%".into();
    }
    match schema["type"].as_str() {
        Some("object") => {
            let mut fields = Map::new();
            for (name, property) in schema["properties"].as_object().into_iter().flatten() {
                let is_required =
                    schema["required"].as_array().is_some_and(|list| list.iter().any(|n| n == name.as_str()));
                if is_required || depth < 7 {
                    fields.insert(name.clone(), value_of(property, depth + 1, choice));
                }
            }
            if schema["additionalProperties"].is_object() {
                fields.insert("a".to_owned(), value_of(&schema["additionalProperties"], depth + 1, choice));
            }
            if schema["x-kubernetes-embedded-resource"] == true {
                fields.insert("apiVersion".to_owned(), "v1".into());
                fields.insert("kind".to_owned(), "Embedded".into());
            }
            Value::Object(fields)
        }
        Some("array") => {
            let count = schema["minItems"].as_u64().unwrap_or(1).max(1);
            (0..count).map(|_| value_of(&schema["items"], depth + 1, choice)).collect()
        }
        Some("string") => "a".into(),
        Some("integer") => schema["minimum"].as_f64().map_or_else(|| json!(1), |least| json!(least as i64)),
        Some("number") => schema["minimum"].as_f64().map_or_else(|| json!(1.5), |least| json!(least + 0.5)),
        Some("boolean") => true.into(),
        _ => "a".into(),
    }
}

/// `has(self.a)` and `self.a` in a rule.
fn names(rule: &str) -> Vec<String> {
    rule.split("self.")
        .skip(1)
        .map(|rest| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect())
        .collect()
}

/// Another value where there is one to try, one field fewer where the fields do not go together; else it goes.
fn repair(object: &mut Value, schema: &Value, mistake: &Mistake) -> bool {
    let path = mistake.path.steps();
    if mistake.kind == FieldErrorKind::Required {
        return remove(object, &path[..path.len() - 1]);
    }
    let Some((value, schema)) = at(object, schema, path) else { return remove(object, path) };
    let is_repaired = match value {
        Value::String(text) => next_text(text, schema),
        Value::Array(items) => items.iter_mut().any(|item| match item {
            Value::String(text) => next_text(text, &schema["items"]),
            _ => false,
        }),
        Value::Object(fields) => {
            let named =
                rules(schema, &mistake.detail).iter().flat_map(|rule| names(rule)).collect::<Vec<_>>();
            let is_required =
                |name: &str| schema["required"].as_array().is_some_and(|list| list.iter().any(|n| n == name));
            let unwanted = named
                .iter()
                .rev()
                .find(|name| fields.contains_key(*name) && !is_required(name))
                .cloned()
                .or_else(|| fields.keys().rev().find(|name| named.is_empty() && !is_required(name)).cloned());
            let other = named.iter().find(|name| fields.get(*name).is_some_and(Value::is_string));
            match (unwanted, other) {
                (Some(name), _) => fields.remove(&name).is_some(),
                (None, Some(name)) => match fields.get_mut(name) {
                    Some(Value::String(text)) => next_text(text, &schema["properties"][name]),
                    _ => false,
                },
                (None, None) => false,
            }
        }
        _ => false,
    };
    is_repaired || remove(object, path)
}

/// The next one to try: of what is allowed, or of all texts.
fn next_text(text: &mut String, schema: &Value) -> bool {
    let allowed: Vec<&str> = match schema["enum"].as_array() {
        Some(allowed) => allowed.iter().filter_map(Value::as_str).collect(),
        None => TEXTS.to_vec(),
    };
    let next = allowed.iter().position(|known| known == text).map_or(0, |place| place + 1);
    match allowed.get(next) {
        Some(next) => {
            *text = (*next).to_owned();
            true
        }
        None => false,
    }
}

/// The rules of a schema that say this.
fn rules(schema: &Value, detail: &str) -> Vec<String> {
    let all = schema["x-kubernetes-validations"].as_array().into_iter().flatten();
    all.filter(|rule| {
        let text = |key: &str| rule[key].as_str().unwrap_or_default().trim().to_owned();
        let message = text("message");
        detail.contains(&text("rule")) || (!message.is_empty() && detail.contains(&message))
    })
    .filter_map(|rule| rule["rule"].as_str().map(str::to_owned))
    .collect()
}

/// The value and schema at a path.
pub(crate) fn at<'o, 's>(
    object: &'o mut Value,
    schema: &'s Value,
    path: &[PathStep],
) -> Option<(&'o mut Value, &'s Value)> {
    path.iter().try_fold((object, schema), |(value, schema), step| match step {
        PathStep::Index(index) => Some((value.get_mut(index)?, schema.get("items")?)),
        PathStep::Field(name) | PathStep::Key(name) => {
            let below = schema["properties"].get(name).or_else(|| schema.get("additionalProperties"))?;
            Some((value.get_mut(name)?, below))
        }
    })
}

/// Takes out what is at a path, or what it is in.
pub(crate) fn remove(object: &mut Value, path: &[PathStep]) -> bool {
    let Some((last, before)) = path.split_last() else { return false };
    let parent = before.iter().try_fold(&mut *object, |value, step| match step {
        PathStep::Index(index) => value.get_mut(index),
        PathStep::Field(name) | PathStep::Key(name) => value.get_mut(name),
    });
    let is_gone = match (parent, last) {
        (Some(Value::Object(fields)), PathStep::Field(name) | PathStep::Key(name)) => {
            fields.remove(name).is_some()
        }
        (Some(Value::Array(items)), PathStep::Index(index)) if *index < items.len() => {
            items.remove(*index);
            true
        }
        _ => false,
    };
    is_gone || remove(object, before)
}

/// Every way to spoil an object, each with its keyword.
pub(crate) fn spoil(object: &Value, schema: &Value) -> Vec<Mutant> {
    let mut mutants = Vec::new();
    let mut spoiler = Spoiler { object, mutants: &mut mutants };
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        if !["apiVersion", "kind", "metadata", "status"].contains(&name.as_str())
            && object.get(name).is_some()
        {
            spoiler.walk(&format!("/{name}"), property, false);
        }
    }
    spoiler.here("", schema, object, !schema["x-kubernetes-validations"].is_null());
    mutants
}

struct Spoiler<'o> {
    object: &'o Value,
    mutants: &'o mut Vec<Mutant>,
}

impl Spoiler<'_> {
    fn walk(&mut self, pointer: &str, schema: &Value, in_rule: bool) {
        let Some(value) = self.object.pointer(pointer).cloned() else { return };
        let in_rule = in_rule || !schema["x-kubernetes-validations"].is_null();
        self.here(pointer, schema, &value, in_rule);
        match &value {
            Value::Object(fields) => {
                for name in fields.keys() {
                    let below = schema["properties"].get(name).or_else(|| schema.get("additionalProperties"));
                    if let Some(below) = below.filter(|below| below.is_object()) {
                        let name = name.replace('~', "~0").replace('/', "~1");
                        self.walk(&format!("{pointer}/{name}"), below, in_rule);
                    }
                }
            }
            Value::Array(items) if !items.is_empty() => {
                self.walk(&format!("{pointer}/0"), &schema["items"], in_rule)
            }
            _ => {}
        }
    }

    fn set(&mut self, keyword: &str, pointer: &str, value: Value) {
        let mut object = self.object.clone();
        if let Some(place) = object.pointer_mut(pointer) {
            *place = value;
            self.mutants.push(Mutant { keyword: keyword.to_owned(), object });
        }
    }

    fn here(&mut self, pointer: &str, schema: &Value, value: &Value, in_rule: bool) {
        let wrong = match value {
            Value::String(_) => json!({"not": "a text"}),
            Value::Array(_) => json!("not a list"),
            Value::Object(_) => json!("not an object"),
            _ => json!("not this"),
        };
        let keyword =
            if schema["x-kubernetes-int-or-string"] == true { "x-kubernetes-int-or-string" } else { "type" };
        if !pointer.is_empty() {
            self.set(keyword, pointer, if keyword == "type" { wrong } else { json!(true) });
            let nullable = if schema["nullable"] == true { "nullable" } else { "null" };
            self.set(nullable, pointer, Value::Null);
        }
        match value {
            Value::String(text) => self.text(pointer, schema, text, in_rule),
            Value::Number(_) => self.number(pointer, schema),
            Value::Array(items) => self.items(pointer, schema, items, in_rule),
            Value::Object(fields) => self.fields(pointer, schema, fields, in_rule),
            _ => {
                if in_rule {
                    self.set("x-kubernetes-validations", pointer, json!(false));
                }
            }
        }
    }

    fn text(&mut self, pointer: &str, schema: &Value, text: &str, in_rule: bool) {
        if !schema["enum"].is_null() {
            self.set("enum", pointer, "NotThere".into());
            if in_rule {
                for other in schema["enum"].as_array().into_iter().flatten() {
                    self.set("x-kubernetes-validations", pointer, other.clone());
                }
            }
            return;
        }
        if let Some(most) = schema["maxLength"].as_u64().filter(|most| *most < 20_000) {
            self.set("maxLength", pointer, "é".repeat(usize::try_from(most).unwrap() + 1).into());
        }
        if schema["minLength"].as_u64().is_some() {
            self.set("minLength", pointer, "".into());
        }
        for (keyword, odd) in
            [("pattern", ["!? \u{e9}", "-x-", "UPPER.case"]), ("format", ["not one", "", "1.2.3.4.5"])]
        {
            if !schema[keyword].is_null() {
                let keyword = match keyword {
                    "format" => format!("format {}", schema["format"].as_str().unwrap_or_default()),
                    other => other.to_owned(),
                };
                odd.into_iter().for_each(|odd| self.set(&keyword, pointer, odd.into()));
            }
        }
        if in_rule {
            for odd in TEXTS
                .into_iter()
                .chain(["", "*", "a/b/c", "kubernetes.io/x", "300.1.1.1/33", text])
                .step_by(3)
            {
                self.set("x-kubernetes-validations", pointer, odd.into());
            }
        }
    }

    fn number(&mut self, pointer: &str, schema: &Value) {
        for (bound, exclusive, odd) in
            [("minimum", "exclusiveMinimum", -1), ("maximum", "exclusiveMaximum", 1)]
        {
            if let Some(bound_value) = schema[bound].as_i64() {
                self.set(bound, pointer, json!(bound_value + odd));
                self.set(
                    if schema[exclusive] == true { exclusive } else { bound },
                    pointer,
                    json!(bound_value),
                );
            }
        }
        if !schema["multipleOf"].is_null() {
            self.set("multipleOf", pointer, json!(7));
        }
        self.set("type", pointer, json!(0.5));
        self.set("x-kubernetes-validations", pointer, json!(0));
    }

    fn items(&mut self, pointer: &str, schema: &Value, items: &[Value], in_rule: bool) {
        let Some(first) = items.first() else { return };
        if schema["minItems"].as_u64().is_some() || in_rule {
            self.set("minItems", pointer, json!([]));
        }
        if let Some(most) = schema["maxItems"].as_u64().filter(|most| *most <= 200) {
            let many = vec![first.clone(); usize::try_from(most).unwrap() + 1];
            self.set("maxItems", pointer, many.into());
        }
        let keyword = match schema["x-kubernetes-list-type"].as_str() {
            Some("set") => "x-kubernetes-list-type set",
            Some("map") => "x-kubernetes-list-type map",
            _ if schema["uniqueItems"] == true => "uniqueItems",
            _ if in_rule => "x-kubernetes-validations",
            _ => return,
        };
        self.set(keyword, pointer, json!([first, first]));
    }

    fn fields(&mut self, pointer: &str, schema: &Value, fields: &Map<String, Value>, in_rule: bool) {
        let mut more = fields.clone();
        more.insert("zzUnknown".to_owned(), json!({"a": 1}));
        let keyword = match schema["x-kubernetes-preserve-unknown-fields"] == true {
            true => "x-kubernetes-preserve-unknown-fields",
            false => "unknown field",
        };
        if pointer.is_empty() {
            self.mutants.push(Mutant { keyword: keyword.to_owned(), object: more.into() });
        } else {
            self.set(keyword, pointer, more.into());
        }
        if schema["minProperties"].as_u64().is_some() && !pointer.is_empty() {
            self.set("minProperties", pointer, json!({}));
        }
        if let Some(most) = schema["maxProperties"].as_u64().filter(|most| *most < 100 && !pointer.is_empty())
        {
            let filler = value_of(&schema["additionalProperties"], 0, 0);
            let many: Map<String, Value> =
                (0..=most).map(|number| (format!("k{number}"), filler.clone())).collect();
            self.set("maxProperties", pointer, many.into());
        }
        if schema["x-kubernetes-embedded-resource"] == true {
            for name in ["apiVersion", "kind"] {
                let mut fewer = fields.clone();
                fewer.remove(name);
                self.set("x-kubernetes-embedded-resource", pointer, fewer.into());
            }
        }
        for name in fields.keys() {
            let is_required =
                schema["required"].as_array().is_some_and(|list| list.iter().any(|n| n == name.as_str()));
            if !(is_required || in_rule)
                || (pointer.is_empty() && ["apiVersion", "kind", "metadata"].contains(&name.as_str()))
            {
                continue;
            }
            let mut fewer = fields.clone();
            fewer.remove(name);
            let keyword = match is_required {
                true => "required",
                false => "x-kubernetes-validations",
            };
            match pointer.is_empty() {
                true => self.mutants.push(Mutant { keyword: keyword.to_owned(), object: fewer.into() }),
                false => self.set(keyword, pointer, fewer.into()),
            }
        }
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            if in_rule && !fields.contains_key(name) && !(pointer.is_empty()) {
                let mut more = fields.clone();
                more.insert(name.clone(), value_of(property, 5, 0));
                self.set("x-kubernetes-validations", pointer, more.into());
            }
        }
    }
}
