//! Nodes against the inventory.

use std::collections::{BTreeMap, BTreeSet};

use kube::ResourceExt as _;

use super::outcome::{Check, VerifyOutcome};
use crate::declared::{Declared, DeclaredNode, NAME_FIX};
use crate::objects::{Condition, Node};

/// Names, roles, addresses, readiness, versions; nodes that nobody declared. `api_version` is the API server's, such as
/// v1.31.5: kubelets may not be of another minor version in a cluster that was just installed.
pub fn judge_nodes(declared: &Declared, nodes: &[Node], api_version: &str) -> VerifyOutcome {
    const FIX: &str = "compare inventory.yaml with `oc get nodes -o wide`; a missing node usually waits for its certificate: \
     hardway approve";
    let by_name: BTreeMap<String, &Node> = nodes.iter().map(|node| (node.name_any(), node)).collect();
    let mut wrong: Vec<String> = Vec::new();
    let mut names: BTreeSet<&str> = declared.nodes.iter().map(|node| node.name.as_str()).collect();
    let mut fix = FIX;
    for expected in &declared.nodes {
        let other =
            by_name.keys().find(|name| expected.is_called_otherwise(name) && !names.contains(name.as_str()));
        match (by_name.get(&expected.name), other) {
            (Some(node), _) => wrong.extend(faults(expected, node)),
            (None, None) => wrong.push(format!("{} {} does not exist", expected.role_name(), expected.name)),
            (None, Some(other)) => {
                wrong.push(format!("{} {} calls itself {other}", expected.role_name(), expected.name));
                names.insert(other);
                fix = NAME_FIX;
            }
        }
    }
    for name in by_name.keys().filter(|name| !names.is_empty() && !names.contains(name.as_str())) {
        wrong.push(format!("{name} is a node, but not in the inventory"));
    }
    if names.is_empty() {
        let not_ready = nodes.iter().filter(|node| !node.is_ready());
        wrong.extend(not_ready.map(|node| format!("{} is not Ready", node.name_any())));
        if nodes.is_empty() {
            wrong.push("there are no nodes".to_owned());
        }
    }
    wrong.extend(versions(nodes, api_version));
    let good = format!("{} nodes, all Ready, at {api_version}", nodes.len());
    VerifyOutcome::of(Check::Nodes, wrong, fix, good)
}

fn faults(expected: &DeclaredNode, node: &Node) -> Vec<String> {
    let name = &expected.name;
    let mut wrong = Vec::new();
    if !node.is_ready() {
        let why = node.ready().map_or_else(|| "it has not reported".to_owned(), Condition::sentence);
        wrong.push(format!("{name} is not Ready: {why}"));
    }
    if !node.has_role(expected.role_name()) {
        wrong.push(format!(
            "{name} is not a {}: it lacks the label node-role.kubernetes.io/{}",
            expected.role_name(),
            expected.role_name()
        ));
    }
    let missing = expected.missing_ips(node);
    if !missing.is_empty() {
        let missing: Vec<String> = missing.iter().map(ToString::to_string).collect();
        let has: Vec<&str> = node.internal_ips().collect();
        wrong.push(format!("{name} has address {}, but {} is declared", has.join(", "), missing.join(", ")));
    }
    wrong
}

fn versions(nodes: &[Node], api_version: &str) -> Vec<String> {
    let minor = |version: &str| version.split('.').take(2).collect::<Vec<_>>().join(".");
    let version = |node: &Node| node.status.node_info.clone().unwrap_or_default().kubelet_version;
    let is_other = |node: &&Node| minor(&version(node)) != minor(api_version);
    let sentence = |node: &Node| {
        format!(
            "the kubelet of {} has version {:?}, the API server {api_version}",
            node.name_any(),
            version(node)
        )
    };
    nodes.iter().filter(is_other).map(sentence).collect()
}
