//! A host's own network settings: the part of its config that no MachineConfig may hold.

use std::fmt::Write as _;
use std::net::IpAddr;

use crate::Cluster;
use crate::inventory::Host;

/// Name and text of a host's keyfile, for what boots before its config is there.
pub fn host_keyfile(cluster: &Cluster, host: &Host) -> (String, String) {
    (format!("{}.nmconnection", connection_name(host)), keyfile(cluster, host))
}

/// Where the keyfile of a host lies.
pub(super) fn keyfile_path(host: &Host) -> String {
    format!("/etc/NetworkManager/system-connections/{}.nmconnection", connection_name(host))
}

/// A NetworkManager keyfile with fixed addresses. The card is found by its MAC, or by its name where that is given.
pub(super) fn keyfile(cluster: &Cluster, host: &Host) -> String {
    let mut text =
        format!("[connection]\nid={}\ntype=ethernet\nautoconnect-priority=10\n", connection_name(host));
    if let Some(interface) = &host.interface {
        let _ = writeln!(text, "interface-name={interface}");
    }
    if let Some(mac) = &host.mac {
        let _ = write!(text, "\n[ethernet]\nmac-address={mac}\n");
    }
    for (section, is_family) in [("ipv4", IpAddr::is_ipv4 as fn(&IpAddr) -> bool), ("ipv6", IpAddr::is_ipv6)]
    {
        text += &family(cluster, host, section, is_family);
    }
    text
}

/// What NetworkManager must leave alone so that the pod network works: OVN's and CNI's own interfaces.
pub(super) const UNMANAGED_PATH: &str = "/etc/NetworkManager/conf.d/90-hardway-unmanaged.conf";

/// The content for [`UNMANAGED_PATH`].
pub(super) const UNMANAGED: &str = "\
# Written by hardway: interfaces of the pod network belong to OVN-Kubernetes and CNI, not to NetworkManager.
[keyfile]
unmanaged-devices=interface-name:br-int;interface-name:br-local;interface-name:br-nexthop;interface-name:genev_sys_*;interface-name:ovn-k8s-*;interface-name:tun*;interface-name:veth*;interface-name:vxlan_sys_*
";

fn connection_name(host: &Host) -> &str {
    host.interface.as_deref().unwrap_or("hardway")
}

fn family(cluster: &Cluster, host: &Host, section: &str, is_family: fn(&IpAddr) -> bool) -> String {
    let mut text = format!("\n[{section}]\n");
    let addresses: Vec<&IpAddr> = host.ip.iter().filter(|ip| is_family(ip)).collect();
    if addresses.is_empty() {
        return text + "method=disabled\n";
    }
    text += "method=manual\n";
    for (i, ip) in addresses.iter().enumerate() {
        let host_bits = if ip.is_ipv4() { 32 } else { 128 };
        let network = cluster.machine_network_of(**ip);
        let prefix = network.map_or(host_bits, |net| net.prefix_len());
        // A gateway of another network could not be reached.
        let reachable = |gateway: &&IpAddr| network.is_some_and(|net| net.contains(*gateway));
        let gateway = cluster.inventory.network.gateway.iter().find(reachable);
        let gateway = gateway.map(|gateway| format!(",{gateway}")).unwrap_or_default();
        let _ = writeln!(text, "address{}={ip}/{prefix}{gateway}", i + 1);
    }
    let servers: Vec<String> =
        cluster.inventory.network.dns.iter().filter(|ip| is_family(ip)).map(ToString::to_string).collect();
    if !servers.is_empty() {
        let _ = writeln!(text, "dns={};", servers.join(";"));
    }
    let _ = writeln!(text, "dns-search={};", cluster.domain());
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    #[test]
    fn one_family() {
        let cluster = example::cluster();
        let text = keyfile(&cluster, &cluster.inventory.hosts[1]);
        assert_eq!(
            text,
            "[connection]\nid=hardway\ntype=ethernet\nautoconnect-priority=10\n\n\
             [ethernet]\nmac-address=52:54:00:7e:00:65\n\n\
             [ipv4]\nmethod=manual\naddress1=192.168.126.101/24,192.168.126.1\ndns=192.168.126.1;\ndns-search=ocp4.example.com;\n\n\
             [ipv6]\nmethod=disabled\n"
        );
    }

    #[test]
    fn both_families_and_a_named_card() {
        let mut cluster = example::cluster();
        cluster
            .config
            .networking
            .machine_network
            .push(crate::install_config::MachineNetwork { cidr: "fd00:126::/64".parse().unwrap() });
        let host = &mut cluster.inventory.hosts[1];
        host.ip.push("fd00:126::101".parse().unwrap());
        host.interface = Some("ens3".to_owned());
        host.mac = None;
        let text = keyfile(&cluster, &cluster.inventory.hosts[1]);
        assert!(text.contains("interface-name=ens3\n"));
        assert!(!text.contains("[ethernet]"));
        assert!(text.contains("[ipv6]\nmethod=manual\naddress1=fd00:126::101/64\ndns-search="));
        assert_eq!(
            keyfile_path(&cluster.inventory.hosts[1]),
            "/etc/NetworkManager/system-connections/ens3.nmconnection"
        );
    }
}
