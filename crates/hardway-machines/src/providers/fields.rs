//! Reads a provider's settings: every mistake with the path of its field, all at once. Which fields there are, what they may say and what
//! they are taken for where nothing is said stands in the provider's row (`hardway_assets::machine_provider`), and only there.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::net::IpAddr;

use hardway_assets::inventory;
use hardway_assets::schema::{Field, FieldKind, Presence};
use hardway_assets::violation::{FieldErrorKind, Violation};
use serde_json::{Map, Value};

/// What was found wrong so far.
#[derive(Debug, Default)]
pub(crate) struct SettingsFindings {
    found: RefCell<Vec<Violation>>,
    /// The fields that were looked for, there or not.
    asked: RefCell<BTreeSet<String>>,
}

impl SettingsFindings {
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
    /// What the table says of them.
    rows: &'static [Field],
    findings: &'f SettingsFindings,
}

impl<'f> Fields<'f> {
    /// The settings of a provider. Those that no row knows are reported.
    pub(crate) fn of(
        provider: inventory::Provider,
        settings: &'f Value,
        findings: &'f SettingsFindings,
    ) -> Self {
        let row = provider.row();
        Self::new(format!("machines.{}", row.name), settings, row.fields, findings)
    }

    /// An object at a path; anything else counts as empty, and is reported.
    fn new(path: String, value: &'f Value, rows: &'static [Field], findings: &'f SettingsFindings) -> Self {
        if !value.is_object() && !value.is_null() {
            findings.add(Violation::invalid(&path, shown(value), "must be an object"));
        }
        let fields = Self { path, fields: value.as_object(), rows, findings };
        fields.check_names();
        fields
    }

    /// Where a field stands.
    pub(crate) fn path(&self, name: &str) -> String {
        format!("{}.{name}", self.path)
    }

    /// Every field, as an object.
    pub(crate) fn objects(&self) -> Vec<(&'f str, Fields<'f>)> {
        let object = |(name, value): (&'f String, &'f Value)| {
            (name.as_str(), Fields::new(self.path(name), value, self.rows_below(name), self.findings))
        };
        self.fields.into_iter().flatten().map(object).collect()
    }

    /// A field that is an object; absent ones are empty.
    pub(crate) fn object(&self, name: &str) -> Fields<'f> {
        let value = self.get(name).unwrap_or(&Value::Null);
        Fields::new(self.path(name), value, self.rows_below(name), self.findings)
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
                self.wrong(name, &shown(other), "must be a string");
                None
            }
        }
    }

    /// A text, or what the table takes it for.
    pub(crate) fn text_or_default(&self, name: &str) -> &'f str {
        self.text(name).unwrap_or_else(|| self.default(name))
    }

    /// A text that must be there.
    pub(crate) fn needed(&self, name: &str, why: &str) -> Option<&'f str> {
        if !self.has(name) || self.get(name) == Some(&Value::String(String::new())) {
            self.findings.add(Violation::required(self.path(name), why));
            return None;
        }
        self.text(name)
    }

    /// One of the words that the table allows, or its default.
    pub(crate) fn word(&self, name: &str) -> &'static str {
        let Some(text) = self.text(name) else { return self.default(name) };
        let words = self.row(name).map_or(&[][..], |row| row.allowed);
        words.iter().find(|word| **word == text).copied().unwrap_or_else(|| {
            self.findings.add(Violation::unsupported(self.path(name), text, words));
            self.default(name)
        })
    }

    /// Yes or no, or what the table takes it for.
    pub(crate) fn flag(&self, name: &str) -> bool {
        match self.get(name) {
            None => self.default(name) == "true",
            Some(Value::Bool(flag)) => *flag,
            Some(other) => {
                self.wrong(name, &shown(other), "must be true or false");
                false
            }
        }
    }

    /// A whole number that the table allows, or its default.
    pub(crate) fn number(&self, name: &str) -> i64 {
        let default = self.default(name).parse().unwrap_or_default();
        let range = match self.row(name).map(|row| row.kind) {
            Some(FieldKind::Int(low, high)) => low..=high,
            _ => i64::MIN..=i64::MAX,
        };
        match self.get(name) {
            None => default,
            Some(value) => value.as_i64().filter(|number| range.contains(number)).unwrap_or_else(|| {
                let detail = format!("must be a number from {} to {}", range.start(), range.end());
                self.wrong(name, &shown(value), &detail);
                default
            }),
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
                self.wrong(name, &shown(other), "must be a list of strings");
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

    /// The first look at the file finds these too; settings may also come from a program that never had a file.
    fn check_names(&self) {
        for (name, _) in self.fields.into_iter().flatten() {
            if self.row(name).is_none() {
                let may_stand = self.rows.iter().filter(|row| row.presence != Presence::RefusedByRule);
                let names: Vec<&str> = may_stand.map(|row| row.name).collect();
                let detail = format!("known fields: {}", names.join(", "));
                self.findings.add(Violation::new(self.path(name), FieldErrorKind::Unknown, None, detail));
            }
        }
    }

    fn row(&self, name: &str) -> Option<&'static Field> {
        Field::find(self.rows, name)
    }

    fn rows_below(&self, name: &str) -> &'static [Field] {
        self.row(name).map_or(&[], Field::children)
    }

    fn default(&self, name: &str) -> &'static str {
        self.row(name).map_or("", |row| row.default)
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
