//! The Node object: not there before the first certificate, there for every other.

use std::net::IpAddr;

use jiff::Timestamp;

use super::Rule;
use super::{history, ignition};
use crate::csr_policy::case::{Ask, Case};
use crate::csr_policy::{Finding, ReasonCode, SeenNode};

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "node",
        about: "a new node does not exist yet, or may rejoin; otherwise the node exists",
        check: node,
    },
    Rule {
        name: "node-addresses",
        about: "the node reports an address that is declared for it",
        check: node_addresses,
    },
];

fn node(case: &Case<'_>) -> Finding {
    let Some(name) = case.node_name() else { return Finding::DoesNotApply };
    match (case.ask(), case.node()) {
        (Ask::FirstClient, None) if case.identity().is_some_and(|identity| identity.in_place) => {
            // Such an identity was given to a node that was there. Since then somebody took the node away.
            Finding::objects(
                ReasonCode::NodeMissing,
                format!("the identity was installed on node {name}, which does not exist"),
            )
        }
        (Ask::FirstClient, None) => Finding::fits(format!("node {name} does not exist yet")),
        (Ask::FirstClient, Some(node)) => match may_come_again(case, node) {
            Some(why) => Finding::fits(format!("node {name} exists, but {why}")),
            None => Finding::objects(
                ReasonCode::NodeExists,
                format!(
                    "node {name} exists since {}{} and needs no first certificate",
                    node.created,
                    node.heard.map(|heard| format!(", last reported at {heard}")).unwrap_or_default()
                ),
            ),
        },
        (_, Some(node)) => Finding::fits(format!("node {name} exists since {}", node.created)),
        (_, None) => Finding::objects(ReasonCode::NodeMissing, format!("node {name} does not exist")),
    }
}

/// A generation of its identity that is newer than the node was given to its machine to come again. One that was put in place on the
/// host is used up once the host's kubelet reports again: it could not without a certificate. The cluster knows that, where the
/// journal of an approver in a pod begins anew with every pod.
fn may_come_again(case: &Case<'_>, node: &SeenNode) -> Option<String> {
    let skew = case.world.settings.clock_skew;
    let identity = case.identity();
    let is_used_up = |since: Timestamp| {
        identity.is_some_and(|identity| identity.in_place)
            && node.heard.is_some_and(|heard| heard > since + skew)
    };
    // The node may have come with this very generation, by a clock that is behind. One that was put in place came to a node that
    // was there already and had lost its own, maybe in the very second in which it had joined: times of the API server have no fractions.
    let is_newer = |since: &Timestamp| match identity {
        Some(identity) if identity.in_place => since.as_second() >= node.created.as_second(),
        _ => since.as_second() > (node.created + skew).as_second(),
    };
    let since = identity.and_then(|identity| identity.since);
    since
        .filter(|since| is_newer(since) && !is_used_up(*since))
        .map(|since| format!("its identity was replaced at {since}, so that its machine can rejoin"))
        // Whoever has the key of the machine before can make the Node again; but once this generation has let a machine in, only
        // the next one lets in another.
        .or_else(|| {
            let is_first = identity.is_none() || history::approvals(case).next().is_none();
            ignition::may_come_again(case, node.created).filter(|_| is_first)
        })
}

/// Only ever an objection: the node writes these addresses itself.
fn node_addresses(case: &Case<'_>) -> Finding {
    let (Some(declared), Some(node)) = (case.declared(), case.node()) else { return Finding::DoesNotApply };
    if case.ask() == Ask::FirstClient || node.addresses.is_empty() {
        return Finding::DoesNotApply;
    }
    if node.addresses.iter().any(|address| declared.addresses.contains(address)) {
        return Finding::fits("the node reports an address that is declared for it");
    }
    let shown =
        |addresses: &[IpAddr]| addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let what = format!(
        "the node reports {}, but {} is declared",
        shown(&node.addresses),
        shown(&declared.addresses)
    );
    Finding::objects(ReasonCode::NodeElsewhere, what)
}
