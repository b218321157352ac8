//! Machines that should be nodes.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use hardway_assets::inventory::Role;
use jiff::SignedDuration;
use kube::ResourceExt as _;

use crate::csr_policy::NODE_PREFIX;
use crate::declared::DeclaredNode;
use crate::diagnosis::evidence::{Api, Evidence};
use crate::diagnosis::probes::logs::lines_with;
use crate::objects::{CLIENT_SIGNER, Condition, Node, SERVING_SIGNER, SigningRequest};

/// Declared nodes whose turn has come: workers boot when the bootstrap host is gone.
pub(super) fn awaited(evidence: &Evidence) -> impl Iterator<Item = &DeclaredNode> {
    let is_over = evidence.is_bootstrap_over();
    evidence.declared.nodes.iter().filter(move |node| node.role == Some(Role::Master) || is_over)
}

pub(in crate::diagnosis) fn localhost(evidence: &Evidence) -> Vec<String> {
    let is_it = |name: &str| name == "localhost" || name.starts_with("localhost.");
    let nodes = evidence.state.nodes.keys().filter(|name| is_it(name));
    let mut found: Vec<String> = nodes.map(|name| format!("a node has the name {name}")).collect();
    let asks =
        |request: &SigningRequest| request.spec.username.as_deref()?.strip_prefix(NODE_PREFIX).map(is_it);
    let requests = evidence.state.requests.values().filter(|request| asks(request) == Some(true));
    found.extend(
        requests.map(|request| {
            format!("request {} comes from a node with the name localhost", request.name_any())
        }),
    );
    found
}

pub(in crate::diagnosis) fn named_by_alias(evidence: &Evidence) -> Vec<String> {
    let is_alias = |name: &str| {
        let label = name.split('.').next().unwrap_or_default();
        matches!(label, "api" | "api-int")
            || label.strip_prefix("etcd-").is_some_and(|n| n.parse::<u8>().is_ok())
    };
    let is_declared = |name: &str| evidence.declared.node(name).is_some();
    let nodes = evidence.state.nodes.keys().filter(|name| is_alias(name) && !is_declared(name));
    nodes.map(|name| format!("a node has the name {name}")).collect()
}

pub(in crate::diagnosis) fn one_name_twice(evidence: &Evidence) -> Vec<String> {
    let nodes = &evidence.state.nodes;
    let mut found = Vec::new();
    for (declared, node) in with_node(evidence) {
        let is_missing =
            |other: &&DeclaredNode| other.name != declared.name && !nodes.contains_key(&other.name);
        let addresses = node.internal_ips().filter_map(|ip| ip.parse().ok());
        let mut owners = addresses.flat_map(|ip| evidence.declared.nodes.with_address(ip));
        if let Some(other) = owners.find(is_missing) {
            found.push(format!("node {} has the address of {}, which is missing", declared.name, other.name));
        }
    }
    found
}

pub(in crate::diagnosis) fn other_address(evidence: &Evidence) -> Vec<String> {
    let mut found = Vec::new();
    for (declared, node) in with_node(evidence) {
        let has: Vec<&str> = node.internal_ips().collect();
        let missing: Vec<String> = declared.missing_ips(node).iter().map(ToString::to_string).collect();
        if !missing.is_empty() && !has.is_empty() {
            found.push(format!(
                "node {} has {}, but {} is declared",
                declared.name,
                has.join(", "),
                missing.join(", ")
            ));
        }
    }
    found
}

/// More than five requests of one node within ten minutes. First requests all come from one identity and prove nothing.
pub(in crate::diagnosis) fn flood(evidence: &Evidence) -> Vec<String> {
    let mut by_name: BTreeMap<&str, Vec<jiff::Timestamp>> = BTreeMap::new();
    for request in evidence.state.requests.values() {
        if let (Some(name), Some(created)) = (request.spec.username.as_deref(), request.created())
            && let Some(node) = name.strip_prefix(NODE_PREFIX)
        {
            by_name.entry(node).or_default().push(created);
        }
    }
    let mut found = Vec::new();
    for (node, mut times) in by_name {
        times.sort_unstable();
        let within = |w: &[jiff::Timestamp]| w[5].duration_since(w[0]) <= SignedDuration::from_mins(10);
        if times.windows(6).any(within) {
            found.push(format!("{node} sent {} requests, more than five within ten minutes", times.len()));
        }
    }
    found
}

pub(in crate::diagnosis) fn client_requests_wait(evidence: &Evidence) -> Vec<String> {
    waiting(evidence, CLIENT_SIGNER)
}

pub(in crate::diagnosis) fn serving_requests_wait(evidence: &Evidence) -> Vec<String> {
    waiting(evidence, SERVING_SIGNER)
}

