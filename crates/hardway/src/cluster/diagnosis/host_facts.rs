//! What of this host can be wrong, where it carries the machines itself.

use std::net::{IpAddr, UdpSocket};

use hardway_assets::Cluster;
use hardway_assets::inventory::Balancer;
use hardway_cluster::diagnosis::HostFacts;
use hardway_machines::providers::descriptor;

/// Nothing where machines are elsewhere.
pub(super) fn host_facts(cluster: &Cluster) -> HostFacts {
    let descriptor = descriptor(cluster.inventory.machines.provider);
    let Some(loose_interfaces) = (descriptor.loose_interfaces)(cluster) else { return HostFacts::default() };
    let network = &cluster.inventory.network;
    let addresses = network.api_vip.iter().chain(&network.ingress_vip).copied();
    let is_ours = network.load_balancer == Balancer::Haproxy;
    HostFacts {
        lost_addresses: addresses.filter(|address| is_ours && !is_own(*address)).collect(),
        loose_interfaces,
    }
}

/// Only an address of an interface can be bound.
fn is_own(address: IpAddr) -> bool {
    match UdpSocket::bind((address, 0)) {
        Ok(_) => true,
        Err(error) => error.kind() != std::io::ErrorKind::AddrNotAvailable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_own_when_it_can_be_bound() {
        assert!(is_own("127.0.0.1".parse().unwrap()));
        // For documentation: nobody has it (RFC 5737).
        assert!(!is_own("192.0.2.77".parse().unwrap()));
    }
}
