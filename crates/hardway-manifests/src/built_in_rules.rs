//! What an API server asks of its own kinds beyond their types (kubernetes `pkg/apis/*/validation`), as far as it is about
//! objects that people put into manifests.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hardway_assets::violation::FieldErrorKind;
use serde_json::Value;

use crate::metadata::NameRule;
use crate::{FieldPath, Mistake};

/// All values of a Secret or ConfigMap together.
const MAX_DATA: usize = 1024 * 1024;

/// What the name of an object of this kind may be.
pub(crate) fn name_rule(object: &Value) -> NameRule {
    let text = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default();
    match (text("apiVersion"), text("kind")) {
        ("v1", "Namespace") => NameRule::Label,
        ("v1", "Service") => NameRule::Label1035,
        (version, _) if version.starts_with("rbac.authorization.k8s.io/") => NameRule::PathSegment,
        (version, "CertificateSigningRequest") if version.starts_with("certificates.k8s.io/") => {
            NameRule::Subdomain
        }
        _ => NameRule::Subdomain,
    }
}

/// Everything wrong with an object whose types are right.
pub(crate) fn check(object: &Value) -> Vec<Mistake> {
    let text = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default();
    let mut found = Vec::new();
    match (text("apiVersion"), text("kind")) {
        ("v1", "ConfigMap") => {
            data_keys(object, &["data", "binaryData"], &mut found);
            encoded(object, "binaryData", &mut found);
            data_size(object, &["data", "binaryData"], &mut found);
            data_in_both(object, &mut found);
        }
        ("v1", "Secret") => {
            data_keys(object, &["data", "stringData"], &mut found);
            encoded(object, "data", &mut found);
            data_size(object, &["data", "stringData"], &mut found);
            secret_type(object, &mut found);
        }
        (version, "ClusterRole" | "Role") if version.starts_with("rbac.authorization.k8s.io/") => {
            policy_rules(object, &mut found);
        }
        (version, "ClusterRoleBinding" | "RoleBinding")
            if version.starts_with("rbac.authorization.k8s.io/") =>
        {
            subjects(object, &mut found);
        }
        (version, "CustomResourceDefinition") if version.starts_with("apiextensions.k8s.io/") => {
            definition(object, &mut found);
        }
        _ => {}
    }
    found
}

fn entries<'o>(object: &'o Value, field: &str) -> impl Iterator<Item = (&'o String, &'o Value)> + use<'o> {
    object.get(field).and_then(Value::as_object).into_iter().flatten()
}

fn data_keys(object: &Value, fields: &[&str], found: &mut Vec<Mistake>) {
    for field in fields {
        for (key, _) in entries(object, field) {
            let is_good = !key.is_empty()
                && key.len() <= 253
                && key.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b))
                && key != "."
                && !key.starts_with("..");
            if !is_good {
                let detail = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";
                let path = FieldPath::of(&[field]).key(key);
                found.push(Mistake::new(&path, FieldErrorKind::Invalid, detail).of(&key.as_str().into()));
            }
        }
    }
}

/// Decoding happens before anything else is looked at; what does not decode is never shown.
fn encoded(object: &Value, field: &str, found: &mut Vec<Mistake>) {
    for (key, value) in entries(object, field) {
        let is_good =
            value.as_str().is_none_or(|text| STANDARD.decode(text.replace(['\r', '\n'], "")).is_ok());
        if !is_good {
            let path = FieldPath::of(&[field]).key(key);
            let mistake = Mistake::new(&path, FieldErrorKind::Type, "must be base64 with its padding");
            found.push(match object.get("kind").and_then(Value::as_str) {
                Some("Secret") => mistake.fix("plain text goes into stringData"),
                _ => mistake.fix("plain text goes into data"),
            });
        }
    }
}

fn data_size(object: &Value, fields: &[&str], found: &mut Vec<Mistake>) {
    let size_of = |(field, value): (&str, &Value)| {
        let length = value.as_str().map_or(0, str::len);
        if field == "data" && object.get("kind").and_then(Value::as_str) == Some("Secret")
            || field == "binaryData"
        {
            length / 4 * 3
        } else {
            length
        }
    };
    let size: usize = fields
        .iter()
        .flat_map(|field| entries(object, field).map(move |(_, value)| (*field, value)))
        .map(size_of)
        .sum();
    if size > MAX_DATA {
        let detail = format!("may not be more than {MAX_DATA} bytes, are {size}");
        found.push(Mistake::new(&FieldPath::of(&[fields[0]]), FieldErrorKind::TooLong, detail));
    }
}

fn data_in_both(object: &Value, found: &mut Vec<Mistake>) {
    for (key, _) in entries(object, "binaryData") {
        if object.get("data").is_some_and(|data| data.get(key).is_some()) {
            let path = FieldPath::of(&["data"]).key(key);
            found.push(Mistake::new(
                &path,
                FieldErrorKind::Invalid,
                "duplicate of key present in binaryData",
            ));
        }
    }
}

