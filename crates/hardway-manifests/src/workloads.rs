//! What an API server asks of pods, of what makes pods, and of Services beyond their types (kubernetes `pkg/apis/core/validation`,
//! `pkg/apis/apps/validation`): the mistakes that people make in manifests, not all that there are.

use std::collections::BTreeSet;

use hardway_assets::violation::FieldErrorKind;
use serde_json::Value;

use crate::cel::Quantity;
use crate::metadata::is_label;
use crate::{FieldPath, Mistake};

const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
const PORT: &str = "must be between 1 and 65535, inclusive";

/// Everything wrong with a workload or Service whose types are right.
pub(crate) fn check(object: &Value) -> Vec<Mistake> {
    let text = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default();
    let mut found = Vec::new();
    let spec = FieldPath::of(&["spec"]);
    match (text("apiVersion"), text("kind")) {
        ("v1", "Pod") => pod(&object["spec"], &spec, &mut found),
        ("v1", "Service") => service(&object["spec"], &spec, &mut found),
        ("apps/v1", "DaemonSet" | "Deployment" | "ReplicaSet" | "StatefulSet") => {
            template(&object["spec"], &spec, &mut found);
        }
        ("batch/v1", "Job") => {
            pod(&object["spec"]["template"]["spec"], &spec.field("template").field("spec"), &mut found);
        }
        ("batch/v1", "CronJob") => {
            let path = spec.field("jobTemplate").field("spec").field("template").field("spec");
            pod(&object["spec"]["jobTemplate"]["spec"]["template"]["spec"], &path, &mut found);
        }
        _ => {}
    }
    found
}

fn list<'o>(value: &'o Value, key: &str) -> &'o [Value] {
    value.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn text_of<'o>(value: &'o Value, key: &str) -> &'o str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// What makes pods has to find its own again.
fn template(spec: &Value, path: &FieldPath, found: &mut Vec<Mistake>) {
    let (selector, template) = (&spec["selector"], &spec["template"]);
    let labels = &template["metadata"]["labels"];
    if selector.is_object() && is_empty(selector) {
        let detail = "empty selector is invalid";
        found.push(Mistake::new(&path.field("selector"), FieldErrorKind::Invalid, detail));
    } else if selector.is_object() && !selects(selector, labels) {
        let labels = path.field("template").field("metadata").field("labels");
        let detail = "`selector` does not match template `labels`";
        found.push(Mistake::new(&labels, FieldErrorKind::Invalid, detail));
    }
    let path = path.field("template").field("spec");
    let policy = text_of(&template["spec"], "restartPolicy");
    if !["", "Always"].contains(&policy) {
        let mistake = Mistake::new(
            &path.field("restartPolicy"),
            FieldErrorKind::Unsupported,
            "supported values: \"Always\"",
        );
        found.push(mistake.of(&policy.into()));
    }
    pod(&template["spec"], &path, found);
}

fn is_empty(selector: &Value) -> bool {
    selector["matchLabels"].as_object().is_none_or(serde_json::Map::is_empty)
        && list(selector, "matchExpressions").is_empty()
}

fn selects(selector: &Value, labels: &Value) -> bool {
    let mut exact = selector["matchLabels"].as_object().into_iter().flatten();
    let fits = |expression: &Value| {
        let value = labels.get(text_of(expression, "key"));
        let is_listed = value.is_some_and(|value| list(expression, "values").contains(value));
        match text_of(expression, "operator") {
            "In" => is_listed,
            "NotIn" => !is_listed,
            "Exists" => value.is_some(),
            "DoesNotExist" => value.is_none(),
            // Said by whoever looks at operators.
            _ => true,
        }
    };
    exact.all(|(key, value)| labels.get(key) == Some(value))
        && list(selector, "matchExpressions").iter().all(fits)
}

fn pod(spec: &Value, path: &FieldPath, found: &mut Vec<Mistake>) {
    let volumes = names(spec, "volumes", path, &mut BTreeSet::new(), found);
    let mut taken = BTreeSet::new();
    for kind in ["initContainers", "containers"] {
        names(spec, kind, path, &mut taken, found);
        for (index, one) in list(spec, kind).iter().enumerate() {
            container(one, &path.field(kind).index(index), &volumes, found);
        }
    }
    if spec.is_object() && list(spec, "containers").is_empty() {
        found.push(Mistake::new(&path.field("containers"), FieldErrorKind::Required, ""));
    }
}

