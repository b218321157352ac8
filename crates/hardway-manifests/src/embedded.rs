//! Texts within objects that somebody reads as YAML, JSON or Ignition: files of MachineConfigs, user data, the configuration of
//! operators. Places are those of the object's file where the text is written out there; of what is encoded, the line inside is told.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hardway_assets::ignition::data_of;
use hardway_assets::violation::FieldErrorKind;
use hardway_assets::yaml::{self, LineIndex, Node};
use serde_json::Value;

use crate::manifest_object::ManifestObject;
use crate::references::Found;
use crate::{FieldPath, Judgement, Kinds, Mistake, Severity, ignition};

/// Everything wrong with texts within these objects.
pub(crate) fn check(objects: &[ManifestObject<'_>], kinds: &Kinds) -> Vec<Found> {
    let mut found = Vec::new();
    for (index, object) in objects.iter().enumerate() {
        let told = match object.text_at("/kind") {
            "MachineConfig" => machine_files(object, kinds),
            "ConfigMap" => config_map(object),
            "Secret" => user_data(object),
            _ => Vec::new(),
        };
        found.extend(told.into_iter().map(|(severity, mistake)| (index, severity, mistake)));
    }
    found
}

type Told = Vec<(Severity, Mistake)>;

/// Where the kubelet reads static pods.
const STATIC_PODS: &str = "/etc/kubernetes/manifests/";

/// Files that are called YAML or JSON; of pods that the kubelet starts from files, also what is in them.
fn machine_files(object: &ManifestObject<'_>, kinds: &Kinds) -> Told {
    let files = object.value.pointer("/spec/config/storage/files").and_then(Value::as_array);
    let mut told = Vec::new();
    for (number, file) in files.into_iter().flatten().enumerate() {
        let text = |pointer: &str| file.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let path = text("/path");
        let is_pod = path.strip_prefix(STATIC_PODS).is_some_and(|name| !name.contains('/'));
        if !is_named_so(path) || !text("/contents/compression").is_empty() {
            continue;
        }
        let Some(content) = data_of(text("/contents/source")) else { continue };
        let place = FieldPath::of(&["spec", "config", "storage", "files"])
            .index(number)
            .field("contents")
            .field("source");
        // Whoever reads another file may take more than YAML has; the kubelet does not.
        let severity = if is_pod { Severity::Error } else { Severity::Warning };
        match read(&content) {
            Err(mistake) => told.push((severity, mistake.at(&place))),
            Ok((text, nodes)) if is_pod => {
                let mistakes = nodes.iter().flat_map(|node| pod(&text, node, kinds));
                told.extend(mistakes.map(|mistake| (Severity::Error, mistake.at(&place))));
            }
            Ok(_) => {}
        }
    }
    told
}

fn is_named_so(path: &str) -> bool {
    [".yaml", ".yml", ".json"].iter().any(|end| path.ends_with(end))
}

/// What the kubelet would say. It puts the pod into a namespace itself.
fn pod(text: &str, node: &Node, kinds: &Kinds) -> Vec<Inside> {
    let mut value = node.to_json();
    if let Some(Value::Object(metadata)) = value.get_mut("metadata") {
        metadata.entry("namespace").or_insert_with(|| "default".into());
    }
    let Judgement::Judged(verdict) = kinds.judge(&value) else { return Vec::new() };
    let lines = LineIndex::of(text);
    let inside = |mistake: Mistake| {
        let (line, column) = lines.line_and_column(text, mistake.path.locate(node).start);
        Inside { line, column, detail: mistake.to_string(), fix: mistake.fix }
    };
    verdict.mistakes.into_iter().map(inside).collect()
}

/// ConfigMaps that an operator reads YAML from, and stops at what is none: namespace, name, key.
const CONFIGURATIONS: [(&str, &str, &str); 3] = [
    ("kube-system", "cluster-config-v1", "install-config"),
    ("openshift-monitoring", "cluster-monitoring-config", "config.yaml"),
    ("openshift-user-workload-monitoring", "user-workload-monitoring-config", "config.yaml"),
];

fn config_map(object: &ManifestObject<'_>) -> Told {
    let (namespace, name) = (object.text_at("/metadata/namespace"), object.text_at("/metadata/name"));
    let Some((.., key)) = CONFIGURATIONS.iter().find(|known| (known.0, known.1) == (namespace, name)) else {
        return Vec::new();
    };
    let text = object.value.pointer("/data").and_then(|data| data.get(key)).and_then(Value::as_str);
    let Some(Err(inside)) = text.map(|text| read(text.as_bytes())) else { return Vec::new() };
    let line = inside.line;
    let place = FieldPath::of(&["data"]).key(key);
    vec![(Severity::Error, inside.at(&place).at_line(line))]
}

/// Ignition configs that machines of the machine API boot from.
fn user_data(object: &ManifestObject<'_>) -> Told {
    let is_it = object.text_at("/metadata/namespace") == "openshift-machine-api"
        && object.text_at("/metadata/name").ends_with("-user-data");
    if !is_it {
        return Vec::new();
    }
    let (place, content) = match (object.text_at("/data/userData"), object.text_at("/stringData/userData")) {
        ("", "") => return Vec::new(),
        ("", plain) => (FieldPath::of(&["stringData"]).key("userData"), plain.as_bytes().to_vec()),
        (encoded, _) => match BASE64_STANDARD.decode(encoded.trim()) {
            Ok(bytes) => (FieldPath::of(&["data"]).key("userData"), bytes),
            // Said by whoever looks at Secrets.
            Err(_) => return Vec::new(),
        },
    };
    match serde_json::from_slice::<Value>(&content) {
        Err(error) => {
            let (line, column) = (error.line(), error.column());
            let inside = Inside { line, column, detail: "is not JSON".to_owned(), fix: None };
            vec![(Severity::Error, inside.at(&place))]
        }
        Ok(config) => {
            let told = ignition::check(&config, &FieldPath::default(), None).into_iter();
            told.map(|(severity, mistake)| {
                let detail = format!("in the Ignition config that is encoded here: {mistake}");
                (severity, Mistake::new(&place, FieldErrorKind::Invalid, detail))
            })
            .collect()
        }
    }
}

/// A mistake within a text.
struct Inside {
    line: usize,
    column: usize,
    detail: String,
    fix: Option<String>,
}

impl Inside {
    /// As a mistake of the object that the text is in.
    fn at(self, place: &FieldPath) -> Mistake {
        let Self { line, column, detail, fix } = self;
        let detail = format!("line {line}, column {column} of the text in it: {detail}");
        Mistake { fix, ..Mistake::new(place, FieldErrorKind::Invalid, detail) }
    }
}

/// The text and its documents; else the first thing that is wrong with it.
fn read(content: &[u8]) -> Result<(String, Vec<Node>), Inside> {
    let inside = |text: &str, offset: usize, detail: String| {
        let (line, column) = LineIndex::of(text).line_and_column(text, offset);
        Inside { line, column, detail, fix: None }
    };
    let text = match std::str::from_utf8(content) {
        Ok(text) => text.to_owned(),
        Err(error) => {
            let good = String::from_utf8_lossy(&content[..error.valid_up_to()]).into_owned();
            return Err(inside(&good, good.len(), "is not UTF-8 text".to_owned()));
        }
    };
    match yaml::read_all(&text) {
        Ok(nodes) => Ok((text, nodes)),
        Err(errors) => {
            let first = errors.into_iter().next();
            let (start, message) = first.map_or((0, "is no YAML".to_owned()), |e| (e.span.start, e.message));
            Err(inside(&text, start, message))
        }
    }
}
