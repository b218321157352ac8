//! Which hosts become workers, and which workers go, when another number is wanted: a pure choice.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::pool_hosts::PlacedHost;
use crate::worker::{WantedState, Worker, WorkerStage};

/// What changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scaling {
    /// Hosts that become workers, in the order of the inventory.
    pub add: Vec<PlacedHost>,
    /// Workers that go, the one that costs least first.
    pub remove: Vec<String>,
}

/// What it would cost to do without a worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct RemovalCost {
    /// Its node is Ready: it does something.
    pub is_ready: bool,
    /// It takes new pods: nobody has given it up yet.
    pub is_schedulable: bool,
    /// Pods that would have to go elsewhere.
    pub pods: usize,
}

/// There are not enough hosts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{wanted} workers are wanted, but the inventory has hosts for {possible}")]
pub struct TooFewHosts {
    /// So many.
    pub wanted: usize,
    /// Hosts that no other pool has.
    pub possible: usize,
}

/// Workers of a pool that are not on their way out.
pub fn present<'w>(workers: &'w [Worker], node_pool: &str) -> Vec<&'w Worker> {
    let is_here = |worker: &&Worker| worker.node_pool == node_pool && worker.wanted != WantedState::Absent;
    workers.iter().filter(is_here).collect()
}

/// What has to change for a pool to have this many workers. Those go first that never came up, then those whose nodes are not ready,
/// then those that take no pods any more, then those with the fewest pods, then the newest.
///
/// # Errors
/// When the inventory has too few hosts.
pub fn scaling(
    workers: &[Worker],
    node_pool: &str,
    hosts: &[PlacedHost],
    wanted: usize,
    costs: &BTreeMap<String, RemovalCost>,
) -> Result<Scaling, TooFewHosts> {
    let mut own = present(workers, node_pool);
    if own.len() >= wanted {
        own.sort_by_key(|worker| {
            let cost = costs.get(&worker.name).copied().unwrap_or_default();
            (
                worker.stage() >= WorkerStage::Joined,
                cost,
                Reverse(worker.planned),
                Reverse(worker.name.as_str()),
            )
        });
        let surplus = own.len() - wanted;
        let remove = own.iter().take(surplus).map(|worker| worker.name.clone()).collect();
        return Ok(Scaling { remove, ..Scaling::default() });
    }
    let is_free = |host: &&PlacedHost| !workers.iter().any(|worker| worker.name == host.name);
    let missing = wanted - own.len();
    let add: Vec<PlacedHost> = hosts.iter().filter(is_free).take(missing).cloned().collect();
    match add.len() == missing {
        true => Ok(Scaling { add, ..Scaling::default() }),
        false => Err(TooFewHosts { wanted, possible: own.len() + add.len() }),
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    fn host(name: &str) -> PlacedHost {
        PlacedHost { name: name.to_owned(), addresses: Vec::new(), zone: None, region: None }
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn worker(name: &str, pool: &str, planned: i64, joined: bool) -> Worker {
        let mut worker = Worker::planned(name, pool, &[], at(planned));
        worker.history.joined = joined.then(|| at(planned));
        worker
    }

    #[test]
    fn hosts_come_in_order_and_the_newest_go_first() {
        let hosts = ["a", "b", "c", "d", "e"].map(host);
        let workers = [
            worker("a", "x", 1, true),
            worker("b", "y", 2, true),
            worker("c", "x", 3, true),
            worker("d", "x", 2, false),
        ];
        let scaled = |wanted| scaling(&workers, "x", &hosts, wanted, &BTreeMap::new());
        assert_eq!(scaled(4).unwrap().add, [host("e")]);
        assert_eq!(scaled(5), Err(TooFewHosts { wanted: 5, possible: 4 }));
        assert_eq!(scaled(3).unwrap(), Scaling::default());
        assert_eq!(scaled(1).unwrap().remove, ["d", "c"], "one that never came up, then the newest");
        assert_eq!(scaled(0).unwrap().remove.len(), 3);
    }

    #[test]
    fn the_worker_that_costs_least_goes_first() {
        let workers: Vec<Worker> = (0..5).map(|n| worker(&format!("w-{n}"), "x", n, true)).collect();
        let cost = |is_ready, is_schedulable, pods| RemovalCost { is_ready, is_schedulable, pods };
        let costs = [
            cost(true, true, 1),
            cost(true, false, 30),
            cost(false, true, 9),
            cost(true, true, 8),
            cost(true, true, 1),
        ];
        let costs = (0..).map(|n| format!("w-{n}")).zip(costs).collect();
        let order = scaling(&workers, "x", &[], 0, &costs).unwrap().remove;
        assert_eq!(order, ["w-2", "w-1", "w-4", "w-0", "w-3"], "not ready, cordoned, fewest pods, newest");
    }
}
