//! Who asks, and for what use.

use std::collections::BTreeSet;

use super::Rule;
use super::identity::{
    BOOTSTRAPPER, BOOTSTRAPPER_GROUPS, NODE_GROUPS, are_exactly, are_token_groups, is_token_user,
};
use crate::csr_policy::case::{Ask, Case, NODE_PREFIX};
use crate::csr_policy::{Finding, ReasonCode};

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "requester",
        about: "the bootstrap identity asks for a first certificate, the node itself for all others",
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
        Ask::FirstClient if is_bootstrapper(case) => {
            Finding::fits(format!("{user} asks, as new machines do"))
        }
        Ask::FirstClient => Finding::objects(
            ReasonCode::RequesterNotBootstrapper,
            format!("{user:?} asks for a first client certificate; new machines ask as {BOOTSTRAPPER}"),
        ),
        Ask::ClientRenewal | Ask::Serving => as_itself(case, user),
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
        None if user == BOOTSTRAPPER || is_token_user(user) => Finding::objects(
            ReasonCode::BootstrapperAsksToServe,
            format!("{user} asks for a serving certificate of {name}; kubelets ask for these as themselves"),
        ),
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