/// Secrets of some types have keys that must be there (`ValidateSecret`).
fn secret_type(object: &Value, found: &mut Vec<Mistake>) {
    let needed: &[&str] = match object.get("type").and_then(Value::as_str).unwrap_or_default() {
        "kubernetes.io/dockerconfigjson" => &[".dockerconfigjson"],
        "kubernetes.io/dockercfg" => &[".dockercfg"],
        "kubernetes.io/ssh-auth" => &["ssh-privatekey"],
        "kubernetes.io/tls" => &["tls.crt", "tls.key"],
        _ => &[],
    };
    let value = |key: &str| -> Option<Vec<u8>> {
        let plain = object.get("stringData").and_then(|data| data.get(key)).and_then(Value::as_str);
        let encoded = object.get("data").and_then(|data| data.get(key)).and_then(Value::as_str);
        plain.map(|text| text.as_bytes().to_vec()).or_else(|| STANDARD.decode(encoded?).ok())
    };
    for key in needed {
        let path = FieldPath::of(&["data"]).key(key);
        match value(key) {
            None => found.push(Mistake::new(&path, FieldErrorKind::Required, "")),
            Some(bytes) if key.starts_with(".docker") && serde_json::from_slice::<Value>(&bytes).is_err() => {
                found.push(Mistake::new(&path, FieldErrorKind::Invalid, "is not JSON"));
            }
            Some(_) => {}
        }
    }
}

fn policy_rules(object: &Value, found: &mut Vec<Mistake>) {
    let list = |rule: &Value, key: &str| rule.get(key).and_then(Value::as_array).map_or(0, Vec::len);
    for (index, rule) in object.get("rules").and_then(Value::as_array).into_iter().flatten().enumerate() {
        let path = FieldPath::of(&["rules"]).index(index);
        if list(rule, "verbs") == 0 {
            found.push(Mistake::new(
                &path.field("verbs"),
                FieldErrorKind::Required,
                "verbs must contain at least one value",
            ));
        }
        if list(rule, "nonResourceURLs") > 0 {
            continue;
        }
        for key in ["apiGroups", "resources"].into_iter().filter(|key| list(rule, key) == 0) {
            let detail = format!(
                "resource rules must supply at least one {}",
                if key == "apiGroups" { "api group" } else { "resource" }
            );
            found.push(Mistake::new(&path.field(key), FieldErrorKind::Required, detail));
        }
    }
}

fn subjects(object: &Value, found: &mut Vec<Mistake>) {
    let text =
        |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    for (index, subject) in object.get("subjects").and_then(Value::as_array).into_iter().flatten().enumerate()
    {
        let path = FieldPath::of(&["subjects"]).index(index);
        match text(subject, "kind").as_str() {
            "ServiceAccount" if text(subject, "namespace").is_empty() => {
                found.push(Mistake::new(&path.field("namespace"), FieldErrorKind::Required, ""));
            }
            "ServiceAccount" | "User" | "Group" => {}
            other => {
                let detail = "supported values: \"ServiceAccount\", \"User\", \"Group\"";
                found.push(
                    Mistake::new(&path.field("kind"), FieldErrorKind::Unsupported, detail).of(&other.into()),
                );
            }
        }
    }
    let role = text(&object["roleRef"], "kind");
    let allowed: &[&str] = match object.get("kind").and_then(Value::as_str) {
        Some("RoleBinding") => &["Role", "ClusterRole"],
        _ => &["ClusterRole"],
    };
    if !role.is_empty() && !allowed.contains(&role.as_str()) {
        let detail = format!("supported values: {allowed:?}");
        let path = FieldPath::of(&["roleRef", "kind"]);
        found.push(Mistake::new(&path, FieldErrorKind::Unsupported, detail).of(&role.into()));
    }
}

/// A CRD is named after what it defines, and its rules can be read.
fn definition(object: &Value, found: &mut Vec<Mistake>) {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let expected = format!("{}.{}", text("/spec/names/plural"), text("/spec/group"));
    if text("/metadata/name") != expected {
        let path = FieldPath::of(&["metadata", "name"]);
        let detail = format!("must be spec.names.plural+\".\"+spec.group: {expected}");
        found.push(Mistake::new(&path, FieldErrorKind::Invalid, detail).of(&text("/metadata/name").into()));
    }
    let versions = object.pointer("/spec/versions").and_then(Value::as_array).cloned().unwrap_or_default();
    let stored = versions.iter().filter(|version| version.get("storage") == Some(&Value::Bool(true))).count();
    if stored != 1 {
        let detail = "must have exactly one version marked as storage version";
        found.push(Mistake::new(&FieldPath::of(&["spec", "versions"]), FieldErrorKind::Invalid, detail));
    }
    for (index, version) in versions.iter().enumerate() {
        let path = FieldPath::of(&["spec", "versions"]).index(index).field("schema").field("openAPIV3Schema");
        match version.pointer("/schema/openAPIV3Schema") {
            None => found.push(Mistake::new(&path, FieldErrorKind::Required, "schemas are required")),
            Some(schema) => rules_can_be_read(schema, &path, found),
        }
    }
}

fn rules_can_be_read(schema: &Value, path: &FieldPath, found: &mut Vec<Mistake>) {
    let rules = schema.get("x-kubernetes-validations").and_then(Value::as_array).into_iter().flatten();
    for (index, rule) in rules.enumerate() {
        if let Some(why) = crate::cel::ValidationRule::read(rule).syntax_error() {
            let path = path.field("x-kubernetes-validations").index(index).field("rule");
            found.push(Mistake::new(&path, FieldErrorKind::Invalid, format!("cannot be read: {why}")));
        }
    }
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        rules_can_be_read(property, &path.field("properties").key(name), found);
    }
    for key in ["items", "additionalProperties"] {
        if let Some(below) = schema.get(key).filter(|below| below.is_object()) {
            rules_can_be_read(below, &path.field(key), found);
        }
    }
}
