//! The file as typed data, after defaults.

use std::net::IpAddr;

use ipnet::IpNet;
use serde::Serialize;

use crate::inventory::{Host, Machines};

/// A complete, defaulted inventory of hosted workers.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HostedInventory {
    /// What machines and their network begin with.
    pub name: String,
    /// `amd64` or `arm64`.
    pub architecture: String,
    /// Who makes the machines, with that provider's own settings.
    pub machines: Machines,
    /// Addresses around the workers.
    pub network: HostedNetwork,
    /// Where all of them are, for the nodes' labels.
    pub region: Option<String>,
    /// What machines there can be, pool by pool.
    pub pools: Vec<HostedPool>,
}

/// `network`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HostedNetwork {
    /// The networks that the workers' addresses are in.
    pub machine_network: Vec<IpNet>,
    /// Default route of the workers, one per family.
    pub gateway: Vec<IpAddr>,
    /// Name servers of the workers.
    pub dns: Vec<IpAddr>,
}

/// `pools[]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HostedPool {
    /// Of the HostedCluster.
    pub namespace: String,
    /// The HostedCluster.
    pub cluster: String,
    /// The NodePool.
    pub node_pool: String,
    /// All that can become workers of it, in the order they are taken in.
    pub hosts: Vec<HostedHost>,
}

/// A host that can become a worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HostedHost {
    /// The machine.
    #[serde(flatten)]
    pub host: Host,
    /// Where it is put.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// Where it stands in the file: `pools[0]`, or `pools[0].hosts[2]`.
    #[serde(skip)]
    pub path: String,
}

impl HostedInventory {
    /// The pool of that name in the file.
    pub fn pool(&self, namespace: &str, cluster: &str, node_pool: &str) -> Option<&HostedPool> {
        let is_it = |pool: &&HostedPool| {
            (pool.namespace.as_str(), pool.cluster.as_str(), pool.node_pool.as_str())
                == (namespace, cluster, node_pool)
        };
        self.pools.iter().find(is_it)
    }

    /// Every host of every pool, in the order of the file.
    pub fn hosts(&self) -> impl Iterator<Item = &HostedHost> {
        self.pools.iter().flat_map(|pool| &pool.hosts)
    }
}
