//! Who asks, and for what use.

use std::collections::BTreeSet;

use hardway_assets::host_identity;

use super::Rule;
use super::identity::{
    BOOTSTRAPPER, BOOTSTRAPPER_GROUPS, HOST_GROUPS, NODE_GROUPS, are_exactly, are_token_groups, is_token_user,
};
use crate::csr_policy::case::{Ask, Case, NODE_PREFIX};
use crate::csr_policy::{Finding, ReasonCode};
use crate::declared::{DeclaredNode, HostIdentity};

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "requester",
        about: "the host's own identity asks for a first certificate, or the shared one where it has none; the node itself for all others",
        check: requester,
    },
    Rule {
        name: "requester-groups",
        about: "whoever asks has exactly the groups of that identity",
        check: groups,
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
        return Finding::fits(format!("host {host} asks with its own identity"));
    }
    let expected = &identity.user;
    if user == BOOTSTRAPPER || is_token_user(user) {
        let what = format!("{user} asks, which everybody can be; host {host} asks as {expected}");
        return Finding::objects(ReasonCode::SharedIdentity, what);
    }
    let current = host_identity::parse(expected).map(|(_, generation)| generation);
    match host_identity::parse(user) {
        Some((of, generation)) if of == host => {
            let reason = match Some(generation) < current {
                true => ReasonCode::IdentityReplaced,
                false => ReasonCode::IdentityUnknown,
            };
            Finding::objects(reason, format!("{user} asks; host {host} asks as {expected} now"))
        }
        Some((of, _)) => Finding::objects(
            ReasonCode::IdentityOfAnotherHost,
            format!("host {of} asks for the first certificate of host {host}"),
        ),
        None => Finding::objects(
            ReasonCode::RequesterNotBootstrapper,
            format!("{user:?} asks for a first client certificate; host {host} asks as {expected}"),
        ),
    }
}

/// A node without an identity of its own, or one that is not declared: then the name is what is objected to.
fn as_a_new_machine(case: &Case<'_>, user: &str) -> Finding {
    if is_bootstrapper(case) {
        return Finding::fits(format!("{user} asks, as machines without an identity of their own do"));
    }
    match (host_identity::parse(user), case.declared()) {
        (Some((host, _)), Some(node)) if host != node.host => Finding::objects(
            ReasonCode::IdentityOfAnotherHost,
            format!("host {host} asks for the first certificate of host {}", node.host),
        ),
        (Some((host, _)), None) => Finding::fits(format!("the identity of host {host} asks")),
        _ => Finding::objects(
            ReasonCode::RequesterNotBootstrapper,
            format!(
                "{user:?} asks for a first client certificate; machines from a stock pointer ask as {BOOTSTRAPPER}"
            ),
        ),
    }
}

fn as_itself(case: &Case<'_>, user: &str) -> Finding {
    let Some(name) = case.node_name() else { return Finding::DoesNotApply };
    match user.strip_prefix(NODE_PREFIX) {
        Some(node) if node == name => Finding::fits(format!("node {name} asks for itself")),
        Some(_) => Finding::objects(
            ReasonCode::AskedByAnotherNode,
            format!("{user} asks for a certificate of {name}"),
        ),
        None if user == BOOTSTRAPPER || is_token_user(user) || host_identity::parse(user).is_some() => {
            Finding::objects(
                ReasonCode::BootstrapperAsksToServe,
                format!(
                    "{user} asks for a serving certificate of {name}; kubelets ask for these as themselves"
                ),
            )
        }
        None => Finding::objects(
            ReasonCode::RequesterNotANode,
            format!(
                "{user:?} asks for a serving certificate of {name}; kubelets ask for these as themselves"
            ),
        ),
    }
}

fn groups(case: &Case<'_>) -> Finding {
    let groups = &case.request.groups;
    let (fits, reason) = match case.ask() {
        Ask::FirstClient if host_identity::parse(&case.request.username).is_some() => {
            (are_exactly(groups, &HOST_GROUPS), ReasonCode::BootstrapperGroupsDiffer)
        }
        Ask::FirstClient if !is_bootstrapper(case) => return Finding::DoesNotApply,
        Ask::FirstClient if case.request.username == BOOTSTRAPPER => {
            (are_exactly(groups, &BOOTSTRAPPER_GROUPS), ReasonCode::BootstrapperGroupsDiffer)
        }
        Ask::FirstClient => (are_token_groups(groups), ReasonCode::BootstrapperGroupsDiffer),
        Ask::ClientRenewal | Ask::Serving => {
            (are_exactly(groups, &NODE_GROUPS), ReasonCode::NodeGroupsDiffer)
        }
    };
    match fits {
        true => Finding::fits("whoever asks has the groups of that identity and no other"),
        false => Finding::objects(reason, format!("whoever asks has the groups {}", groups.join(", "))),
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
            format!("its usages are [{shown}], which are not those of {purpose}"),
        )
    }
}
