//! Kubernetes objects of a folder, without what chance or the clock made.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use anyhow::Result;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hardway_assets::yaml;
use serde_json::Value;

use super::reasons;

/// By kind, namespace and name; configuration files, which have no name, by their kind.
#[derive(Debug, Default)]
pub(super) struct Objects(BTreeMap<String, Value>);

/// Something that the real program writes and hardway does not, or not so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Difference {
    /// `ConfigMap openshift-etcd/etcd-endpoints`.
    pub(super) object: String,
    /// Where in it, and both values; nothing where hardway has no such object.
    pub(super) field: Option<(String, String, String)>,
}

impl Difference {
    /// An object that hardway does not have.
    pub(super) fn missing(object: &str) -> Self {
        Self { object: object.to_owned(), field: None }
    }

    /// Why it is meant, if it is.
    pub(super) fn reason(&self) -> Option<&'static str> {
        let path = self.field.as_ref().map_or("", |(path, _, _)| path);
        reasons::of(&self.object, path)
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.field {
            None => write!(f, "{}: hardway has none", self.object),
            Some((path, theirs, ours)) => write!(f, "{} {path}: {theirs}, hardway's {ours}", self.object),
        }
    }
}

impl Objects {
    /// Every object in the YAML files of a folder and those below it.
    pub(super) fn below(folder: &Path) -> Result<Self> {
        let mut objects = Self::default();
        for entry in fs_err::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                objects.0.extend(Self::below(&path)?.0);
            } else if may_have_objects(&path) {
                objects.take(&fs_err::read_to_string(&path)?);
            }
        }
        Ok(objects)
    }

    /// Whatever is no object is passed over.
    fn take(&mut self, text: &str) {
        for document in yaml::read_all(text).unwrap_or_default() {
            let object = document.to_json();
            let word =
                |path: &str| object.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned();
            let (kind, name) = (word("/kind"), word("/metadata/name"));
            if !kind.is_empty() && (!name.is_empty() || kind.ends_with("Config")) {
                let namespace = Some(word("/metadata/namespace")).filter(|namespace| !namespace.is_empty());
                let namespace = namespace.map(|namespace| namespace + "/").unwrap_or_default();
                self.0.insert(format!("{kind} {namespace}{name}"), masked("", object));
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// What is here and not, or not so, in the others. What the others have beyond is theirs alone.
    pub(super) fn differences(&self, others: &Self) -> Vec<Difference> {
        let mut found = Vec::new();
        for (name, object) in &self.0 {
            match others.0.get(name) {
                None => found.push(Difference::missing(name)),
                Some(other) => walk(name, "", object, other, &mut found),
            }
        }
        found
    }
}

/// What is told to write its configuration to `config` writes no ending.
fn may_have_objects(path: &Path) -> bool {
    match path.extension() {
        Some(ending) => ["yaml", "yml", "json"].iter().any(|known| ending == *known),
        None => path.file_name().is_some_and(|name| name.to_string_lossy().ends_with("config")),
    }
}

fn walk(object: &str, path: &str, theirs: &Value, ours: &Value, found: &mut Vec<Difference>) {
    if let (Some(theirs), Some(ours)) = (by_name(theirs), by_name(ours)) {
        walk(object, path, &theirs, &ours, found);
    } else if let (Value::Object(theirs), Value::Object(ours)) = (theirs, ours) {
        let names: std::collections::BTreeSet<&String> = theirs.keys().chain(ours.keys()).collect();
        for name in names {
            let of = |side: &serde_json::Map<String, Value>| side.get(name).cloned().unwrap_or_default();
            let (theirs, ours) = (of(theirs), of(ours));
            walk(object, &format!("{path}/{}", name.replace('/', "~1")), &theirs, &ours, found);
        }
    } else if !is_same(theirs, ours) {
        let field = Some((path.to_owned(), shown(theirs), shown(ours)));
        found.push(Difference { object: object.to_owned(), field });
    }
}

/// Lists whose order says nothing, as fields: containers, volumes and variables by name, mounts by path, flags by what is before the equals
/// sign, or as a whole where one is repeated.
fn by_name(list: &Value) -> Option<Value> {
    let items = list.as_array().filter(|items| !items.is_empty())?;
    let words: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
    if let Some(words) = words {
        let flag = |word: &str| word.split('=').next().unwrap_or_default().to_owned();
        let is_alone = |name: &String| words.iter().filter(|word| flag(word) == *name).count() == 1;
        let named = words.iter().map(|word| {
            let name = Some(flag(word)).filter(is_alone).unwrap_or_else(|| (*word).to_owned());
            (name, Value::String((*word).to_owned()))
        });
        return Some(Value::Object(named.collect()));
    }
    let name =
        |item: &Value| ["mountPath", "name"].iter().find_map(|key| item[*key].as_str().map(str::to_owned));
    let named: Option<serde_json::Map<String, Value>> =
        items.iter().map(|item| Some((name(item)?, item.clone()))).collect();
    named.filter(|named| named.len() == items.len()).map(Value::Object)
}

/// Nothing, null and empty are one to an API server.
fn is_same(theirs: &Value, ours: &Value) -> bool {
    theirs == ours || (is_empty(theirs) && is_empty(ours))
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(fields) => fields.values().all(is_empty),
        Value::Array(items) => items.is_empty(),
        Value::String(text) => text.is_empty(),
        _ => false,
    }
}

fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(160) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Keys and certificates by what they are, times and serial numbers not at all.
fn masked(key: &str, value: Value) -> Value {
    match value {
        Value::Object(mut fields) => {
            if fields.contains_key("image") {
                fields.insert("flags".to_owned(), flags(&fields));
            }
            fields.into_iter().map(|(key, value)| (key.clone(), masked(&key, value))).collect()
        }
        Value::Array(items) => items.into_iter().map(|item| masked(key, item)).collect(),
        Value::String(text) => Value::String(masked_text(key, &text)),
        other => other,
    }
}

/// A container's flags, whether or not there is a shell around the program.
fn flags(container: &serde_json::Map<String, Value>) -> Value {
    let lines = ["command", "args"].iter().filter_map(|key| container.get(*key)?.as_array()).flatten();
    let words = lines.filter_map(Value::as_str).flat_map(str::split_whitespace);
    words.filter(|word| word.starts_with("--")).map(str::to_owned).collect()
}

fn masked_text(key: &str, text: &str) -> String {
    let decoded = STANDARD.decode(text.trim()).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let plain = decoded.as_deref().filter(|text| text.contains("-----BEGIN ")).unwrap_or(text);
    if plain.contains("-----BEGIN ") {
        let blocks = plain.lines().filter_map(|line| line.strip_prefix("-----BEGIN ")?.strip_suffix("-----"));
        return format!("PEM: {}", blocks.collect::<Vec<_>>().join(", "));
    }
    match key {
        "creationTimestamp" => String::new(),
        "auth.openshift.io/certificate-not-before" | "auth.openshift.io/certificate-not-after" => {
            "a time".to_owned()
        }
        "mountPath" => text.trim_end_matches('/').to_owned(),
        // The signer's name ends with the second it was made in.
        "auth.openshift.io/certificate-issuer" => text.split('@').next().unwrap_or_default().to_owned(),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn objects(text: &str) -> Objects {
        let mut objects = Objects::default();
        objects.take(text);
        objects
    }

    #[test]
    fn chance_makes_no_difference() {
        let secret = |pem: &str, time: &str, issuer: &str| {
            objects(&format!(
                "kind: Secret\nmetadata:\n  name: a\n  namespace: b\n  creationTimestamp: null\n  annotations:\n    \
                 auth.openshift.io/certificate-not-after: \"{time}\"\n    auth.openshift.io/certificate-issuer: {issuer}\ndata:\n  tls.crt: {}\n",
                STANDARD.encode(format!("-----BEGIN {pem}-----\n{time}\n-----END {pem}-----\n"))
            ))
        };
        let theirs = secret("CERTIFICATE", "2026-01-01T00:00:00Z", "openshift-etcd_etcd-signer@1731000000");
        assert_eq!(
            theirs.differences(&secret(
                "CERTIFICATE",
                "2027-01-01T00:00:00Z",
                "openshift-etcd_etcd-signer@1"
            )),
            []
        );
        let key = theirs.differences(&secret("PRIVATE KEY", "x", "openshift-etcd_etcd-signer@1"));
        assert_eq!(key[0].field.as_ref().unwrap().0, "/data/tls.crt");
        let issuer = theirs.differences(&secret("CERTIFICATE", "x", "somebody@1"));
        assert_eq!(issuer[0].field.as_ref().unwrap().1, "\"openshift-etcd_etcd-signer\"");
    }

    #[test]
    fn lists_of_named_things_have_no_order() {
        let pod = |args: &str, mounts: &str| {
            objects(&format!(
                "kind: Pod\nmetadata: {{name: x}}\nspec: {{containers: [{{name: b}}, {{name: a, args: [{args}], mounts: [{mounts}]}}]}}\n"
            ))
        };
        let theirs = pod("--v=2, --gate=A, --gate=B", "{mountPath: /a, name: x}, {mountPath: /b, name: x}");
        let ours = pod("--gate=B, --gate=A, --v=2", "{mountPath: /b, name: x}, {mountPath: /a, name: x}");
        assert_eq!(theirs.differences(&ours), []);
        let other = pod("--v=3, --gate=A", "{mountPath: /a, name: x}, {mountPath: /b, name: y}");
        let said: Vec<String> = theirs.differences(&other).iter().map(ToString::to_string).collect();
        assert!(
            said.iter()
                .any(|one| one.contains("/spec/containers/a/args/--v: \"--v=2\", hardway's \"--v=3\"")),
            "{said:?}"
        );
        assert!(
            said.iter().any(|one| one.contains("/args/--gate=B: \"--gate=B\", hardway's null")),
            "{said:?}"
        );
        assert!(said.iter().any(|one| one.contains("mounts/~1b/name")), "{said:?}");
        let bare = objects(
            "kind: Pod\nmetadata: {name: x}\nspec: {containers: [{name: a, image: i, command: [etcd], args: [--a=1]}]}\n",
        );
        let shell = objects(
            "kind: Pod\nmetadata: {name: x}\nspec: {containers: [{name: a, image: i, command: [sh, -c, \"exec etcd --a=2\"]}]}\n",
        );
        let said: Vec<String> = shell.differences(&bare).iter().map(ToString::to_string).collect();
        assert!(
            said.iter()
                .any(|one| one.contains("/spec/containers/a/flags/--a: \"--a=2\", hardway's \"--a=1\"")),
            "{said:?}"
        );
        let config = objects("kind: KubeAPIServerConfig\na: 1\n");
        assert_eq!(config.differences(&objects("kind: KubeAPIServerConfig\na: 2\n")).len(), 1);
    }

    #[test]
    fn what_differs_is_named_with_its_place_and_what_is_ours_alone_is_not() {
        let theirs = objects(
            "kind: A\nmetadata: {name: x}\nspec: {a: 1, b: []}\n---\nkind: B\nmetadata: {name: y, namespace: n}\n",
        );
        let ours = objects(
            "kind: A\nmetadata: {name: x}\nspec: {a: 2}\n---\nkind: C\nmetadata: {name: z}\n---\nnot: an object\n",
        );
        let said: Vec<String> = theirs.differences(&ours).iter().map(ToString::to_string).collect();
        assert_eq!(said, ["A x /spec/a: 1, hardway's 2", "B n/y: hardway has none"]);
        assert_eq!((theirs.len(), ours.len()), (2, 2));
    }
}
