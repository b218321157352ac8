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
    for (name, cluster) in named(config, "clusters", "cluster") {
        fields.insert(format!("cluster {name}"), pick(cluster, &["server", "insecure-skip-tls-verify"]));
        if let Some(ca) = pem(cluster, "certificate-authority-data") {
            fields.insert(format!("cluster {name} CA"), ca);
        }
    }
    for (name, user) in named(config, "users", "user") {
        fields.insert(format!("user {name}"), pick(user, &["username"]));
        let parts =
            [("certificate", pem(user, "client-certificate-data")), ("key", pem(user, "client-key-data"))];
        for (part, meaning) in parts {
            meaning.map(|meaning| fields.insert(format!("user {name} {part}"), meaning));
        }
        if let Some(token) = user["token"].as_str() {
            fields.insert(format!("user {name} token"), Meaning::hidden(token.as_bytes()));
        }
    }
    for (name, context) in named(config, "contexts", "context") {
        fields.insert(format!("context {name}"), pick(context, &["cluster", "namespace", "user"]));
    }
    if let Some(current) = config["current-context"].as_str() {
        fields.insert("current-context".to_owned(), Meaning::text(current));
    }
    Meaning::Document(fields)
}

fn named<'a>(config: &'a Json, list: &str, item: &'a str) -> impl Iterator<Item = (&'a str, &'a Json)> {
    let items = config[list].as_array().map(Vec::as_slice).unwrap_or_default();
    items.iter().map(move |entry| (entry["name"].as_str().unwrap_or_default(), &entry[item]))
}

fn pick(json: &Json, keys: &[&str]) -> Meaning {
    let fields = keys.iter().filter_map(|key| {
        let value = json.get(*key).filter(|value| !value.is_null())?;
        Some(((*key).to_owned(), Meaning::Scalar(value.clone())))
    });
    Meaning::Document(fields.collect())
}

fn pem(json: &Json, key: &str) -> Option<Meaning> {
    let bytes = STANDARD.decode(json[key].as_str()?).ok()?;
    let text = std::str::from_utf8(&bytes).ok()?;
    Some(certificates::meaning(text, false).unwrap_or_else(|| Meaning::hidden(&bytes)))
}
