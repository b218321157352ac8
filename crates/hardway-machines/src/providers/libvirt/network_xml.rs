//! The libvirt network as XML: NAT, DHCP, names, virtual addresses.
//!
//! Elements are those of libvirt/libvirt docs/formatnetwork.rst.

use std::fmt::Write as _;
use std::net::IpAddr;

use hardway_assets::Cluster;
use hardway_assets::host_services::Names;
use hardway_assets::inventory::Balancer;

use super::settings::Settings;
use super::xml::{Mark, escaped};

/// The definition without its machines, and the mark in it.
pub(super) fn network_xml(cluster: &Cluster, settings: &Settings, uuid: &str) -> (String, Mark) {
    let names = Names::of(cluster);
    let has_ipv6 = cluster.inventory.network.gateway.iter().any(IpAddr::is_ipv6);
    let nat = if has_ipv6 {
        "<forward mode='nat'>\n    <nat ipv6='yes'/>\n  </forward>"
    } else {
        "<forward mode='nat'/>"
    };
    let mut body = format!("  {nat}\n");
    let _ = writeln!(body, "  <bridge name='{}' stp='off' delay='0'/>", escaped(&settings.bridge));
    // A name below the domain that is not listed does not exist; nobody else is asked.
    let _ = writeln!(body, "  <domain name='{}' localOnly='yes'/>", escaped(&names.domain));
    body.push_str("  <dns>\n");
    for address in &settings.upstream_dns {
        let _ = writeln!(body, "    <forwarder addr='{address}'/>");
    }
    for address in cluster.inventory.network.api_vip.iter().filter(|vip| !is_of_host(cluster, **vip)) {
        body.push_str(&dns_host(&names, *address));
    }
    body.push_str("  </dns>\n");
    body.push_str(&addresses(cluster));
    // The routes of a hosted cluster are its own business.
    if !cluster.inventory.is_hosted() {
        body.push_str(&wildcard(&names));
    }
    let head = format!(
        "<network xmlns:dnsmasq='http://libvirt.org/schemas/network/dnsmasq/1.0'>\n  <name>{}</name>\n  <uuid>{uuid}</uuid>\n",
        escaped(&settings.network)
    );
    let mark = Mark::of(&format!("{head}{body}"));
    (format!("{head}{}{body}</network>\n", mark.metadata()), mark)
}

/// All names of an address, in one element: libvirt takes no second one. The first name answers for the address: hosts
/// come before api, api before api-int.
pub(super) fn dns_host(names: &Names, address: IpAddr) -> String {
    let of_address = names.names.iter().filter(|name| name.addresses.contains(&address));
    let names: String =
        of_address.map(|name| format!("      <hostname>{}</hostname>\n", escaped(&name.name))).collect();
    format!("    <host ip='{address}'>\n{names}    </host>\n")
}

/// For the live system that installs: a machine that is not listed gets no address. Installed systems have theirs from
/// their own config.
pub(super) fn dhcp_host(name: &str, mac: &str, address: IpAddr) -> String {
    format!("<host mac='{mac}' name='{}' ip='{address}'/>", escaped(name))
}

fn is_of_host(cluster: &Cluster, address: IpAddr) -> bool {
    cluster.inventory.hosts.iter().any(|host| host.ip.contains(&address))
}

/// The gateway of each family, and every virtual address beside it: libvirt puts them on the bridge whenever it starts
/// the network, so they outlive a restart of the host.
fn addresses(cluster: &Cluster) -> String {
    let network = &cluster.inventory.network;
    let mut text = String::new();
    for gateway in &network.gateway {
        let prefix = cluster.machine_network_of(*gateway).map_or(0, |net| net.prefix_len());
        let family = if gateway.is_ipv6() { "ipv6" } else { "ipv4" };
        let _ =
            writeln!(text, "  <ip family='{family}' address='{gateway}' prefix='{prefix}' localPtr='yes'/>");
    }
    let mut known = network.gateway.clone();
    for vip in network.api_vip.iter().chain(&network.ingress_vip) {
        if network.load_balancer != Balancer::Haproxy || is_of_host(cluster, *vip) || known.contains(vip) {
            continue;
        }
        known.push(*vip);
        let (family, prefix) = if vip.is_ipv6() { ("ipv6", 128) } else { ("ipv4", 32) };
        let _ = writeln!(text, "  <ip family='{family}' address='{vip}' prefix='{prefix}'/>");
    }
    text
}

/// Every route. Without the `local` line dnsmasq says of the family that has no address that the name does not exist,
/// and resolvers that ask for both families believe it.
fn wildcard(names: &Names) -> String {
    let name = escaped(&names.wildcard.name);
    let mut text = format!("  <dnsmasq:options>\n    <dnsmasq:option value='local=/{name}/'/>\n");
    for address in &names.wildcard.addresses {
        let _ = writeln!(text, "    <dnsmasq:option value='address=/{name}/{address}'/>");
    }
    text + "  </dnsmasq:options>\n"
}
