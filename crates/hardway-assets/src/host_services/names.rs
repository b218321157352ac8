//! Which names have which addresses, and the other way round.
//!
//! The rows are those of OpenShift's documentation (openshift/openshift-docs modules/installation-dns-user-infra.adoc).

use std::net::IpAddr;

use serde::Serialize;

use crate::Cluster;
use crate::inventory::Host;

/// Every name a cluster needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Names {
    /// All names are below it.
    pub domain: String,
    /// Fully qualified, without the last dot.
    pub names: Vec<Name>,
    /// Whatever is below this name has these addresses: the routes.
    pub wildcard: Name,
}

/// A name and its addresses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Name {
    /// Fully qualified, without the last dot.
    pub name: String,
    /// One for each family.
    pub addresses: Vec<IpAddr>,
    /// Whether its addresses have this name. A host without a name of its own asks for it when it boots, and its
    /// certificate request says what it heard: one name for an address, or nodes call themselves `api`.
    pub is_reverse: bool,
}

impl Names {
    /// Of a cluster.
    pub fn of(cluster: &Cluster) -> Self {
        Self::with(cluster, &cluster.inventory.hosts)
    }

    /// Of a cluster that has no other host: every name that the addresses of this one have.
    pub fn of_host(cluster: &Cluster, host: &Host) -> Self {
        Self::with(cluster, std::slice::from_ref(host))
    }

    fn with(cluster: &Cluster, hosts: &[Host]) -> Self {
        let (domain, network) = (cluster.domain(), &cluster.inventory.network);
        let mut names: Vec<Name> = Vec::new();
        for host in hosts {
            names.push(Name { name: cluster.node_name(host), addresses: host.ip.clone(), is_reverse: true });
        }
        let is_host = |ip: &IpAddr| hosts.iter().any(|host| host.ip.contains(ip));
        for (name, is_first) in [(cluster.api_host(), true), (cluster.api_int_host(), false)] {
            let is_reverse = is_first && !network.api_vip.iter().any(is_host);
            names.push(Name { name, addresses: network.api_vip.clone(), is_reverse });
        }
        let wildcard = Name {
            name: format!("apps.{domain}"),
            addresses: network.ingress_vip.clone(),
            is_reverse: false,
        };
        Self { domain, names, wildcard }
    }
}
