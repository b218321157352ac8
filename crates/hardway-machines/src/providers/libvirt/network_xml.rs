//! The libvirt network as XML: NAT, DHCP, names, virtual addresses.
//!
//! Elements are those of libvirt/libvirt docs/formatnetwork.rst.

use std::fmt::Write as _;
use std::net::IpAddr;

use hardway_assets::Cluster;
use hardway_assets::host_services::Names;
use hardway_assets::inventory::Host;

use super::settings::Settings;
use super::xml::{Mark, escaped};

/// The definition, and the mark in it.
pub(super) fn network_xml(
    cluster: &Cluster,
    settings: &Settings,
    uuid: &str,
    mac: impl Fn(&Host) -> String,
) -> (String, Mark) {
    let names = Names::of(cluster);
    let has_ipv6 = cluster.inventory.network.gateway.iter().any(IpAddr::is_ipv6);
    let nat = if has_ipv6 {
        "  <forward mode='nat'>\n    <nat ipv6='yes'/>\n  </forward>\n"
    } else {
        "  <forward mode='nat'/>\n"
    };
    let mut body = nat.to_owned();
    let _ = writeln!(body, "  <bridge name='{}' stp='off' delay='0'/>", escaped(&settings.bridge));
    // A name below the domain that is not listed does not exist; nobody else is asked.
    let _ = writeln!(body, "  <domain name='{}' localOnly='yes'/>", escaped(&names.domain));
    body.push_str(&dns(&names, settings));
    body.push_str(&addresses(cluster, mac));
    body.push_str(&wildcard(&names));
    let head = format!(
        "<network xmlns:dnsmasq='http://libvirt.org/schemas/network/dnsmasq/1.0'>\n  <name>{}</name>\n  <uuid>{uuid}</uuid>\n",
        escaped(&settings.network)
    );
    let mark = Mark::of(&format!("{head}{body}"));
    (format!("{head}{}{body}</network>\n", mark.metadata()), mark)
}

/// One element for each address. The first name of an address answers for it, and libvirt takes no second element with
/// the same address, so names are gathered by address: hosts before api, api before api-int.
fn dns(names: &Names, settings: &Settings) -> String {
    let mut by_address: Vec<(IpAddr, Vec<&str>)> = Vec::new();
    for name in &names.names {
        for address in &name.addresses {
            match by_address.iter_mut().find(|(found, _)| found == address) {
                Some((_, found)) => found.push(&name.name),
                None => by_address.push((*address, vec![&name.name])),
            }
        }
    }
    let mut text = "  <dns>\n".to_owned();
    for address in &settings.upstream_dns {
        let _ = writeln!(text, "    <forwarder addr='{address}'/>");
    }
    for (address, names) in by_address {
        let _ = writeln!(text, "    <host ip='{address}'>");
        for name in names {
            let _ = writeln!(text, "      <hostname>{}</hostname>", escaped(name));
        }
        text.push_str("    </host>\n");
    }
    text + "  </dns>\n"
}

/// The gateway of each family, and every virtual address beside it: libvirt puts them on the bridge whenever it starts
/// the network, so they outlive a restart of the host.
fn addresses(cluster: &Cluster, mac: impl Fn(&Host) -> String) -> String {
    let network = &cluster.inventory.network;
    let mut text = String::new();
    for gateway in &network.gateway {
        let prefix = cluster.machine_network_of(*gateway).map_or(0, |net| net.prefix_len());
        let family = if gateway.is_ipv6() { "ipv6" } else { "ipv4" };
        let _ =
            writeln!(text, "  <ip family='{family}' address='{gateway}' prefix='{prefix}' localPtr='yes'>");
        if gateway.is_ipv4() {
            text.push_str(&dhcp(cluster, &mac));
        }
        text.push_str("  </ip>\n");
    }
    let mut known = network.gateway.clone();
    for vip in network.api_vip.iter().chain(&network.ingress_vip) {
        let is_host = cluster.inventory.hosts.iter().any(|host| host.ip.contains(vip));
        if network.load_balancer != "haproxy" || is_host || known.contains(vip) {
            continue;
        }
        known.push(*vip);
        let (family, prefix) = if vip.is_ipv6() { ("ipv6", 128) } else { ("ipv4", 32) };
        let _ = writeln!(text, "  <ip family='{family}' address='{vip}' prefix='{prefix}'/>");
    }
    text
}

/// For the live system that installs: a machine that is not listed gets no address. Installed systems have theirs from
/// their own config. DHCPv6 knows clients by something that only a booted system can tell: there is none.
fn dhcp(cluster: &Cluster, mac: impl Fn(&Host) -> String) -> String {
    let mut text = "    <dhcp>\n".to_owned();
    for host in &cluster.inventory.hosts {
        for ip in host.ip.iter().filter(|ip| ip.is_ipv4()) {
            let name = escaped(&cluster.node_name(host));
            let _ = writeln!(text, "      <host mac='{}' name='{name}' ip='{ip}'/>", mac(host));
        }
    }
    text + "    </dhcp>\n"
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
