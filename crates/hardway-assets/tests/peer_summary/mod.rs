//! A working directory in the shape of the recorded summary of a real openshift-install run.
//!
//! The record holds, per Ignition config, files with modes and certificates, units, users and what is merged; and the
//! objects of both folders with everything random replaced by a name for it. It lies beside the project, not in it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hardway_assets::pki::{CertificateFacts, inspect};
use hardway_assets::{Tree, yaml};
use serde_json::{Map, Value as Json, json};

/// The install-config of a recorded run, if this machine has it.
pub(crate) fn install_config(cluster: &str) -> Option<String> {
    recorded_file(&format!("openshift-install-4.18-{cluster}.install-config.yaml"))
}

/// The record of a cluster, if this machine has it. The sizes of files are left out: they say nothing about meaning.
pub(crate) fn recorded(cluster: &str) -> Option<Json> {
    let text = recorded_file(&format!("openshift-install-4.18-{cluster}.json"))?;
    let mut record: Json = serde_json::from_str(&text).expect("the record is JSON");
    for config in record.as_object_mut().expect("the record is an object").values_mut() {
        config.as_object_mut().map(|fields| fields.remove("size"));
        for enabled in config["units"].as_object_mut().into_iter().flat_map(Map::values_mut) {
            *enabled = enabling(enabled);
        }
    }
    let config = "/manifests/manifests~1cluster-config.yaml/0/data/install-config";
    let config = record.pointer_mut(config).expect("the record has the install-config");
    *config = embedded(config);
    Some(record)
}

/// The summary of a working directory that has folders and Ignition configs.
pub(crate) fn summary(tree: &Tree) -> Json {
    let mut summary = Map::new();
    for name in ["bootstrap.ign", "master.ign", "worker.ign"] {
        if let Some(bytes) = tree.get(name) {
            let config = serde_json::from_slice(bytes).expect("an Ignition config is JSON");
            summary.insert(name.to_owned(), ignition(&config));
        }
    }
    summary.insert("manifests".to_owned(), manifests(tree));
    Json::Object(summary)
}

/// Every place where the summary lacks what is recorded or says something else. It may well say more.
pub(crate) fn lacking(recorded: &Json, summary: &Json) -> Vec<String> {
    let mut places = Vec::new();
    collect("", recorded, Some(summary), &mut places);
    places
}

fn collect(place: &str, recorded: &Json, ours: Option<&Json>, places: &mut Vec<String>) {
    match (recorded, ours) {
        (Json::Object(fields), Some(Json::Object(_))) => {
            for (key, value) in fields {
                collect(&format!("{place}/{key}"), value, ours.and_then(|ours| ours.get(key)), places);
            }
        }
        (Json::Array(items), Some(Json::Array(ours))) if items.len() == ours.len() => {
            for (i, item) in items.iter().enumerate() {
                collect(&format!("{place}[{i}]"), item, ours.get(i), places);
            }
        }
        (recorded, Some(ours)) if recorded == ours => {}
        (recorded, None) if is_empty(recorded) => {}
        (recorded, ours) => {
            let ours = ours.map_or("nothing".to_owned(), Json::to_string);
            places.push(format!("{place}: {recorded} recorded, {ours} here"));
        }
    }
}

/// Null, `""`, `{}`, and what holds nothing but these: saying it or not is the same to every reader.
fn is_empty(json: &Json) -> bool {
    match json {
        Json::Null => true,
        Json::String(text) => text.is_empty(),
        Json::Array(items) => items.iter().all(is_empty),
        Json::Object(fields) => fields.values().all(is_empty),
        Json::Bool(_) | Json::Number(_) => false,
    }
}

