//! Whom the approver of a hosted cluster expects: workers whose machines are on, and nobody else.

use hardway_assets::host_identity::worker_user;
use hardway_cluster::approver::Expected;
use hardway_cluster::csr_policy::PolicySettings;
use hardway_cluster::declared::{Declared, DeclaredNode, HostIdentity, OtherAddress};
use ipnet::IpNet;
use jiff::Timestamp;
use std::net::IpAddr;

use crate::worker::Worker;

/// Networks and addresses of the cluster, in which no worker serves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterNetworks {
    /// Of services.
    pub service_networks: Vec<IpNet>,
    /// Of pods.
    pub pod_networks: Vec<IpNet>,
    /// Where the API and the ignition-server are.
    pub published: Vec<IpAddr>,
}

/// Whose word it is that a machine fetched its config.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Witness {
    /// The journal of this folder: `hardway serve` writes it.
    #[default]
    Journal,
    /// Also the workers' records: a controller beside the server wrote there what its journal says. Whoever may write ConfigMaps in
    /// the HostedCluster's namespace may do so as well.
    Records,
}

/// Every node has its way to the API there (openshift/hypershift `support/config/constants.go`).
const API_PROXY: [u8; 4] = [172, 20, 0, 1];

/// Who is expected now, of pools in this namespace.
///
/// A machine that is on but has not become a node within the window is not expected any more: whoever asks under its name so
/// late is not waited for, and whoever asked before it was on is somebody else. Each asks with the identity that its machine was booted
/// with. One without, of an older hardway, is never let in: generation 0 is nobody's.
pub fn expected(
    workers: &[Worker],
    namespace: &str,
    surroundings: &ClusterNetworks,
    policy: &PolicySettings,
    witness: Witness,
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
                identity: Some(identity(worker)),
            })
            .collect(),
        service_networks: surroundings.service_networks.clone(),
        pod_networks: surroundings.pod_networks.clone(),
        other_addresses: published.chain([of("every node's proxy to the API", API_PROXY.into())]).collect(),
        ..Declared::default()
    };
    let pool = |worker: &Worker| (worker.name.clone(), format!("{namespace}/{}", worker.node_pool));
    let fetched = workers.iter().filter(|_| witness == Witness::Records);
    let fetched = fetched.filter_map(|worker| Some((worker.name.clone(), worker.history.fetched?)));
    Expected {
        declared,
        pools: workers.iter().map(pool).collect(),
        switched_on: workers.iter().filter_map(switched_on).collect(),
        fetched: fetched.collect(),
        ..Expected::default()
    }
}

fn identity(worker: &Worker) -> HostIdentity {
    let generation = worker.history.generation.unwrap_or(0);
    HostIdentity { user: worker_user(&worker.name, generation), since: None, in_place: false }
}

/// In whole seconds, as the API server counts.
fn switched_on(worker: &Worker) -> Option<(String, Timestamp)> {
    let booted = Timestamp::from_second(worker.history.booted?.as_second()).ok()?;
    Some((worker.name.clone(), booted))
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
        again.history.generation = Some(540);
        again.history.fetched = Some(at(10));
        let workers = [
            worker("planned", None, None, None),
            worker("booted", Some(1), None, None),
            worker("late", Some(-200), None, None),
            worker("joined", Some(-200), Some(-190), None),
            worker("removed", Some(1), Some(2), Some(3)),
            again,
        ];
        let names = |expected: &Expected| -> Vec<String> {
            expected.declared.nodes.iter().map(|node| node.name.clone()).collect()
        };
        let of = |witness| {
            let policy = PolicySettings::default();
            expected(&workers, "clusters", &ClusterNetworks::default(), &policy, witness, at(10))
        };
        let now = of(Witness::Journal);
        assert_eq!(names(&now), ["booted", "joined", "again"]);
        let users: Vec<&str> =
            now.declared.nodes.iter().map(|node| node.identity.as_ref().unwrap().user.as_str()).collect();
        let own = |account| format!("system:serviceaccount:openshift-hardway-hosts:{account}");
        assert_eq!(users, [own("booted.0"), own("joined.0"), own("again.540")], "each as itself, or nobody");
        assert!(now.rejoin.is_empty(), "nobody comes again with what another had");
        let is_on = [("again", 9), ("booted", 1), ("joined", -200), ("late", -200), ("removed", 1)];
        let is_on = is_on.map(|(name, minute)| (name.to_owned(), at(minute)));
        assert_eq!(now.switched_on.into_iter().collect::<Vec<_>>(), is_on, "of every incarnation");
        assert_eq!(now.declared.other_addresses[0].address, IpAddr::from([172, 20, 0, 1]));
        assert!(now.fetched.is_empty(), "a record is nobody's word unless a person says so");
        let recorded = of(Witness::Records).fetched;
        assert_eq!(recorded.into_iter().collect::<Vec<_>>(), [("again".to_owned(), at(10))]);
    }
}
