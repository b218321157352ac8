//! The API and the config server, seen from here.

use crate::diagnosis::evidence::{Api, Evidence};

/// The machine-config-server is not for everybody: that it is closed counts only when the API's port beside it is open, and
/// while a declared node is still missing.
pub(in crate::diagnosis) fn config_port_closed(evidence: &Evidence) -> Vec<String> {
    let is_open = |port| evidence.ports.iter().any(|tried| tried.port == port && tried.open.is_ok());
    let is_missing = |node: &crate::declared::DeclaredNode| !evidence.state.nodes.contains_key(&node.name);
    if !is_open(6443) || is_open(22623) || !evidence.declared.nodes.iter().any(is_missing) {
        return Vec::new();
    }
    let closed = evidence.ports.iter().filter(|tried| tried.port == 22623);
    let line = |why: &String, host: &str| format!("{host}:22623 is closed ({why}), {host}:6443 is open");
    closed.filter_map(|tried| tried.open.as_ref().err().map(|why| line(why, &tried.host))).collect()
}

pub(in crate::diagnosis) fn unknown_authority(evidence: &Evidence) -> Vec<String> {
    match &evidence.api {
        Api::Silent(why) if is_about_authority(why) => vec![why.clone()],
        _ => Vec::new(),
    }
}

pub(in crate::diagnosis) fn api_silent(evidence: &Evidence) -> Vec<String> {
    match &evidence.api {
        Api::Silent(why) if !is_about_authority(why) => vec![why.clone()],
        _ => Vec::new(),
    }
}

fn is_about_authority(why: &str) -> bool {
    ["UnknownIssuer", "unknown authority", "BadSignature"].iter().any(|text| why.contains(text))
}
