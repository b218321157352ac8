//! Who asks, and for what use.

use std::collections::BTreeSet;

use hardway_assets::host_identity;

use super::Rule;
use super::identity::{
    BOOTSTRAPPER, BOOTSTRAPPER_GROUPS, NODE_GROUPS, are_exactly, are_token_groups, host_groups, is_token_user,
};
use crate::csr_policy::case::{Ask, Case, NODE_PREFIX};
use crate::csr_policy::{Finding, ReasonCode};
use crate::declared::{DeclaredNode, HostIdentity};

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "requester",
        about: "a first certificate is requested with the host's own identity, or with the shared one if it has none; all \
         others by the node itself",
        check: requester,
    },
    Rule {
        name: "requester-groups",
        about: "the requester has exactly the groups of that identity",
        check: groups,
    },
    Rule {
        name: "machine",
        about: "a machine that is made on demand sends its request after it was switched on",
        check: machine,
    },
    Rule { name: "usages", about: "the usages are those of the signer", check: usages },
];

fn requester(case: &Case<'_>) -> Finding {
    let user = case.request.username.as_str();
    match case.ask() {
        Ask::FirstClient => match case.declared().and_then(|node| Some((node, node.identity.as_ref()?))) {
            Some((node, identity)) => as_its_host(node, identity, user),
            None => as_a_new_machine(case, user),
        },
        Ask::ClientRenewal | Ask::Serving => as_itself(case, user),
    }
}

/// A host with an identity of its own: that one, of the current generation, and no other.
fn as_its_host(node: &DeclaredNode, identity: &HostIdentity, user: &str) -> Finding {
    let host = &node.host;
    if user == identity.user {
        return Finding::fits(format!("host {host} uses its own identity"));
    }
    let expected = &identity.user;
    if user == BOOTSTRAPPER || is_token_user(user) {
        let what =
            format!("the requester is {user}, an identity that is shared; host {host} must use {expected}");
        return Finding::objects(ReasonCode::SharedIdentity, what);
    }
    let current = host_identity::parse(expected).map(|(_, generation)| generation);
    match host_identity::parse(user) {
        Some((of, generation)) if of == host => {
            let reason = match Some(generation) < current {
                true => ReasonCode::IdentityReplaced,
                false => ReasonCode::IdentityUnknown,
            };
            Finding::objects(reason, format!("the requester is {user}; host {host} must use {expected} now"))
        }
        Some((of, _)) => Finding::objects(
            ReasonCode::IdentityOfAnotherHost,
            format!("host {of} requests the first certificate of host {host}"),
        ),
        None => Finding::objects(
            ReasonCode::RequesterNotBootstrapper,
            format!("{user:?} requests a first client certificate; host {host} must use {expected}"),
        ),
    }
}

/// A node without an identity of its own, or one that is not declared: then the name is what is objected to.
fn as_a_new_machine(case: &Case<'_>, user: &str) -> Finding {
    if is_bootstrapper(case) {
        return Finding::fits(format!("the requester is {user}, as for machines without their own identity"));
    }
    match (host_identity::parse(user), case.declared()) {
        (Some((host, _)), Some(node)) if host != node.host => Finding::objects(
            ReasonCode::IdentityOfAnotherHost,
            format!("host {host} requests the first certificate of host {}", node.host),
        ),
        (Some((host, _)), None) => Finding::fits(format!("the requester is the identity of host {host}")),
        _ => Finding::objects(
            ReasonCode::RequesterNotBootstrapper,
            format!(
                "{user:?} requests a first client certificate; machines that boot from a stock pointer use {BOOTSTRAPPER}"
            ),
        ),
    }
}

fn as_itself(case: &Case<'_>, user: &str) -> Finding {
    let Some(name) = case.node_name() else { return Finding::DoesNotApply };
    match user.strip_prefix(NODE_PREFIX) {
        Some(node) if node == name => Finding::fits(format!("node {name} requests it for itself")),
        Some(_) => Finding::objects(
            ReasonCode::AskedByAnotherNode,
            format!("{user} requests a certificate for {name}"),
        ),
        None if user == BOOTSTRAPPER || is_token_user(user) || host_identity::parse(user).is_some() => {
            Finding::objects(
                ReasonCode::BootstrapperAsksToServe,
                format!(
                    "{user} requests a serving certificate for {name}; kubelets request these as themselves"
                ),
            )
        }
        None => Finding::objects(
            ReasonCode::RequesterNotANode,
            format!(
                "{user:?} requests a serving certificate for {name}; kubelets request these as themselves"
            ),
        ),
    }
}

fn groups(case: &Case<'_>) -> Finding {
    let groups = &case.request.groups;
    let (fits, reason) = match (case.ask(), host_groups(&case.request.username)) {
        (Ask::FirstClient, Some(own)) => (are_exactly(groups, own), ReasonCode::BootstrapperGroupsDiffer),
        (Ask::FirstClient, None) if !is_bootstrapper(case) => return Finding::DoesNotApply,
        (Ask::FirstClient, None) if case.request.username == BOOTSTRAPPER => {
            (are_exactly(groups, &BOOTSTRAPPER_GROUPS), ReasonCode::BootstrapperGroupsDiffer)
        }
        (Ask::FirstClient, None) => (are_token_groups(groups), ReasonCode::BootstrapperGroupsDiffer),
        (Ask::ClientRenewal | Ask::Serving, _) => {
            (are_exactly(groups, &NODE_GROUPS), ReasonCode::NodeGroupsDiffer)
        }
    };
    match fits {
        true => Finding::fits("the requester has the groups of that identity and no others"),
        false => Finding::objects(reason, format!("the requester has the groups {}", groups.join(", "))),
    }
}

/// What a machine will ask with is there before it is on, while its medium is made, and somebody may have a copy. They can never be
/// meant, so such a request is no rival either: it would hold the true machine up.
fn machine(case: &Case<'_>) -> Finding {
    let Some(switched_on) = case.switched_on().filter(|_| case.ask() == Ask::FirstClient) else {
        return Finding::DoesNotApply;
    };
    let created = case.request.created;
    match created >= switched_on {
        true => Finding::fits(format!("its machine was switched on earlier, at {switched_on}")),
        false => Finding::objects(
            ReasonCode::AskedBeforeBoot,
            format!("it was created at {created}, but its machine was switched on at {switched_on}"),
        ),
    }
}

fn is_bootstrapper(case: &Case<'_>) -> bool {
    let user = case.request.username.as_str();
    user == BOOTSTRAPPER || case.world.settings.bootstrap_tokens && is_token_user(user)
}

/// The two sets that the signer takes (kubernetes `pkg/apis/certificates/helpers.go`). Kubelets before 1.27 ask for key
/// encipherment with every key.
fn usages(case: &Case<'_>) -> Finding {
    let purpose = if case.request.is_serving() { "server auth" } else { "client auth" };
    let usages: BTreeSet<&str> = case.request.usages.iter().map(String::as_str).collect();
    let needed = BTreeSet::from(["digital signature", purpose]);
    let allowed = BTreeSet::from(["digital signature", "key encipherment", purpose]);
    let shown = case.request.usages.join(", ");
    if usages.len() == case.request.usages.len() && usages.is_superset(&needed) && usages.is_subset(&allowed)
    {
        Finding::fits(format!("its usages are {shown}"))
    } else {
        Finding::objects(
            ReasonCode::UsagesNotAllowed,
            format!("its usages are [{shown}], not those of {purpose}"),
        )
    }
}
