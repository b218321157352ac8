//! The table of built-in kinds is what the real kube-apiserver says of itself.
//! `HARDWAY_GOLDEN=write cargo test -p hardway-manifests --test it kubernetes_table` takes a new one.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use fs_err as fs;
use hardway_testing::{ControlPlane, succeed};
use serde_json::Value;

#[test]
fn real_kube_apiserver_has_these_kinds_and_types() {
    let plane = ControlPlane::shared();
    let raw = |path: &str| -> Value {
        serde_json::from_str(&succeed(plane.kubectl().args(["get", "--raw", path]))).unwrap()
    };
    let version = raw("/version");
    let mut table = Table::default();
    let index = raw("/openapi/v3");
    for (group, place) in index["paths"].as_object().unwrap() {
        if !is_stable(group) {
            continue;
        }
        table.take(&raw(place["serverRelativeURL"].as_str().unwrap()));
    }
    let minor = version["minor"].as_str().unwrap();
    let text = format!("version {}.{minor}\n{}", version["major"].as_str().unwrap(), table.text());
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/kubernetes.txt");
    if std::env::var("HARDWAY_GOLDEN").is_ok_and(|mode| mode == "write") {
        fs::write(file, &text).unwrap();
    }
    assert!(
        fs::read_to_string(file).unwrap() == text,
        "kubernetes.txt is not what this kube-apiserver says: take a new one"
    );
}

/// Alpha and beta versions change; people's manifests do not have them.
fn is_stable(group: &str) -> bool {
    let version = group.rsplit('/').next().unwrap_or_default();
    group.starts_with("api")
        && version.starts_with('v')
        && !version.contains("alpha")
        && !version.contains("beta")
}

#[derive(Default)]
struct Table {
    kinds: BTreeSet<String>,
    types: BTreeMap<String, Value>,
}

impl Table {
    fn take(&mut self, document: &Value) {
        for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
            self.types.insert(short(name), schema.clone());
        }
        for (path, operations) in document["paths"].as_object().unwrap() {
            let Some(post) =
                operations.get("post").filter(|post| !post["x-kubernetes-group-version-kind"].is_null())
            else {
                continue;
            };
            let is_main =
                path.rsplit('/').next().is_some_and(|last| !last.starts_with('{')) && !is_subresource(path);
            if !is_main {
                continue;
            }
            let gvk = &post["x-kubernetes-group-version-kind"];
            let (group, version, kind) = (
                gvk["group"].as_str().unwrap(),
                gvk["version"].as_str().unwrap(),
                gvk["kind"].as_str().unwrap(),
            );
            let api_version =
                if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
            let scope = if path.contains("{namespace}/") { "namespaced" } else { "cluster" };
            let body = &post["requestBody"]["content"]["*/*"]["schema"]["$ref"];
            let Some(reference) = body.as_str() else { continue };
            self.kinds.insert(format!("kind {api_version} {kind} {scope} {}", short(last_part(reference))));
        }
    }

    /// Types that no kind reaches are left out.
    fn text(&self) -> String {
        let mut reached = BTreeSet::from(["meta.v1.ObjectMeta".to_owned()]);
        let mut open: Vec<String> = self
            .kinds
            .iter()
            .map(|line| line.rsplit(' ').next().unwrap().to_owned())
            .chain(reached.clone())
            .collect();
        let mut text: String = self.kinds.iter().fold(String::new(), |text, line| text + line + "\n");
        while let Some(name) = open.pop() {
            reached.insert(name.clone());
            for inner in references(&self.types[&name]) {
                if !reached.contains(&inner) {
                    open.push(inner);
                }
            }
        }
        for name in reached {
            let schema = &self.types[&name];
            match schema["properties"].as_object() {
                Some(fields) if known(&name).is_none() => {
                    writeln!(text, "type {name}").unwrap();
                    let required: Vec<&str> = schema["required"]
                        .as_array()
                        .into_iter()
                        .flatten()
                        .filter_map(Value::as_str)
                        .collect();
                    for (field, schema) in fields {
                        let mark = if required.contains(&field.as_str()) { "!" } else { "" };
                        let allowed: String = schema["enum"]
                            .as_array()
                            .into_iter()
                            .flatten()
                            .map(|value| format!(" {}", value.as_str().unwrap()))
                            .collect();
                        writeln!(text, " {field}{mark} {}{allowed}", type_of(schema)).unwrap();
                    }
                }
                _ => writeln!(
                    text,
                    "type {name} = {}",
                    known(&name).map_or_else(|| type_of(schema), str::to_owned)
                )
                .unwrap(),
            }
        }
        text
    }
}

fn is_subresource(path: &str) -> bool {
    // /…/pods/{name}/binding
    path.rsplit('/').nth(1).is_some_and(|before| before == "{name}")
}

fn last_part(reference: &str) -> &str {
    reference.rsplit('/').next().unwrap()
}

fn short(name: &str) -> String {
    for (long, short) in [
        ("io.k8s.api.", ""),
        ("io.k8s.apimachinery.pkg.apis.", ""),
        ("io.k8s.apimachinery.pkg.", ""),
        ("io.k8s.apiextensions-apiserver.pkg.apis.", ""),
        ("io.k8s.kube-aggregator.pkg.apis.", ""),
    ] {
        if let Some(rest) = name.strip_prefix(long) {
            return format!("{short}{rest}");
        }
    }
    name.to_owned()
}

/// Types that read their JSON themselves.
fn known(name: &str) -> Option<&'static str> {
    match name {
        "api.resource.Quantity" => Some("quantity"),
        "util.intstr.IntOrString" => Some("int-or-string"),
        "meta.v1.Time" | "meta.v1.MicroTime" => Some("time"),
        "meta.v1.FieldsV1" | "runtime.RawExtension" => Some("object"),
        name if name.starts_with("apiextensions.v1.JSON") && name != "apiextensions.v1.JSONSchemaProps" => {
            Some("any")
        }
        _ => None,
    }
}

fn type_of(schema: &Value) -> String {
    if let Some(reference) = reference(schema) {
        return known(&reference).map_or(reference, str::to_owned);
    }
    match (schema["type"].as_str(), schema["format"].as_str()) {
        (Some("array"), _) => format!("[{}]", type_of(&schema["items"])),
        (Some("object"), _) if schema["additionalProperties"].is_object() => {
            format!("{{{}}}", type_of(&schema["additionalProperties"]))
        }
        (Some("object"), _) => "object".to_owned(),
        (Some("string"), Some("byte")) => "bytes".to_owned(),
        (Some("string"), Some("date-time")) => "time".to_owned(),
        (Some("string"), Some("int-or-string")) => "int-or-string".to_owned(),
        (Some("integer"), Some("int32")) => "int32".to_owned(),
        (Some(plain), _) => plain.to_owned(),
        (None, _) => "any".to_owned(),
    }
}

fn reference(schema: &Value) -> Option<String> {
    let own = schema["$ref"].as_str();
    own.or_else(|| schema["allOf"][0]["$ref"].as_str()).map(|reference| short(last_part(reference)))
}

fn references(schema: &Value) -> Vec<String> {
    match schema {
        Value::Object(fields) => {
            let inner = fields.values().flat_map(references);
            schema["$ref"]
                .as_str()
                .map(|reference| short(last_part(reference)))
                .into_iter()
                .chain(inner)
                .collect()
        }
        Value::Array(items) => items.iter().flat_map(references).collect(),
        _ => Vec::new(),
    }
}