/// Names in a list are labels, and none is there twice.
fn names<'o>(
    spec: &'o Value,
    kind: &str,
    path: &FieldPath,
    taken: &mut BTreeSet<&'o str>,
    found: &mut Vec<Mistake>,
) -> BTreeSet<&'o str> {
    let mut all = BTreeSet::new();
    for (index, one) in list(spec, kind).iter().enumerate() {
        let name = text_of(one, "name");
        let path = path.field(kind).index(index).field("name");
        if name.is_empty() {
            continue;
        }
        if !is_label(name) {
            found.push(Mistake::new(&path, FieldErrorKind::Invalid, LABEL).of(&name.into()));
        } else if !taken.insert(name) {
            found.push(Mistake::new(&path, FieldErrorKind::Duplicate, "").of(&name.into()));
        }
        all.insert(name);
    }
    all
}

fn container(one: &Value, path: &FieldPath, volumes: &BTreeSet<&str>, found: &mut Vec<Mistake>) {
    if text_of(one, "image").is_empty() {
        found.push(Mistake::new(&path.field("image"), FieldErrorKind::Required, ""));
    }
    for (index, port) in list(one, "ports").iter().enumerate() {
        is_port(&port["containerPort"], &path.field("ports").index(index).field("containerPort"), found);
    }
    for (index, mount) in list(one, "volumeMounts").iter().enumerate() {
        let name = text_of(mount, "name");
        if !name.is_empty() && !volumes.contains(name) {
            let path = path.field("volumeMounts").index(index).field("name");
            found.push(Mistake::new(&path, FieldErrorKind::NotFound, "").of(&name.into()));
        }
    }
    resources(&one["resources"], &path.field("resources"), found);
}

fn is_port(value: &Value, path: &FieldPath, found: &mut Vec<Mistake>) {
    match value.as_i64() {
        Some(port) if (1..=65535).contains(&port) => {}
        Some(0) | None if !value.is_string() => found.push(Mistake::new(path, FieldErrorKind::Required, "")),
        _ => found.push(Mistake::new(path, FieldErrorKind::Invalid, PORT).of(value)),
    }
}

fn resources(resources: &Value, path: &FieldPath, found: &mut Vec<Mistake>) {
    let amount = |value: &Value| match value {
        Value::String(text) => Quantity::parse(text),
        Value::Number(number) => Quantity::parse(&number.to_string()),
        _ => None,
    };
    for kind in ["limits", "requests"] {
        for (name, value) in resources[kind].as_object().into_iter().flatten() {
            if amount(value).is_none() && !value.is_null() {
                let detail = "is no quantity, such as 500m, 2 or 1Gi";
                let path = path.field(kind).key(name);
                found.push(Mistake::new(&path, FieldErrorKind::Invalid, detail).of(value));
            }
        }
    }
    for (name, request) in resources["requests"].as_object().into_iter().flatten() {
        let limit = resources["limits"].get(name);
        if let (Some(wanted), Some(most)) = (amount(request), limit.and_then(amount))
            && wanted > most
        {
            let detail = format!("must be less than or equal to {name} limit");
            found.push(Mistake::new(&path.field("requests"), FieldErrorKind::Invalid, detail).of(request));
        }
    }
}

fn service(spec: &Value, path: &FieldPath, found: &mut Vec<Mistake>) {
    let ports = list(spec, "ports");
    for (index, port) in ports.iter().enumerate() {
        let path = path.field("ports").index(index);
        if port.get("port").is_some() {
            match port["port"].as_i64() {
                Some(number) if (1..=65535).contains(&number) => {}
                _ => found
                    .push(Mistake::new(&path.field("port"), FieldErrorKind::Invalid, PORT).of(&port["port"])),
            }
        }
        if ports.len() > 1 && text_of(port, "name").is_empty() {
            found.push(Mistake::new(&path.field("name"), FieldErrorKind::Required, ""));
        }
    }
}
