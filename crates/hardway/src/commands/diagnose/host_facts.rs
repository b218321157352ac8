//! What of this host can be wrong, where it carries the machines itself.

use std::net::{IpAddr, UdpSocket};
use std::path::Path;

use fs_err as fs;
use hardway_assets::Cluster;
use hardway_assets::inventory::Provider;
use hardway_cluster::diagnosis::HostFacts;

/// Nothing where machines are elsewhere.
pub(super) fn host_facts(cluster: &Cluster) -> HostFacts {
    let machines = &cluster.inventory.machines;
    let uri = machines.settings["uri"].as_str().unwrap_or("qemu:///system");
    if machines.provider != Provider::Libvirt || !uri.starts_with("qemu:///") {
        return HostFacts::default();
    }
    let network = &cluster.inventory.network;
    let addresses = network.api_vip.iter().chain(&network.ingress_vip).copied();
    let is_ours = network.load_balancer == "haproxy";
    HostFacts {
        lost_addresses: addresses.filter(|address| is_ours && !is_own(*address)).collect(),
        loose_interfaces: loose_interfaces(Path::new("/sys/class/net")),
    }
}

/// Only an address of an interface can be bound.
fn is_own(address: IpAddr) -> bool {
    match UdpSocket::bind((address, 0)) {
        Ok(_) => true,
        Err(error) => error.kind() != std::io::ErrorKind::AddrNotAvailable,
    }
}

/// libvirt calls those of machines vnet0, vnet1 and so on; one on a bridge names it as its master.
fn loose_interfaces(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let mut loose: Vec<String> =
        names.filter(|name| is_a_machines(name) && !folder.join(name).join("master").exists()).collect();
    loose.sort_unstable();
    loose
}

fn is_a_machines(name: &str) -> bool {
    name.strip_prefix("vnet").is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
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

    #[test]
    fn an_interface_of_a_machine_without_a_bridge_is_loose() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["vnet0/master", "vnet1", "eth0", "vnetwork"] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        assert_eq!(loose_interfaces(folder.path()), ["vnet1"]);
    }
}
