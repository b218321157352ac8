//! Reads a provider's settings: every mistake with the path of its field, all at once.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::net::IpAddr;

use hardway_assets::violation::{Kind, Violation};
use serde_json::{Map, Value};

/// What was found wrong so far.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    found: RefCell<Vec<Violation>>,
    /// The fields that were looked for, there or not.
    asked: RefCell<BTreeSet<String>>,
}

impl Findings {
    /// One more.
    pub(crate) fn add(&self, violation: Violation) {
        self.found.borrow_mut().push(violation);
    }

    /// All of them, or what was read.
    pub(crate) fn or<T>(self, value: T) -> Result<T, Vec<Violation>> {
        let found = self.found.into_inner();
        if found.is_empty() { Ok(value) } else { Err(found) }
    }

    /// The fields that were looked for: what the inventory's table must know, and nothing else.
    #[cfg(test)]
    pub(crate) fn asked(self) -> BTreeSet<String> {
        self.asked.into_inner()
    }
}

/// The fields of one object.
pub(crate) struct Fields<'f> {
    path: String,
    fields: Option<&'f Map<String, Value>>,
    findings: &'f Findings,
}

impl<'f> Fields<'f> {
    /// An object at a path; anything else counts as empty, and is reported.
    pub(crate) fn new(path: impl Into<String>, value: &'f Value, findings: &'f Findings) -> Self {
        let path = path.into();
        if !value.is_object() && !value.is_null() {
            findings.add(Violation::invalid(&path, shown(value), "must be an object"));
        }
        Self { path, fields: value.as_object(), findings }
    }

    /// Where a field stands.
    pub(crate) fn path(&self, name: &str) -> String {
        format!("{}.{name}", self.path)
    }

    /// Reports every field that is none of these.
    pub(crate) fn only(self, known: &[&str]) -> Self {
        self.check_only(known);
        self
    }

    /// The same.
    pub(crate) fn check_only(&self, known: &[&str]) {
        for name in self.fields.into_iter().flatten().map(|(name, _)| name) {
            if !known.contains(&name.as_str()) {
                let detail = format!("the fields here are {}", known.join(", "));
                self.findings.add(Violation::new(self.path(name), Kind::Unknown, None, detail));
            }
        }
    }

    /// Every field, as an object.
    pub(crate) fn objects(&self) -> Vec<(&'f str, Fields<'f>)> {
        let object = |(name, value): (&'f String, &'f Value)| {
            (name.as_str(), Fields::new(self.path(name), value, self.findings))
        };
        self.fields.into_iter().flatten().map(object).collect()
    }

    /// A field that is an object; absent ones are empty.
    pub(crate) fn object(&self, name: &str) -> Fields<'f> {
        Fields::new(self.path(name), self.get(name).unwrap_or(&Value::Null), self.findings)
    }

    /// Whether a field is there.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// A text; empty counts as none.
    pub(crate) fn text(&self, name: &str) -> Option<&'f str> {
        match self.get(name)? {
            Value::String(text) => Some(text.as_str()).filter(|text| !text.is_empty()),
            other => {
                self.wrong(name, &shown(other), "must be text");
                None
            }
        }
    }

    /// A text that must be there.
    pub(crate) fn needed(&self, name: &str, why: &str) -> Option<&'f str> {
        if !self.has(name) || self.get(name) == Some(&Value::String(String::new())) {
            self.findings.add(Violation::required(self.path(name), why));
            return None;
        }
        self.text(name)
    }

    /// One of these words, or the first of them.
    pub(crate) fn word(&self, name: &str, words: &[&'static str]) -> &'static str {
        let Some(text) = self.text(name) else { return words[0] };
        words.iter().find(|word| **word == text).copied().unwrap_or_else(|| {
            self.findings.add(Violation::unsupported(self.path(name), text, words));
            words[0]
        })
    }

    /// Yes or no; no unless said.
    pub(crate) fn flag(&self, name: &str) -> bool {
        match self.get(name) {
            None => false,
            Some(Value::Bool(flag)) => *flag,
            Some(other) => {
                self.wrong(name, &shown(other), "must be true or false");
                false
            }
        }
    }

    /// Texts, one or a list of them.
    pub(crate) fn texts(&self, name: &str) -> Vec<&'f str> {
        match self.get(name) {
            None => Vec::new(),
            Some(Value::String(text)) => vec![text],
            Some(Value::Array(items)) if items.iter().all(Value::is_string) => {
                items.iter().filter_map(Value::as_str).collect()
            }
            Some(other) => {
                self.wrong(name, &shown(other), "must be a list of texts");
                Vec::new()
            }
        }
    }

    /// Addresses, one or a list of them.
    pub(crate) fn addresses(&self, name: &str) -> Vec<IpAddr> {
        let read = |text: &str| {
            let address = text.parse();
            if address.is_err() {
                self.wrong(name, text, "must be an address");
            }
            address.ok()
        };
        self.texts(name).into_iter().filter_map(read).collect()
    }

    /// A value that will not do.
    pub(crate) fn wrong(&self, name: &str, value: &str, detail: &str) {
        self.findings.add(Violation::invalid(self.path(name), value, detail));
    }

    fn get(&self, name: &str) -> Option<&'f Value> {
        self.findings.asked.borrow_mut().insert(self.path(name));
        self.fields?.get(name).filter(|value| !value.is_null())
    }
}

/// Whole objects are not shown: who knows what stands in them.
fn shown(value: &Value) -> String {
    match value {
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
