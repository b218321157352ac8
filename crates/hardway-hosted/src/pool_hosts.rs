//! Which hosts can become workers of which pool.

use std::collections::BTreeMap;
use std::net::IpAddr;

use hardway_assets::hosted_inventory::HostedInventory;
use hardway_assets::inventory::Host;

/// A host that can become a worker, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedHost {
    /// The machine's name, and the worker's.
    pub name: String,
    /// All it may ask from and serve at.
    pub addresses: Vec<IpAddr>,
    /// For the node's label.
    pub zone: Option<String>,
    /// For the node's label.
    pub region: Option<String>,
}

/// The hosts of an inventory, as one hosted cluster may use them.
#[derive(Clone, Debug)]
pub enum PoolHosts {
    /// Any host can become a worker of any pool: an inventory that is not only for hosted clusters. Who is asked for by hand.
    AnyPool(Vec<PlacedHost>),
    /// Each pool has its own, and has as many as its NodePool says.
    ByPool(BTreeMap<String, Vec<PlacedHost>>),
}

impl PoolHosts {
    /// Of `inventory.yaml`.
    pub fn of_any_pool(hosts: &[Host]) -> Self {
        Self::AnyPool(hosts.iter().map(|host| placed(host, None, None)).collect())
    }

    /// Of `hosted-inventory.yaml`: those of this hosted cluster.
    pub fn of_cluster(inventory: &HostedInventory, namespace: &str, cluster: &str) -> Self {
        let own =
            inventory.pools.iter().filter(|pool| (&*pool.namespace, &*pool.cluster) == (namespace, cluster));
        let pools = own.map(|pool| {
            let hosts =
                pool.hosts.iter().map(|one| placed(&one.host, one.zone.clone(), inventory.region.clone()));
            (pool.node_pool.clone(), hosts.collect())
        });
        Self::ByPool(pools.collect())
    }

    /// Those of a pool; nothing where the inventory does not know it.
    pub fn of(&self, pool: &str) -> Option<&[PlacedHost]> {
        match self {
            Self::AnyPool(hosts) => Some(hosts),
            Self::ByPool(pools) => pools.get(pool).map(Vec::as_slice),
        }
    }
}

fn placed(host: &Host, zone: Option<String>, region: Option<String>) -> PlacedHost {
    PlacedHost { name: host.name.clone(), addresses: host.ip.clone(), zone, region }
}