pub(in crate::diagnosis) fn never_asked(evidence: &Evidence) -> Vec<String> {
    if evidence.api != Api::Answers || !waiting(evidence, CLIENT_SIGNER).is_empty() {
        return Vec::new();
    }
    let missing = awaited(evidence).filter(|node| !evidence.state.nodes.contains_key(&node.name));
    missing
        .map(|node| {
            format!("{} {} has not registered, and has no pending request", node.role_name(), node.name)
        })
        .collect()
}

pub(in crate::diagnosis) fn without_network(evidence: &Evidence) -> Vec<String> {
    let told = unready(evidence).filter(|(_, why)| lacks_network(why));
    told.map(|(name, why)| format!("node {name} is not Ready: {why}")).collect()
}

pub(in crate::diagnosis) fn not_ready(evidence: &Evidence) -> Vec<String> {
    let told = unready(evidence).filter(|(_, why)| !lacks_network(why));
    told.map(|(name, why)| format!("node {name} is not Ready: {why}")).collect()
}

/// Only where a machine-config-operator is at work.
pub(in crate::diagnosis) fn without_annotations(evidence: &Evidence) -> Vec<String> {
    if evidence.pools.is_empty() {
        return Vec::new();
    }
    const ANNOTATION: &str = "machineconfiguration.openshift.io/currentConfig";
    let bare = evidence.state.nodes.values().filter(|node| !node.annotations().contains_key(ANNOTATION));
    bare.map(|node| format!("node {} lacks {ANNOTATION}", node.name_any())).collect()
}

fn waiting(evidence: &Evidence, signer: &str) -> Vec<String> {
    const SHOWN: usize = 5;
    let pending: Vec<&SigningRequest> =
        evidence.state.pending_requests().filter(|request| request.spec.signer_name == signer).collect();
    let line = |request: &&SigningRequest| {
        let (name, who) =
            (request.name_any(), request.spec.username.as_deref().unwrap_or("an unknown requester"));
        match evidence.held.get(&name) {
            Some(why) => format!("request {name} of {who} is held: {why}"),
            None => format!("request {name} of {who} is pending"),
        }
    };
    let mut lines: Vec<String> = pending.iter().take(SHOWN).map(line).collect();
    if pending.len() > SHOWN {
        lines.push(format!("{} requests wait", pending.len()));
    }
    lines
}

fn with_node(evidence: &Evidence) -> impl Iterator<Item = (&DeclaredNode, &Node)> {
    let nodes = evidence.declared.nodes.iter();
    nodes.filter_map(|declared| Some((declared, evidence.state.nodes.get(&declared.name)?)))
}

fn unready(evidence: &Evidence) -> impl Iterator<Item = (&String, String)> {
    evidence.state.nodes.iter().filter(|(_, node)| !node.is_ready()).map(|(name, node)| {
        let why = node.ready().map_or_else(|| "its kubelet has not reported".to_owned(), Condition::sentence);
        (name, why)
    })
}

fn lacks_network(why: &str) -> bool {
    ["NetworkPluginNotReady", "cni config uninitialized", "no CNI configuration file"]
        .iter()
        .any(|text| why.contains(text))
}

/// Nodes of a pool that counts all of them as updated, and that do not run the same system.
pub(in crate::diagnosis) fn another_system(evidence: &Evidence) -> Vec<String> {
    let mut lines = Vec::new();
    for pool in &evidence.pools {
        let (name, status) = (pool["metadata"]["name"].as_str().unwrap_or_default(), &pool["status"]);
        if status["machineCount"].as_u64().is_none()
            || status["machineCount"] != status["updatedMachineCount"]
        {
            continue;
        }
        let systems: BTreeMap<String, String> = evidence
            .state
            .nodes
            .iter()
            .filter(|(_, node)| node.has_role(name))
            .filter_map(|(name, node)| Some((name.clone(), node.status.node_info.as_ref()?.os_image.clone())))
            .filter(|(_, system)| !system.is_empty())
            .collect();
        let kinds: BTreeSet<&String> = systems.values().collect();
        if kinds.len() > 1 {
            lines.extend(
                systems.iter().map(|(node, system)| format!("{node} runs {system}, pool {name} is updated")),
            );
        }
    }
    lines
}

/// Pods that cannot reach the API at its Service's address, which the cluster network serves on each node.
pub(in crate::diagnosis) fn service_unreachable(evidence: &Evidence) -> Vec<String> {
    let address = evidence.service_address.unwrap_or(DEFAULT_SERVICE_ADDRESS);
    let dialled = format!("dial tcp {}", SocketAddr::from((address, 443)));
    lines_with(evidence, &[&[&dialled, "i/o timeout"]])
}

/// The first address of openshift-install's default serviceNetwork, for logs that come without a folder.
const DEFAULT_SERVICE_ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::new(172, 30, 0, 1));
