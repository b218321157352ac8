//! What is around the cluster: names, and the image registry's storage.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::time::Duration;

use hardway_base::Judged;
use serde_json::Value;
use tokio::net::lookup_host;
use tokio::time::timeout;

use super::outcome::{Check, VerifyOutcome};
use crate::handshake::NoAnswer;

/// A name, and what the system's resolver says about it.
#[derive(Clone, Debug)]
pub struct ResolvedName {
    /// Such as `api.ocp4.example.com`.
    pub name: String,
    /// What it should be; empty when that is not declared.
    pub expected: Vec<IpAddr>,
    /// What it is.
    pub found: Result<Vec<IpAddr>, NoAnswer>,
}

impl ResolvedName {
    /// Asks the resolver of this host.
    pub async fn ask(name: String, expected: Vec<IpAddr>, patience: Duration) -> Self {
        let found = match timeout(patience, lookup_host((name.as_str(), 443))).await {
            Err(late) => Err(late.into()),
            Ok(Err(error)) => Err(error.into()),
            Ok(Ok(found)) => {
                let found: BTreeSet<IpAddr> = found.map(|address| address.ip()).collect();
                Ok(found.into_iter().collect())
            }
        };
        Self { name, expected, found }
    }
}

/// Every name resolves, and to nothing but what is declared; those that nobody has do not.
pub fn judge_names(names: &[ResolvedName], absent: &[ResolvedName]) -> VerifyOutcome {
    const FIX: &str = "add the records to this host's name server, and restrict a wildcard to *.apps; the cluster's own hosts need \
     the same answers";
    let (mut wrong, mut odd) = (Vec::new(), Vec::new());
    for ResolvedName { name, found, .. } in absent {
        if let Some(first) = found.as_ref().ok().and_then(|found| found.first()) {
            odd.push(format!(
                "{name} resolves to {first}, but nobody has that name: a wildcard answers for it"
            ));
        }
    }
    for ResolvedName { name, expected, found } in names {
        match found {
            Err(why) => wrong.push(format!("{name} does not resolve: {why}")),
            Ok(found) if found.is_empty() => wrong.push(format!("{name} has no address")),
            Ok(found) => {
                let foreign: Vec<String> = found
                    .iter()
                    .filter(|ip| !expected.is_empty() && !expected.contains(ip))
                    .map(ToString::to_string)
                    .collect();
                if !foreign.is_empty() {
                    let declared: Vec<String> = expected.iter().map(ToString::to_string).collect();
                    wrong.push(format!(
                        "{name} resolves to {}, but {} is declared",
                        foreign.join(", "),
                        declared.join(", ")
                    ));
                }
            }
        }
    }
    let shown: Vec<&str> = names.iter().map(|name| name.name.as_str()).collect();
    let good = format!("{} resolve as declared", shown.join(", "));
    VerifyOutcome { check: Check::Names, judged: Judged::of(wrong, odd, FIX, good) }
}

/// `configs.imageregistry.operator.openshift.io cluster`. On platform none it is Removed until somebody gives it storage,
/// and that is no fault (docs/guide/17-verify-cluster.md).
pub fn judge_registry(config: Option<&Value>) -> VerifyOutcome {
    const FIX: &str = "oc patch configs.imageregistry.operator.openshift.io cluster --type merge -p \
     '{\"spec\":{\"managementState\":\"Managed\",\"storage\":{\"emptyDir\":{}}}}' is good enough for a trial";
    const STATE_FIX: &str =
        "oc -n openshift-image-registry get pods,pvc,events; the storage it is given must exist";
    let Some(config) = config else {
        return VerifyOutcome::skipped(Check::ImageRegistry, "this cluster has no image registry operator");
    };
    let state = config["spec"]["managementState"].as_str().unwrap_or("unknown");
    let storage = config["spec"]["storage"]
        .as_object()
        .and_then(|storage| storage.keys().find(|key| *key != "managementState"));
    match (state, storage) {
        ("Managed", Some(storage)) => {
            let conditions = config["status"]["conditions"].as_array().into_iter().flatten();
            let bad = |condition: &&Value| {
                (condition["type"] == "Available" && condition["status"] == "False")
                    || (condition["type"] == "Degraded" && condition["status"] == "True")
            };
            let told = conditions.filter(bad).map(|condition| {
                let text = |field: &str| condition[field].as_str().unwrap_or_default().to_owned();
                format!("{}={}: {}: {}", text("type"), text("status"), text("reason"), text("message"))
            });
            let told: Vec<String> = told.collect();
            if !told.is_empty() {
                return VerifyOutcome::failed(Check::ImageRegistry, told, STATE_FIX);
            }
            VerifyOutcome::passed(Check::ImageRegistry, format!("Managed, with storage {storage}"))
        }
        ("Managed", None) => {
            VerifyOutcome::failed(Check::ImageRegistry, vec!["Managed, but has no storage".to_owned()], FIX)
        }
        _ => VerifyOutcome::warned(
            Check::ImageRegistry,
            vec![format!("{state}: it has no storage, so nothing can be pushed to it")],
            FIX,
        ),
    }
}
