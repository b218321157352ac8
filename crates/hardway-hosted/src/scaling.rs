//! Which hosts become workers, and which workers go, when another number is wanted: a pure choice.

use hardway_assets::inventory::Host;

use crate::worker::{Stage, Wanted, Worker};

/// What changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scaling {
    /// Hosts that become workers, in the order of the inventory.
    pub add: Vec<String>,
    /// Workers that go: those that never came up first, then the newest.
    pub remove: Vec<String>,
}

/// There are not enough hosts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{wanted} workers are wanted, and the inventory has hosts for {possible}")]
pub struct TooFewHosts {
    /// So many.
    pub wanted: usize,
    /// Hosts with role worker that no other pool has.
    pub possible: usize,
}

/// What has to change for a pool to have this many workers.
///
/// # Errors
/// When the inventory has too few hosts.
pub fn scaling(
    workers: &[Worker],
    node_pool: &str,
    hosts: &[Host],
    wanted: usize,
) -> Result<Scaling, TooFewHosts> {
    let is_here = |worker: &&Worker| worker.node_pool == node_pool && worker.wanted != Wanted::Absent;
    let mut own: Vec<&Worker> = workers.iter().filter(is_here).collect();
    if own.len() >= wanted {
        own.sort_by_key(|worker| (worker.stage() < Stage::Joined, worker.planned, worker.name.as_str()));
        let surplus = own.len() - wanted;
        let remove = own.iter().rev().take(surplus).map(|worker| worker.name.clone()).collect();
        return Ok(Scaling { remove, ..Scaling::default() });
    }
    let is_free = |host: &&Host| !workers.iter().any(|worker| worker.name == host.name);
    let missing = wanted - own.len();
    let add: Vec<String> = hosts.iter().filter(is_free).take(missing).map(|host| host.name.clone()).collect();
    match add.len() == missing {
        true => Ok(Scaling { add, ..Scaling::default() }),
        false => Err(TooFewHosts { wanted, possible: own.len() + add.len() }),
    }
}

#[cfg(test)]
mod tests {
    use hardway_assets::inventory::Role;
    use jiff::Timestamp;

    use super::*;

    fn host(name: &str) -> Host {
        Host {
            name: name.to_owned(),
            role: Role::Worker,
            ip: Vec::new(),
            mac: None,
            interface: None,
            install_disk: None,
            stock_pointer: false,
            cpus: None,
            memory_gib: None,
            disk_gib: None,
        }
    }

    #[test]
    fn hosts_come_in_order_and_the_newest_go_first() {
        let at = |second: i64| Timestamp::from_second(second).unwrap();
        let worker = |name: &str, pool: &str, planned: i64, joined: bool| {
            let mut worker = Worker::planned(name, pool, &[], at(planned));
            worker.history.joined = joined.then(|| at(planned));
            worker
        };
        let hosts = ["a", "b", "c", "d", "e"].map(host);
        let workers = [
            worker("a", "x", 1, true),
            worker("b", "y", 2, true),
            worker("c", "x", 3, true),
            worker("d", "x", 2, false),
        ];
        let scaled = |wanted| scaling(&workers, "x", &hosts, wanted);
        assert_eq!(scaled(4).unwrap().add, ["e"]);
        assert_eq!(scaled(5), Err(TooFewHosts { wanted: 5, possible: 4 }));
        assert_eq!(scaled(3).unwrap(), Scaling::default());
        assert_eq!(scaled(1).unwrap().remove, ["d", "c"], "one that never came up, then the newest");
        assert_eq!(scaled(0).unwrap().remove.len(), 3);
    }
}
