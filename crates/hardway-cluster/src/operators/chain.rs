//! The chain from an operator that does not work to the first thing that is broken: authentication ← ingress ← worker ←
//! certificate request.

use std::collections::BTreeSet;

use hardway_assets::inventory::Role;
use serde::Serialize;

use super::prerequisites::{self, Need};
use crate::declared::{Declared, DeclaredNode, NAME_FIX};
use crate::objects::{CLIENT_SIGNER, Condition, Node, Truth};
use crate::state::ClusterState;

/// Something that is not as it should be, and that something else waits for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Prerequisite {
    /// `operator ingress`, `node worker-0.…`, `certificate requests`, `api`.
    pub subject: String,
    /// A sentence.
    pub what: String,
    /// What a person can do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

/// From the operator itself to the first broken link, which stands last. Empty if it is Available.
pub fn chain(operator: &str, state: &ClusterState, declared: &Declared) -> Vec<Prerequisite> {
    let mut links = Vec::new();
    walk(operator, state, declared, &mut BTreeSet::new(), &mut links);
    links
}

/// The broken link that most of the cluster waits for, with the number of operators that do. Nodes that are declared and
/// missing count even when no operator needs them.
pub fn blocking(state: &ClusterState, declared: &Declared) -> Option<(Prerequisite, usize)> {
    let mut roots: Vec<(Prerequisite, usize, usize)> = Vec::new();
    for (name, operator) in &state.operators {
        if operator.truth("Available") == Truth::True {
            continue;
        }
        let Some(root) = chain(name, state, declared).pop() else { continue };
        match roots.iter_mut().find(|(link, ..)| *link == root) {
            Some((_, count, _)) => *count += 1,
            None => {
                let rank =
                    root.subject.strip_prefix("operator ").map_or(0, |name| 1 + prerequisites::rank(name));
                roots.push((root, 1, rank));
            }
        }
    }
    // Most waited for; then what comes first in the usual order; then by name, so that two looks agree.
    roots.sort_by(|a, b| b.1.cmp(&a.1).then(a.2.cmp(&b.2)).then(a.0.cmp(&b.0)));
    let missing = || declared.nodes.iter().find_map(|node| broken_node(node, state)).map(|link| (link, 0));
    let unwell = || {
        let mut unwell: Vec<&String> = state
            .operators
            .iter()
            .filter(|(_, operator)| !operator.is_well())
            .map(|(name, _)| name)
            .collect();
        unwell.sort_by_key(|name| prerequisites::rank(name));
        unwell.first().map(|name| (operator_link(name, state), 0))
    };
    roots.into_iter().next().map(|(link, count, _)| (link, count)).or_else(missing).or_else(unwell)
}

fn walk(
    operator: &str,
    state: &ClusterState,
    declared: &Declared,
    seen: &mut BTreeSet<String>,
    links: &mut Vec<Prerequisite>,
) {
    let found = state.operators.get(operator);
    let is_available = found.is_some_and(|found| found.truth("Available") == Truth::True);
    if is_available || !seen.insert(operator.to_owned()) {
        return;
    }
    links.push(operator_link(operator, state));
    for need in prerequisites::needs(operator) {
        match need {
            Need::Operator(other) => {
                // An operator that the release does not bring is nobody's prerequisite.
                let before = links.len();
                if state.operators.contains_key(*other) {
                    walk(other, state, declared, seen, links);
                }
                if links.len() > before {
                    return;
                }
            }
            Need::AnyMaster => {
                if !state.nodes.values().any(|node| node.has_role("master")) {
                    let first = declared.with_role(Role::Master).find_map(|node| broken_node(node, state));
                    links.push(first.unwrap_or_else(|| no_node("no master has registered", state)));
                    return;
                }
            }
            Need::AllMasters => {
                if let Some(link) = declared.with_role(Role::Master).find_map(|node| broken_node(node, state))
                {
                    links.push(link);
                    return;
                }
            }
            Need::AnyWorker => {
                if let Some(link) = no_worker(state, declared) {
                    links.push(link);
                    return;
                }
            }
        }
    }
}

