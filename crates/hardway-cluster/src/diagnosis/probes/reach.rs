//! The API and the config server, seen from here.

use crate::diagnosis::evidence::{Api, Evidence, LogSource, Port, Share};
use crate::handshake::NoAnswer;
use crate::objects::Node;

/// The machine-config-server is not for everybody: that it is closed counts only when the API's port beside it is open, and
/// while a declared node is still missing.
pub(in crate::diagnosis) fn config_port_closed(evidence: &Evidence) -> Vec<String> {
    let is_open = |port| evidence.ports.iter().any(|tried| tried.port == port && tried.open.is_ok());
    let is_missing = |node: &crate::declared::DeclaredNode| !evidence.state.nodes.contains_key(&node.name);
    if !is_open(6443) || is_open(22623) || !evidence.declared.nodes.iter().any(is_missing) {
        return Vec::new();
    }
    let closed = evidence.ports.iter().filter(|tried| tried.port == 22623);
    let line = |why: &NoAnswer, host: &str| format!("{host}:22623 is closed ({why}), {host}:6443 is open");
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

/// Some of what goes through the balancer ends well: it is not the API, it is whom the balancer asks.
pub(in crate::diagnosis) fn some_fail(evidence: &Evidence) -> Vec<String> {
    let mixed = evidence.shares.iter().filter(|share| (1..share.tried).contains(&share.failed.len()));
    let line = |share: &Share| {
        let why = share.failed.first().map_or("", String::as_str);
        format!("{} of {} connections to {} failed: {why}", share.failed.len(), share.tried, share.endpoint)
    };
    mixed.map(line).collect()
}

/// Two masters with a control plane are what etcd needs to go on without the bootstrap host.
pub(in crate::diagnosis) fn removed_too_early(evidence: &Evidence) -> Vec<String> {
    let is_silent = matches!(evidence.api, Api::Silent(_));
    let open = evidence.masters.iter().filter(|port| port.open.is_ok()).count();
    if !is_silent || !evidence.install.is_bootstrap_removed || open >= evidence.masters.len().min(2) {
        return Vec::new();
    }
    let mut lines = vec![format!(
        "the bootstrap host was removed, and {open} of {} masters run an API server",
        evidence.masters.len()
    )];
    let closed = evidence.masters.iter().filter_map(|port| Some((port, port.open.as_ref().err()?)));
    lines.extend(closed.map(|(port, why)| format!("{}:{} is closed: {why}", port.host, port.port)));
    lines
}

pub(in crate::diagnosis) fn routers_elsewhere(evidence: &Evidence) -> Vec<String> {
    let Some(Port { host, port, open: Err(why) }) = &evidence.routes else { return Vec::new() };
    if evidence.routers.is_empty() {
        return Vec::new();
    }
    let routers = evidence.routers.join(", ");
    vec![format!("{host}:{port} does not answer ({why}), and routers are ready on {routers}")]
}

/// A master behind the load balancer cannot reach the balancer's own address, although others can: its connection comes back to itself
/// (no hairpin).
pub(in crate::diagnosis) fn no_way_back(evidence: &Evidence) -> Vec<String> {
    if !evidence.state.nodes.values().any(Node::is_ready) {
        return Vec::new();
    }
    let cannot = |line: &&String| {
        line.contains("api-int.")
            && line.contains(":6443")
            && ["i/o timeout", "connection timed out"].iter().any(|text| line.contains(text))
    };
    let mut found = Vec::new();
    for log in evidence.logs() {
        if let LogSource::Node(host) = &log.source
            && let Some(line) = log.lines.iter().rfind(cannot)
        {
            found.push(format!("{host}, {}: {}", log.name, line.trim()));
        }
    }
    found
}

fn is_about_authority(why: &str) -> bool {
    ["UnknownIssuer", "unknown authority", "BadSignature"].iter().any(|text| why.contains(text))
}
