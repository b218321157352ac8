//! Kubeconfigs by what a client sees: where to go, whom to trust, who to be.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value as Json;

use super::certificates;
use super::meaning::{Fields, Meaning};

/// What a kubeconfig means. The version line and preferences are left out: clients do not need them, and
/// openshift-install does not write the former.
pub(super) fn meaning(config: &Json) -> Meaning {
    let mut fields = Fields::new();
    for (entry, name, cluster) in entries(config, "cluster") {
        fields.insert(entry.clone(), pick(name, cluster, &["server", "insecure-skip-tls-verify"]));
        pem(cluster, "certificate-authority-data").map(|ca| fields.insert(format!("{entry} CA"), ca));
    }
    for (entry, name, user) in entries(config, "user") {
        fields.insert(entry.clone(), pick(name, user, &["username"]));
        let parts = [("certificate", "client-certificate-data"), ("key", "client-key-data")];
        for (part, key) in parts {
            pem(user, key).map(|meaning| fields.insert(format!("{entry} {part}"), meaning));
        }
        if let Some(token) = user["token"].as_str() {
            fields.insert(format!("{entry} token"), Meaning::hidden(token.as_bytes()));
        }
    }
    for (entry, name, context) in entries(config, "context") {
        fields.insert(entry, pick(name, context, &["cluster", "namespace", "user"]));
    }
    if let Some(current) = config["current-context"].as_str() {
        fields.insert("current-context".to_owned(), Meaning::text(current));
    }
    Meaning::Document(fields)
}

/// The clusters, users or contexts. The first is known by its kind alone, so that a mere change of name is one
/// difference; the others, which no generated kubeconfig has, by their names too.
fn entries<'a>(config: &'a Json, kind: &'a str) -> impl Iterator<Item = (String, &'a str, &'a Json)> {
    let items = config[format!("{kind}s")].as_array().map(Vec::as_slice).unwrap_or_default();
    items.iter().enumerate().map(move |(i, entry)| {
        let name = entry["name"].as_str().unwrap_or_default();
        let place = if i == 0 { kind.to_owned() } else { format!("{kind} {name}") };
        (place, name, &entry[kind])
    })
}

fn pick(name: &str, json: &Json, keys: &[&str]) -> Meaning {
    let fields = keys.iter().filter_map(|key| {
        let value = json.get(*key).filter(|value| !value.is_null())?;
        Some(((*key).to_owned(), Meaning::Scalar(value.clone())))
    });
    let name = ("name".to_owned(), Meaning::text(name));
    Meaning::Document(fields.chain([name]).collect())
}

fn pem(json: &Json, key: &str) -> Option<Meaning> {
    let bytes = STANDARD.decode(json[key].as_str()?).ok()?;
    let text = std::str::from_utf8(&bytes).ok()?;
    Some(certificates::meaning(text, false).unwrap_or_else(|| Meaning::hidden(&bytes)))
}
