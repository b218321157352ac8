//! What is around the cluster: names, and the image registry's storage.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::time::Duration;

use serde_json::Value;
use tokio::net::lookup_host;
use tokio::time::timeout;

use super::outcome::{Check, VerifyOutcome};
use crate::no_answer::NoAnswer;

/// A name, and what the system's resolver says about it.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// Such as `api.ocp4.example.com`.
    pub name: String,
    /// What it should be; empty when that is not declared.
    pub expected: Vec<IpAddr>,
    /// What it is.
    pub found: Result<Vec<IpAddr>, NoAnswer>,
}

impl Resolved {
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

/// Every name resolves, and to nothing but what is declared.
pub fn judge_names(names: &[Resolved]) -> VerifyOutcome {
    const FIX: &str =
        "add the records to the name server that this host uses; the cluster's own hosts need the same";
    let mut wrong = Vec::new();
    for Resolved { name, expected, found } in names {
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
                        "{name} is {}, declared is {}",
                        foreign.join(", "),
                        declared.join(", ")
                    ));
                }
            }
        }
    }
    let shown: Vec<&str> = names.iter().map(|name| name.name.as_str()).collect();
    VerifyOutcome::of(Check::Names, wrong, FIX, format!("{} resolve as declared", shown.join(", ")))
}

/// `configs.imageregistry.operator.openshift.io cluster`. On platform none it is Removed until somebody gives it storage,
/// and that is no fault (docs/guide/17-verify-cluster.md).
pub fn judge_registry(config: Option<&Value>) -> VerifyOutcome {
    const FIX: &str = "oc patch configs.imageregistry.operator.openshift.io cluster --type merge -p '{\"spec\":{\"managementState\":\"Managed\",\"storage\":{\"emptyDir\":{}}}}' is good enough to try things";
    let Some(config) = config else {
        return VerifyOutcome::skipped(Check::ImageRegistry, "this cluster has no image registry operator");
    };
    let state = config["spec"]["managementState"].as_str().unwrap_or("unknown");
    let storage = config["spec"]["storage"]
        .as_object()
        .and_then(|storage| storage.keys().find(|key| *key != "managementState"));
    match (state, storage) {
        ("Managed", Some(storage)) => {
            VerifyOutcome::passed(Check::ImageRegistry, format!("Managed, with storage {storage}"))
        }
        ("Managed", None) => {
            VerifyOutcome::failed(Check::ImageRegistry, vec!["Managed, but has no storage".to_owned()], FIX)
        }
        _ => VerifyOutcome::warned(
            Check::ImageRegistry,
            vec![format!("{state}: it has no storage, and nothing can be pushed to it")],
            FIX,
        ),
    }
}
