//! Names, namespaces, labels and annotations (apimachinery `pkg/api/validation` and `pkg/util/validation`).

use hardway_assets::violation::FieldErrorKind;
use serde_json::Value;

use crate::{FieldPath, Mistake};

/// What a kind asks of the name of its objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameRule {
    /// RFC 1123 subdomain: most kinds.
    Subdomain,
    /// RFC 1123 label: namespaces.
    Label,
    /// RFC 1035 label: services.
    Label1035,
    /// Anything that fits into a URL's path: RBAC.
    PathSegment,
}

/// All annotations of an object together.
const MAX_ANNOTATIONS: usize = 256 * 1024;

/// Everything wrong with the metadata of an object, whose types are right.
pub(crate) fn check(object: &Value, rule: NameRule, is_namespaced: bool) -> Vec<Mistake> {
    let path = FieldPath::of(&["metadata"]);
    let metadata = &object["metadata"];
    let text = |key: &str| metadata.get(key).and_then(Value::as_str).unwrap_or_default();
    let mut found = Vec::new();
    let (name, prefix) = (text("name"), text("generateName"));
    if !prefix.is_empty() {
        let masked = prefix.strip_suffix('-').map_or(prefix.to_owned(), |prefix| format!("{prefix}a"));
        found.extend(name_mistake(&masked, rule).map(|detail| {
            Mistake::new(&path.field("generateName"), FieldErrorKind::Invalid, detail).of(&prefix.into())
        }));
    }
    if name.is_empty() && prefix.is_empty() {
        found.push(Mistake::new(
            &path.field("name"),
            FieldErrorKind::Required,
            "name or generateName is required",
        ));
    } else if !name.is_empty() {
        found.extend(name_mistake(name, rule).map(|detail| {
            Mistake::new(&path.field("name"), FieldErrorKind::Invalid, detail).of(&name.into())
        }));
    }
    let namespace = text("namespace");
    if is_namespaced && namespace.is_empty() {
        found.push(Mistake::new(&path.field("namespace"), FieldErrorKind::Required, ""));
    } else if is_namespaced && !is_label(namespace) {
        let mistake = Mistake::new(&path.field("namespace"), FieldErrorKind::Invalid, LABEL);
        found.push(mistake.of(&namespace.into()));
    }
    labels(metadata, &path, &mut found);
    annotations(metadata, &path, &mut found);
    owners(metadata, &path, &mut found);
    found
}

const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
const LABEL_1035: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character";

fn name_mistake(name: &str, rule: NameRule) -> Option<String> {
    let bad = match rule {
        NameRule::Subdomain => (!is_subdomain(name)).then_some(SUBDOMAIN),
        NameRule::Label => (!is_label(name)).then_some(LABEL),
        NameRule::Label1035 => {
            (!is_label(name) || name.starts_with(|c: char| c.is_ascii_digit())).then_some(LABEL_1035)
        }
        NameRule::PathSegment => (name == "." || name == ".." || name.contains(['/', '%']))
            .then_some("may not be '.' or '..', nor contain '/' or '%'"),
    };
    bad.map(str::to_owned)
}

/// `master-0`
pub(crate) fn is_label(text: &str) -> bool {
    let alphanumeric = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let bytes = text.as_bytes();
    (1..=63).contains(&bytes.len())
        && bytes.iter().all(|b| alphanumeric(b) || *b == b'-')
        && bytes.first().is_some_and(alphanumeric)
        && bytes.last().is_some_and(alphanumeric)
}

/// `a.example.com`; its parts may be longer than DNS has it.
pub(crate) fn is_subdomain(text: &str) -> bool {
    let alphanumeric = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let part = |part: &str| {
        let bytes = part.as_bytes();
        bytes.iter().all(|b| alphanumeric(b) || *b == b'-')
            && bytes.first().is_some_and(alphanumeric)
            && bytes.last().is_some_and(alphanumeric)
    };
    (1..=253).contains(&text.len()) && text.split('.').all(part)
}

/// `example.com/name`
pub(crate) fn is_qualified_name(text: &str) -> bool {
    match text.split_once('/') {
        Some((prefix, name)) => is_subdomain(prefix) && is_name_part(name),
        None => is_name_part(text),
    }
}

/// Up to 63 letters, digits, `-`, `_` and `.`, beginning and ending with a letter or digit.
fn is_name_part(text: &str) -> bool {
    let bytes = text.as_bytes();
    (1..=63).contains(&bytes.len())
        && bytes.iter().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(b))
        && bytes.first().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
}

pub(crate) fn is_label_value(text: &str) -> bool {
    text.is_empty() || is_name_part(text)
}

const QUALIFIED: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character, with an optional DNS subdomain prefix and '/'";

fn labels(metadata: &Value, path: &FieldPath, found: &mut Vec<Mistake>) {
    let path = path.field("labels");
    for (key, value) in metadata.get("labels").and_then(Value::as_object).into_iter().flatten() {
        if !is_qualified_name(key) {
            found.push(Mistake::new(&path, FieldErrorKind::Invalid, QUALIFIED).of(&key.as_str().into()));
        }
        if value.as_str().is_some_and(|value| !is_label_value(value)) {
            let detail = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character, and be no more than 63 characters";
            found.push(Mistake::new(&path.key(key), FieldErrorKind::Invalid, detail).of(value));
        }
    }
}

fn annotations(metadata: &Value, path: &FieldPath, found: &mut Vec<Mistake>) {
    let path = path.field("annotations");
    let mut size = 0;
    for (key, value) in metadata.get("annotations").and_then(Value::as_object).into_iter().flatten() {
        size += key.len() + value.as_str().map_or(0, str::len);
        // The part before the slash may be written in capitals here.
        if !is_qualified_name(&key.to_lowercase()) {
            found.push(Mistake::new(&path, FieldErrorKind::Invalid, QUALIFIED).of(&key.as_str().into()));
        }
    }
    if size > MAX_ANNOTATIONS {
        let detail = format!("may not be more than {MAX_ANNOTATIONS} bytes, are {size}");
        found.push(Mistake::new(&path, FieldErrorKind::TooLong, detail));
    }
}

fn owners(metadata: &Value, path: &FieldPath, found: &mut Vec<Mistake>) {
    let list = |key: &str| metadata.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    for (index, owner) in list("ownerReferences").iter().enumerate() {
        for key in ["apiVersion", "kind", "name", "uid"] {
            if owner.get(key).and_then(Value::as_str).is_none_or(str::is_empty) {
                let path = path.field("ownerReferences").index(index).field(key);
                found.push(Mistake::new(&path, FieldErrorKind::Invalid, "must not be empty"));
            }
        }
    }
    for (index, finalizer) in list("finalizers").iter().enumerate() {
        if finalizer.as_str().is_some_and(|text| !is_qualified_name(text)) {
            let path = path.field("finalizers").index(index);
            found.push(Mistake::new(&path, FieldErrorKind::Invalid, QUALIFIED).of(finalizer));
        }
    }
}
