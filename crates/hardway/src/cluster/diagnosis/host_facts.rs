//! What of this host can be wrong, where it carries the machines itself.

use std::net::{IpAddr, UdpSocket};
use std::path::Path;

use fs_err as fs;
use hardway_assets::Cluster;
use hardway_assets::inventory::Provider;
use hardway_cluster::diagnosis::HostFacts;
use hardway_machines::providers::libvirt::machine_mac;

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
        loose_interfaces: loose_interfaces(
            Path::new("/sys/class/net"),
            &cluster.inventory.hosts.iter().map(|host| machine_mac(cluster, host)).collect::<Vec<_>>(),
        ),
    }
}

/// Only an address of an interface can be bound.
fn is_own(address: IpAddr) -> bool {
    match UdpSocket::bind((address, 0)) {
        Ok(_) => true,
        Err(error) => error.kind() != std::io::ErrorKind::AddrNotAvailable,
    }
}

/// libvirt calls those of machines vnet0, vnet1 and so on; one on a bridge names it as its master. Machines of others are none
/// of our business.
fn loose_interfaces(folder: &Path, macs: &[String]) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let is_loose = |name: &String| {
        is_a_machines(name)
            && !folder.join(name).join("master").exists()
            && fs::read_to_string(folder.join(name).join("address")).is_ok_and(|text| is_one_of(&text, macs))
    };
    let mut loose: Vec<String> = names.filter(is_loose).collect();
    loose.sort_unstable();
    loose
}

/// On the host's side the card has the machine's address but for the first two digits (libvirt src/util/virnetdevtap.c).
fn is_one_of(address: &str, macs: &[String]) -> bool {
    let after_first = |mac: &str| mac.trim().get(3..).map(str::to_lowercase);
    macs.iter().any(|mac| after_first(mac).is_some() && after_first(mac) == after_first(address))
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
        for (name, address) in [
            ("vnet0", "fe:54:00:00:00:01"),
            ("vnet1", "fe:54:00:00:00:02"),
            ("vnet2", "fe:54:00:00:00:99"),
            ("eth0", "52:54:00:00:00:02"),
            ("vnetwork", "fe:54:00:00:00:02"),
        ] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
            fs::write(folder.path().join(name).join("address"), format!("{address}\n")).unwrap();
        }
        fs::create_dir(folder.path().join("vnet0/master")).unwrap();
        let macs = ["52:54:00:00:00:01", "52:54:00:00:00:02"].map(str::to_owned);
        assert_eq!(loose_interfaces(folder.path(), &macs), ["vnet1"], "vnet2 is somebody else's");
    }
}
