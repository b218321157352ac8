//! Whom the approver of a hosted cluster expects: workers whose machines are on, and nobody else.

use hardway_cluster::approver::Expected;
use hardway_cluster::csr_policy::{IgnitionEvidence, Settings};
use hardway_cluster::declared::{Declared, DeclaredNode, OtherAddress};
use ipnet::IpNet;
use jiff::Timestamp;
use std::net::IpAddr;

use crate::worker::Worker;

/// Networks and addresses of the cluster, in which no worker serves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// Of services.
    pub service_networks: Vec<IpNet>,
    /// Of pods.
    pub pod_networks: Vec<IpNet>,
    /// Where the API and the ignition-server are.
    pub published: Vec<IpAddr>,
}

/// Every node has its way to the API there (openshift/hypershift `support/config/constants.go`).
const API_PROXY: [u8; 4] = [172, 20, 0, 1];

/// Who is expected now, of pools in this namespace.
///
/// A machine that is on but has not become a node within the window is not expected any more: whoever asks under its name so
/// late is not waited for. A worker that was replaced has a certificate under its name already; where no fetched config can tell
/// that it is a new machine, the moment it was switched on does, and lets one certificate through.
pub fn expected(
    workers: &[Worker],
    namespace: &str,
    surroundings: &Surroundings,
    policy: &Settings,
    now: Timestamp,
) -> Expected {
    let is_expected = |worker: &&Worker| {
        let history = &worker.history;
        let is_late = history.booted.is_none_or(|booted| now.duration_since(booted) > policy.join_window);
        history.booted.is_some() && history.removed.is_none() && (history.joined.is_some() || !is_late)
    };
    let of = |of: &str, address: IpAddr| OtherAddress { address, of: of.to_owned() };
    let published = surroundings.published.iter().map(|address| of("the control plane", *address));
    let declared = Declared {
        nodes: workers
            .iter()
            .filter(is_expected)
            .map(|worker| DeclaredNode {
                name: worker.name.clone(),
                host: worker.name.clone(),
                role: None,
                addresses: worker.addresses.clone(),
                identity: None,
            })
            .collect(),
        service_networks: surroundings.service_networks.clone(),
        pod_networks: surroundings.pod_networks.clone(),
        other_addresses: published.chain([of("every node's way to the API", API_PROXY.into())]).collect(),
        ..Declared::default()
    };
    let again = workers.iter().filter(|worker| {
        worker.incarnation > 1 && policy.ignition == IgnitionEvidence::Ignored && is_expected(worker)
    });
    let rejoin = again.filter_map(|worker| {
        // The API server counts in whole seconds.
        let booted = Timestamp::from_second(worker.history.booted?.as_second()).ok()?;
        Some((worker.name.clone(), booted))
    });
    let pool = |worker: &Worker| (worker.name.clone(), format!("{namespace}/{}", worker.node_pool));
    Expected { declared, rejoin: rejoin.collect(), pools: workers.iter().map(pool).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_machines_that_are_on_are_expected_and_not_for_ever() {
        let at = |minute: i64| Timestamp::from_second(minute * 60).unwrap();
        let worker = |name: &str, booted: Option<i64>, joined: Option<i64>, removed: Option<i64>| {
            let mut worker = Worker::planned(name, "demo", &[[10, 0, 0, 7].into()], at(0));
            worker.history.booted = booted.map(at);
            worker.history.joined = joined.map(at);
            worker.history.removed = removed.map(at);
            worker
        };
        let mut again = worker("again", Some(9), None, None);
        again.incarnation = 2;
        let workers = [
            worker("planned", None, None, None),
            worker("booted", Some(1), None, None),
            worker("late", Some(-200), None, None),
            worker("joined", Some(-200), Some(-190), None),
            worker("removed", Some(1), Some(2), Some(3)),
            again,
        ];
        let ignored = Settings { ignition: IgnitionEvidence::Ignored, ..Settings::default() };
        let names = |expected: &Expected| -> Vec<String> {
            expected.declared.nodes.iter().map(|node| node.name.clone()).collect()
        };
        let now = expected(&workers, "clusters", &Surroundings::default(), &ignored, at(10));
        assert_eq!(names(&now), ["booted", "joined", "again"]);
        assert_eq!(now.rejoin.into_iter().collect::<Vec<_>>(), [("again".to_owned(), at(9))]);
        let proven = expected(&workers, "clusters", &Surroundings::default(), &Settings::default(), at(10));
        assert!(proven.rejoin.is_empty(), "a fetched config proves more than a moment");
        assert_eq!(proven.declared.other_addresses[0].address, IpAddr::from([172, 20, 0, 1]));
    }
}
