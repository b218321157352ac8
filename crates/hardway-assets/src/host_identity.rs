//! Who a host is before it is a node: a user of its own, in the client certificate that its config brings.
//!
//! Everybody who reaches port 22623 is given the shared identity of new machines. This one is in the config of one host and
//! nowhere else, so whoever asks with it has that config. A host that is installed again, or let in again, gets the next
//! generation; requests of an older one are worth nothing from then on.
//!
//! A worker of a hosted cluster has one as well, under another name: nobody here has a key that its API server trusts, so it is a
//! service account of that cluster, made for one machine and deleted when that is a node (`docs/decisions/0020-hosted-identities.md`).

use crate::inventory::{Host, Role};

/// The group of all of them: it may ask for a node's client certificate, and nothing more.
pub const GROUP: &str = "hardway:hosts";

const USER_PREFIX: &str = "hardway:host:";

/// The namespace of hosted workers' service accounts, in the hosted cluster. Nobody but an administrator makes one whose name begins
/// so: OpenShift refuses it as a project (openshift/openshift-apiserver `pkg/project/apiserver/registry/projectrequest`).
pub const WORKER_NAMESPACE: &str = "openshift-hardway-hosts";

/// The group of all of them, by Kubernetes' own rule: it may ask for a node's client certificate, and nothing more.
pub const WORKER_GROUP: &str = "system:serviceaccounts:openshift-hardway-hosts";

const WORKER_PREFIX: &str = "system:serviceaccount:openshift-hardway-hosts:";

/// The user of a host's generation.
pub fn user(host: &str, generation: u32) -> String {
    format!("{USER_PREFIX}{host}:{generation}")
}

/// The service account of a hosted worker's generation.
pub fn worker_account(worker: &str, generation: u32) -> String {
    format!("{worker}.{generation}")
}

/// Who the API server takes that service account for.
pub fn worker_user(worker: &str, generation: u32) -> String {
    format!("{WORKER_PREFIX}{}", worker_account(worker, generation))
}

/// Host and generation of a user, of either kind; `None` for every other user. No host's name has a colon.
pub fn parse(user: &str) -> Option<(&str, u32)> {
    let (host, generation) = match user.strip_prefix(WORKER_PREFIX) {
        Some(account) => account.rsplit_once('.')?,
        None => user.strip_prefix(USER_PREFIX)?.rsplit_once(':')?,
    };
    let number: u32 = generation.parse().ok()?;
    // Only as it is written: neither +1 nor 01.
    (!host.is_empty() && !host.contains(':') && number.to_string() == generation).then_some((host, number))
}

/// Whether that identity is a hosted worker's.
pub fn is_workers(user: &str) -> bool {
    user.starts_with(WORKER_PREFIX) && parse(user).is_some()
}

/// The name of its certificate and key: `pki/<name>.crt`, `secrets/<name>.key`.
pub fn certificate(host: &str) -> String {
    format!("host-identity-{host}")
}

/// The key that the ssh server of a host shows.
pub fn ssh_host_key(host: &str) -> String {
    format!("ssh-host-{host}")
}

/// Where its kubeconfig lies.
pub fn kubeconfig(host: &str) -> String {
    format!("kubeconfigs/hosts/{host}.kubeconfig")
}

impl Host {
    /// Whether it boots from a config of its own, which can bring what only this host has.
    pub fn has_own_config(&self) -> bool {
        !self.stock_pointer
    }

    /// Whether it boots with an identity of its own. The bootstrap host never is a node, and a stock pointer is the same for
    /// all hosts of a pool.
    pub fn has_identity(&self) -> bool {
        self.role != Role::Bootstrap && self.has_own_config()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_read_back_and_nothing_else_is_one() {
        assert_eq!(user("master-0", 3), "hardway:host:master-0:3");
        for (host, generation) in [("master-0", 1), ("a.b.example.com", 4_294_967_295)] {
            assert_eq!(parse(&user(host, generation)), Some((host, generation)));
            assert_eq!(parse(&worker_user(host, generation)), Some((host, generation)));
            assert!(is_workers(&worker_user(host, generation)) && !is_workers(&user(host, generation)));
        }
        assert_eq!(worker_user("w-0", 7), "system:serviceaccount:openshift-hardway-hosts:w-0.7");
        assert_eq!(WORKER_PREFIX, format!("system:serviceaccount:{WORKER_NAMESPACE}:"));
        assert_eq!(WORKER_GROUP, format!("system:serviceaccounts:{WORKER_NAMESPACE}"));
        for other in [
            "",
            "hardway:host:",
            "hardway:host:a",
            "hardway:host::1",
            "hardway:host:a:",
            "hardway:host:a:01",
            "hardway:host:a:+1",
            "hardway:host:a:-1",
            "hardway:host:a:4294967296",
            "hardway:host:a:b:1",
            "system:node:a",
            "xhardway:host:a:1",
            "system:serviceaccount:openshift-hardway-hosts:default",
            "system:serviceaccount:openshift-hardway-hosts:a.01",
            "system:serviceaccount:openshift-hardway-hosts:.1",
            "system:serviceaccount:openshift-hardway-host:a.1",
            "system:serviceaccount:elsewhere:a.1",
        ] {
            assert_eq!(parse(other), None, "{other}");
        }
    }
}
