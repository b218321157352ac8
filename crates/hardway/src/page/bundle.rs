//! A log bundle on the page: what is broken by it, what the cluster said, and the ends of its logs.

use hardway_cluster::diagnosis::{Evidence, LogSource, LogTail, all_broken};
use serde_json::{Value, json};

/// Lines of a log that are shown.
const LINES: usize = 120;

/// The part of the document that a bundle brings.
pub(crate) fn bundle(name: &str, evidence: &Evidence) -> Value {
    let log = |log: &LogTail| {
        let whose = match &log.source {
            LogSource::Bootstrap => "bootstrap host".to_owned(),
            LogSource::Cluster => "cluster".to_owned(),
            LogSource::Given => "a file".to_owned(),
            LogSource::Node(node) => node.clone(),
        };
        let from = log.lines.len().saturating_sub(LINES);
        json!({"whose": whose, "name": log.name, "lines": log.lines[from..]})
    };
    json!({
        "name": name,
        "findings": all_broken(evidence),
        "logs": evidence.logs.iter().map(log).collect::<Vec<_>>(),
    })
}