fn ignition(config: &Json) -> Json {
    let mut out = json!({"files": {}, "units": {}, "users": [], "version": config["ignition"]["version"]});
    for file in items(&config["storage"]["files"]) {
        let path = file["path"].as_str().unwrap_or_default();
        let mut entry = json!({"mode": format!("0o{:o}", file["mode"].as_u64().unwrap_or_default())});
        if path.ends_with(".crt") {
            let text = content(&file["contents"]);
            entry["certs"] = inspect(&text).unwrap_or_default().iter().map(certificate).collect();
        }
        out["files"][path] = entry;
    }
    for unit in items(&config["systemd"]["units"]) {
        out["units"][unit["name"].as_str().unwrap_or_default()] = enabling(&unit["enabled"]);
    }
    out["users"] = items(&config["passwd"]["users"]).iter().map(|user| user["name"].clone()).collect();
    let merge = items(&config["ignition"]["config"]["merge"]);
    if !merge.is_empty() {
        out["merge"] = merge.iter().map(|one| one["source"].clone()).collect();
    }
    out
}

/// A unit that nobody enables is still a unit: null would count as nothing.
fn enabling(enabled: &Json) -> Json {
    if enabled.is_null() { json!("left to others") } else { enabled.clone() }
}

fn certificate(facts: &CertificateFacts) -> Json {
    let days = (facts.not_after.as_second() - facts.not_before.as_second()) as f64 / 86_400.0;
    let usage = |name: &&str| match *name {
        "digitalSignature" => "digital_signature",
        "keyCertSign" => "key_cert_sign",
        "keyEncipherment" => "key_encipherment",
        other => panic!("the record has no word for {other}"),
    };
    json!({
        "ca": facts.is_ca,
        "days": days.round(),
        "eku": facts.extended_key_usage,
        "issuer": facts.issuer,
        "key": facts.key,
        "ku": facts.key_usage.iter().map(usage).collect::<Vec<_>>(),
        "san": facts.sans,
        "subject": facts.subject,
    })
}

fn manifests(tree: &Tree) -> Json {
    let mut files = Map::new();
    for folder in ["manifests", "openshift"] {
        for (path, bytes) in tree.folder(folder) {
            let text = std::str::from_utf8(bytes).expect("a manifest is text");
            let objects = yaml::read_all(text).expect("a manifest is YAML");
            files.insert(path.to_owned(), objects.iter().map(|object| masked(object.to_json())).collect());
        }
    }
    Json::Object(files)
}

/// Replaces what every run draws anew, in the words of the record.
fn masked(mut object: Json) -> Json {
    mask(&mut object, "/spec/clusterID", |_| "<uuid>".to_owned());
    mask(&mut object, "/status/infrastructureName", |name| {
        format!("{}-<rand5>", name.rsplit_once('-').map_or(name, |(base, _)| base))
    });
    mask(&mut object, "/data/ca.crt", |_| "<pem>".to_owned());
    for (key, word) in [
        ("kubeadmin", "<b64 bcrypt>"),
        ("tls.crt", "<b64 pem>"),
        ("tls.key", "<b64 pem>"),
        ("userData", "<b64 ignition>"),
    ] {
        mask(&mut object, &format!("/data/{key}"), |_| word.to_owned());
    }
    if let Some(config) = object.pointer_mut("/data/install-config") {
        *config = embedded(config);
    }
    object
}

/// The document inside a text, so that quotes and folds do not count.
fn embedded(text: &Json) -> Json {
    yaml::read(text.as_str().unwrap_or_default()).expect("the install-config is YAML").to_json()
}

fn mask(object: &mut Json, pointer: &str, word: impl Fn(&str) -> String) {
    if let Some(Json::String(text)) = object.pointer_mut(pointer) {
        *text = word(text);
    }
}

fn content(resource: &Json) -> String {
    let source = resource["source"].as_str().unwrap_or_default();
    let (_, data) = source.split_once(";base64,").unwrap_or_default();
    String::from_utf8(STANDARD.decode(data).expect("the data URL is base64")).expect("a certificate is text")
}

fn items(json: &Json) -> &[Json] {
    json.as_array().map(Vec::as_slice).unwrap_or_default()
}

#[expect(clippy::disallowed_methods, reason = "a test's own file")]
fn recorded_file(name: &str) -> Option<String> {
    hardway_testing::real_data(name).map(|path| std::fs::read_to_string(path).unwrap())
}
