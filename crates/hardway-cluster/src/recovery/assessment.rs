//! Who is silent, since when, and what waits.

use std::collections::BTreeMap;
use std::net::IpAddr;

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::certificates::v1::CertificateSigningRequest;
use serde::Serialize;

use crate::csr_policy::{CLIENT_SIGNER, Examined, Request, RequestState};
use crate::declared::Declared;

/// The nodes of a cluster and what their kubelets wait for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Assessment {
    /// In the order of the inventory; nodes that nobody declared last.
    pub kubelets: Vec<Kubelet>,
}

/// What the cluster heard of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heard {
    /// The newest sign of its kubelet: its lease, or its report. By the node's clock.
    pub last: Option<Timestamp>,
    /// Where it can be reached.
    pub addresses: Vec<IpAddr>,
}

/// One node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Kubelet {
    /// As the API calls it.
    pub node: String,
    /// Whether the inventory has it.
    pub is_declared: bool,
    /// Whether it reports.
    pub standing: Standing,
    /// When it last did.
    pub last_heard: Option<Timestamp>,
    /// Where it can be reached.
    pub addresses: Vec<IpAddr>,
    /// When the certificate ends that it serves with; its client certificate is of the same signer and about as old. None where
    /// it cannot be asked.
    pub certificate_ends: Option<Timestamp>,
    /// What it asked for and nobody decided, the oldest first.
    pub waiting: Vec<Waiting>,
}

/// Whether a kubelet reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Standing {
    /// There is no such node: it has never joined, or was removed.
    Absent,
    /// It does.
    Reports,
    /// It does not.
    Silent,
}

/// A request that nobody has decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Waiting {
    /// Of the object.
    pub request: String,
    /// `client` or `serving`.
    pub kind: &'static str,
    /// Since when.
    pub since: Timestamp,
}

impl Assessment {
    /// Of two looks, a while apart. A node is silent if its last sign is older than `silence` and did not change in
    /// between: a node whose clock is wrong gives signs with wrong times, but it gives them.
    pub fn of(
        declared: &Declared,
        before: &BTreeMap<String, Heard>,
        after: &BTreeMap<String, Heard>,
        requests: &[CertificateSigningRequest],
        now: Timestamp,
        silence: SignedDuration,
    ) -> Self {
        let waiting = waiting(requests);
        let undeclared = after.keys().filter(|name| declared.node(name).is_none());
        let names = declared.nodes.iter().map(|node| &node.name).chain(undeclared);
        let kubelet = |node: &String| {
            let heard = after.get(node);
            let last = heard.and_then(|heard| heard.last);
            let is_old = last.is_none_or(|last| now.duration_since(last) > silence);
            let is_unchanged = before.get(node).is_some_and(|before| before.last == last);
            Kubelet {
                node: node.clone(),
                is_declared: declared.node(node).is_some(),
                standing: match heard {
                    None => Standing::Absent,
                    Some(_) if is_old && is_unchanged => Standing::Silent,
                    Some(_) => Standing::Reports,
                },
                last_heard: last,
                addresses: heard.map(|heard| heard.addresses.clone()).unwrap_or_default(),
                certificate_ends: None,
                waiting: waiting.get(node).cloned().unwrap_or_default(),
            }
        };
        Self { kubelets: names.map(kubelet).collect() }
    }

    /// Declared nodes that are silent: those that a person lets in again.
    pub fn silent(&self) -> impl Iterator<Item = &Kubelet> {
        self.kubelets.iter().filter(|one| one.is_declared && one.standing == Standing::Silent)
    }

    /// Whether any declared node waits for a certificate.
    pub fn is_anything_waiting(&self) -> bool {
        self.kubelets.iter().any(|one| one.is_declared && !one.waiting.is_empty())
    }

    /// Until when the cluster can be off without anybody having to let nodes in again: the first end among the certificates
    /// that could be asked for, and whose it is.
    pub fn can_be_off_until(&self) -> Option<(Timestamp, &str)> {
        let ends = self.kubelets.iter().filter(|one| one.standing == Standing::Reports);
        ends.filter_map(|one| Some((one.certificate_ends?, one.node.as_str()))).min()
    }
}

/// By node, the oldest first.
fn waiting(requests: &[CertificateSigningRequest]) -> BTreeMap<String, Vec<Waiting>> {
    let mut all: BTreeMap<String, Vec<Waiting>> = BTreeMap::new();
    for request in requests.iter().map(Request::of) {
        if !request.is_a_kubelets() || request.state != RequestState::Pending {
            continue;
        }
        let (name, since) = (request.name.clone(), request.created);
        let kind = if request.signer == CLIENT_SIGNER { "client" } else { "serving" };
        let examined = Examined::new(request);
        if let Some(node) = examined.node() {
            all.entry(node.to_owned()).or_default().push(Waiting { request: name, kind, since });
        }
    }
    all.values_mut().for_each(|waiting| waiting.sort_by_key(|one| one.since));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::declared::DeclaredNode;
    use crate::testing::at;

    fn declared() -> Declared {
        let node = |name: &str| DeclaredNode {
            name: name.into(),
            host: name.into(),
            role: None,
            addresses: Vec::new(),
            identity: None,
        };
        Declared { nodes: ["a", "b", "c", "d"].map(node).into(), ..Declared::default() }
    }

    fn heard(signs: &[(&str, Option<i64>)]) -> BTreeMap<String, Heard> {
        let one = |(name, last): &(&str, Option<i64>)| {
            ((*name).to_owned(), Heard { last: last.map(at), addresses: Vec::new() })
        };
        signs.iter().map(one).collect()
    }

    #[test]
    fn silent_is_who_has_given_no_sign_for_long_and_gives_none_now() {
        // a: dead; b: reports; c: reports with a clock that is a day behind; x: dead, and nobody's.
        let before = heard(&[("a", Some(0)), ("b", Some(990)), ("c", Some(-86_400)), ("x", None)]);
        let after = heard(&[("a", Some(0)), ("b", Some(1000)), ("c", Some(-86_390)), ("x", None)]);
        let silence = SignedDuration::from_mins(2);
        let found = Assessment::of(&declared(), &before, &after, &[], at(1000), silence);
        let standings: Vec<(&str, Standing)> =
            found.kubelets.iter().map(|one| (one.node.as_str(), one.standing)).collect();
        let expected = [
            ("a", Standing::Silent),
            ("b", Standing::Reports),
            ("c", Standing::Reports),
            ("d", Standing::Absent),
            ("x", Standing::Silent),
        ];
        assert_eq!(standings, expected);
        assert_eq!(found.silent().map(|one| one.node.as_str()).collect::<Vec<_>>(), ["a"]);
    }

    #[test]
    fn one_that_came_between_the_looks_is_not_silent() {
        let found = Assessment::of(
            &declared(),
            &heard(&[]),
            &heard(&[("a", Some(0))]),
            &[],
            at(1000),
            SignedDuration::from_mins(2),
        );
        assert_eq!(found.kubelets[0].standing, Standing::Reports);
    }

    #[test]
    fn a_cluster_can_be_off_until_the_first_certificate_ends() {
        let signs = heard(&[("a", Some(1000)), ("b", Some(1000)), ("c", Some(0))]);
        let mut found =
            Assessment::of(&declared(), &signs, &signs, &[], at(1000), SignedDuration::from_mins(2));
        assert_eq!(found.can_be_off_until(), None);
        for (place, end) in [(0, 9000), (1, 8000), (2, 1)] {
            found.kubelets[place].certificate_ends = Some(at(end));
        }
        assert_eq!(found.can_be_off_until(), Some((at(8000), "b")), "c is silent already");
    }
}