/// Nowhere to run routers: the first declared worker that is not Ready says why.
fn no_worker(state: &ClusterState, declared: &Declared) -> Option<Prerequisite> {
    let workers: Vec<&DeclaredNode> = declared.with_role(Role::Worker).collect();
    let is_ready = |name: &str| state.nodes.get(name).is_some_and(Node::is_ready);
    if workers.is_empty() {
        let any = state
            .nodes
            .values()
            .any(|node| node.is_ready() && (node.has_role("worker") || !declared.nodes.is_empty()));
        return (!any).then(|| no_node("no node is Ready to run ordinary pods", state));
    }
    if workers.iter().any(|worker| is_ready(&worker.name)) {
        return None;
    }
    workers.iter().find_map(|worker| broken_node(worker, state))
}

/// Why a declared node is not there, if so.
pub(super) fn broken_node(declared: &DeclaredNode, state: &ClusterState) -> Option<Prerequisite> {
    let (name, role) = (&declared.name, declared.role_name());
    let Some(node) = state.nodes.get(name) else {
        // Names that begin alike stand together.
        let first = name.split('.').next().unwrap_or_default();
        let mut alike = state
            .nodes
            .range(first.to_owned()..)
            .map(|(other, _)| other)
            .take_while(|o| o.starts_with(first));
        if let Some(other) = alike.find(|other| declared.is_called_otherwise(other)) {
            return Some(Prerequisite {
                subject: format!("node {other}"),
                what: format!("{role} {name} calls itself {other}"),
                fix: Some(NAME_FIX.to_owned()),
            });
        }
        return Some(no_node(&format!("{role} {name} has not registered"), state));
    };
    if node.is_ready() {
        return None;
    }
    let why = node.ready().map_or_else(|| "its kubelet has not reported yet".to_owned(), Condition::sentence);
    Some(Prerequisite {
        subject: format!("node {name}"),
        what: format!("{role} {name} is not Ready: {why}"),
        fix: Some(format!("ssh core@{name} journalctl -b -u kubelet -u crio")),
    })
}

/// A node that is not there either waits for its certificate, or has never asked for one.
fn no_node(what: &str, state: &ClusterState) -> Prerequisite {
    let waiting: Vec<String> = state
        .pending_requests()
        .filter(|request| request.spec.signer_name == CLIENT_SIGNER)
        .map(kube::ResourceExt::name_any)
        .collect();
    if waiting.is_empty() {
        return Prerequisite {
            subject: "nodes".to_owned(),
            what: format!("{what}, and no kubelet requests a certificate"),
            fix: Some("check the machine's console: whether it has booted, fetched its Ignition config, and reaches api-int".to_owned()),
        };
    }
    let named = waiting.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
    Prerequisite {
        subject: "certificate requests".to_owned(),
        what: format!("{what}; waiting for approval: {} ({named})", waiting.len()),
        fix: Some("hardway approve".to_owned()),
    }
}

fn operator_link(name: &str, state: &ClusterState) -> Prerequisite {
    let operator = state.operators.get(name);
    let bad = |kind: &str, bad: Truth| {
        let condition = operator?.condition(kind)?;
        (condition.status == bad || condition.status == Truth::Unknown).then(|| condition.sentence())
    };
    let degraded = operator.and_then(|operator| operator.condition("Degraded"));
    let degraded = degraded.filter(|degraded| degraded.status == Truth::True);
    let what = degraded
        .map(Condition::sentence)
        .or_else(|| bad("Available", Truth::False))
        .or_else(|| bad("Progressing", Truth::True))
        .unwrap_or_else(|| "has not reported yet".to_owned());
    Prerequisite {
        subject: format!("operator {name}"),
        what: format!("{name}: {what}"),
        fix: Some(format!("oc describe clusteroperator {name}")),
    }
}
