//! The Node object: not there before the first certificate, there for every other.

use std::net::IpAddr;

use super::Rule;
use super::ignition;
use crate::csr_policy::case::{Ask, Case};
use crate::csr_policy::{Finding, ReasonCode, SeenNode};

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "node",
        about: "a new node is not there yet, or may come again; for all else it is there",
        check: node,
    },
    Rule {
        name: "node-addresses",
        about: "the node reports an address that it was declared with",
        check: node_addresses,
    },
];

fn node(case: &Case<'_>) -> Finding {
    let Some(name) = case.node_name() else { return Finding::DoesNotApply };
    match (case.ask(), case.node()) {
        (Ask::FirstClient, None) => Finding::fits(format!("node {name} is not there yet")),
        (Ask::FirstClient, Some(node)) => match may_come_again(case, node) {
            Some(why) => Finding::fits(format!("node {name} is there, but {why}")),
            None => Finding::objects(
                ReasonCode::NodeExists,
                format!("node {name} is there since {} and needs no first certificate", node.created),
            ),
        },
        (_, Some(node)) => Finding::fits(format!("node {name} is there since {}", node.created)),
        (_, None) => Finding::objects(ReasonCode::NodeMissing, format!("node {name} is not there")),
    }
}

/// A generation of its identity that is newer than the node was given to its machine to come again.
fn may_come_again(case: &Case<'_>, node: &SeenNode) -> Option<String> {
    let since = case.identity().and_then(|identity| identity.since).filter(|since| *since > node.created);
    since
        .map(|since| format!("its identity was replaced at {since}, so that its machine can come again"))
        .or_else(|| ignition::may_come_again(case, node.created))
}

/// Only ever an objection: the node writes these addresses itself.
fn node_addresses(case: &Case<'_>) -> Finding {
    let (Some(declared), Some(node)) = (case.declared(), case.node()) else { return Finding::DoesNotApply };
    if case.ask() == Ask::FirstClient || node.addresses.is_empty() {
        return Finding::DoesNotApply;
    }
    if node.addresses.iter().any(|address| declared.addresses.contains(address)) {
        return Finding::fits("the node reports an address that it was declared with");
    }
    let shown =
        |addresses: &[IpAddr]| addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let what = format!(
        "the node reports {}, and was declared with {}",
        shown(&node.addresses),
        shown(&declared.addresses)
    );
    Finding::objects(ReasonCode::NodeElsewhere, what)
}
