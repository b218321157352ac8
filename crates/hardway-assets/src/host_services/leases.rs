//! Fixed addresses: which network card gets which, and what it is told beside it.

use std::net::IpAddr;

use ipnet::IpNet;

use crate::Cluster;

/// What DHCP gives to the hosts of a cluster. Nobody else gets anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leases {
    /// Of the cluster.
    pub domain: String,
    /// Whom hosts ask about names.
    pub dns: Vec<IpAddr>,
    /// The networks that hold a host with a known card.
    pub subnets: Vec<LeaseSubnet>,
}

/// One network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseSubnet {
    /// The network.
    pub net: IpNet,
    /// Its default route.
    pub gateway: Option<IpAddr>,
    /// Its hosts.
    pub leases: Vec<Lease>,
}

/// One host in one network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The card, such as `52:54:00:7e:00:65`.
    pub mac: String,
    /// What it gets.
    pub address: IpAddr,
    /// The node's name.
    pub name: String,
}

impl Leases {
    /// Of a cluster. A host without `mac` has none: DHCP knows a host by nothing else.
    pub fn of(cluster: &Cluster) -> Self {
        let network = &cluster.inventory.network;
        let mut subnets: Vec<LeaseSubnet> = Vec::new();
        for host in &cluster.inventory.hosts {
            let Some(mac) = &host.mac else { continue };
            for address in &host.ip {
                let Some(net) = cluster.machine_network_of(*address) else { continue };
                let lease =
                    Lease { mac: mac.to_lowercase(), address: *address, name: cluster.node_name(host) };
                match subnets.iter_mut().find(|subnet| subnet.net == net) {
                    Some(subnet) => subnet.leases.push(lease),
                    None => {
                        let gateway = network.gateway.iter().copied().find(|gateway| net.contains(gateway));
                        subnets.push(LeaseSubnet { net, gateway, leases: vec![lease] });
                    }
                }
            }
        }
        Self { domain: cluster.domain(), dns: network.dns.clone(), subnets }
    }

    /// Name servers of a family.
    pub(super) fn dns_of(&self, is_ipv6: bool) -> impl Iterator<Item = &IpAddr> {
        self.dns.iter().filter(move |address| address.is_ipv6() == is_ipv6)
    }
}
