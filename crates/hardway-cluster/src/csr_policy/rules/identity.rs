//! Names of nodes, and who new machines ask as.

use std::collections::BTreeSet;

use hardway_assets::host_identity;

/// OpenShift's: a client certificate or token of this service account is given to every machine that boots from a stock pointer, and to
/// everybody else who asks for it on port 22623.
pub(super) const BOOTSTRAPPER: &str =
    "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper";

/// Its groups, all of them.
pub(super) const BOOTSTRAPPER_GROUPS: [&str; 3] = [
    "system:serviceaccounts",
    "system:serviceaccounts:openshift-machine-config-operator",
    "system:authenticated",
];

/// The groups of a host's own identity, all of them; `None` for every other user.
pub(super) fn host_groups(user: &str) -> Option<&'static [&'static str]> {
    host_identity::parse(user)?;
    Some(match host_identity::is_workers(user) {
        true => &["system:serviceaccounts", host_identity::WORKER_GROUP, "system:authenticated"],
        false => &[host_identity::GROUP, "system:authenticated"],
    })
}

/// The groups of a node, all of them.
pub(super) const NODE_GROUPS: [&str; 2] = ["system:nodes", "system:authenticated"];

const TOKEN_PREFIX: &str = "system:bootstrap:";
const TOKEN_GROUP: &str = "system:bootstrappers";

/// The user of a bootstrap token: `system:bootstrap:` and its six characters
/// (kubernetes `cluster-bootstrap/token/api/types.go`).
pub(super) fn is_token_user(name: &str) -> bool {
    name.strip_prefix(TOKEN_PREFIX)
        .is_some_and(|id| id.len() == 6 && id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()))
}

/// A bootstrap token brings its group, perhaps groups below it, and nothing else.
pub(super) fn are_token_groups(groups: &[String]) -> bool {
    let extra = format!("{TOKEN_GROUP}:");
    let known =
        |group: &String| group == TOKEN_GROUP || group == "system:authenticated" || group.starts_with(&extra);
    groups.iter().all(known)
        && [TOKEN_GROUP, "system:authenticated"].iter().all(|g| groups.iter().any(|x| x == g))
}

/// The same groups, in whatever order and however often.
pub(super) fn are_exactly(groups: &[String], expected: &[&str]) -> bool {
    let groups: BTreeSet<&str> = groups.iter().map(String::as_str).collect();
    groups == expected.iter().copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bootstrap_tokens() {
        let groups = |words: &str| words.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert!(is_token_user("system:bootstrap:abc123") && !is_token_user("system:bootstrap:abc12X"));
        assert!(are_token_groups(&groups("system:bootstrappers system:authenticated")));
        assert!(are_token_groups(&groups(
            "system:bootstrappers system:bootstrappers:lab system:authenticated"
        )));
        assert!(!are_token_groups(&groups("system:bootstrappers system:masters system:authenticated")));
        assert!(!are_token_groups(&groups("system:authenticated")));
    }
}
