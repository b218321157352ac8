//! Addresses of hosts, gateway and name servers, alone and within the machine networks.

use std::net::IpAddr;

use ipnet::IpNet;

use super::super::draft::{Address, Draft};
use crate::install_config::InstallConfig;
use crate::schema::Findings;
use crate::violation::Violation;

pub(super) fn check(draft: &Draft<'_>, config: Option<&InstallConfig>, findings: &mut Findings<'_>) {
    one_a_family("network.gateway", &draft.gateway, findings);
    for host in &draft.hosts {
        one_a_family(&format!("{}.ip", host.path), &host.ip, findings);
    }
    let hosts = || draft.hosts.iter().flat_map(|host| &host.ip);
    for address in hosts().chain(&draft.gateway).chain(&draft.dns) {
        ordinary(address, findings);
    }
    for address in hosts().filter(|address| draft.gateway.iter().any(|gateway| gateway.ip == address.ip)) {
        findings.error(invalid(address, "is the gateway's address"));
    }
    for (path, list) in [("network.gateway", &draft.gateway), ("network.dns", &draft.dns)] {
        no_empty_list(draft, path, list, findings);
    }
    for host in &draft.hosts {
        no_empty_list(draft, &format!("{}.ip", host.path), &host.ip, findings);
    }
    let Some(config) = config else { return };
    let networks = machine_networks(config);
    for address in hosts() {
        inside(address, &networks, findings);
    }
    for gateway in &draft.gateway {
        // A link-local router is the usual one for IPv6.
        if !is_link_local(gateway.ip) {
            inside(gateway, &networks, findings);
        }
    }
    for host in draft.hosts.iter().filter(|host| !host.ip.is_empty()) {
        families(&format!("{}.ip", host.path), &host.ip, &networks, findings);
    }
}

/// The machine networks of the install-config.
pub(super) fn machine_networks(config: &InstallConfig) -> Vec<IpNet> {
    config.networking.machine_network.iter().map(|network| network.cidr).collect()
}

/// In a machine network, and neither its first address nor its broadcast.
pub(super) fn inside(address: &Address, networks: &[IpNet], findings: &mut Findings<'_>) {
    let Some(network) = networks.iter().find(|network| network.contains(&address.ip)) else {
        let list = networks.iter().map(IpNet::to_string).collect::<Vec<_>>().join(",");
        let detail = format!("IP expected to be in one of the machine networks: {list}");
        return findings.error(invalid(address, &detail));
    };
    // Networks of one or two addresses have none to spare for these (RFC 3021).
    if network.prefix_len() + 1 >= network.max_prefix_len() {
        return;
    }
    if address.ip == network.network() {
        findings.error(invalid(address, &format!("is the address of the network {network} itself")));
    } else if address.ip == network.broadcast() && address.ip.is_ipv4() {
        findings.error(invalid(address, &format!("is the broadcast address of {network}")));
    }
}

/// At most one address of each family.
pub(super) fn one_a_family(path: &str, list: &[Address], findings: &mut Findings<'_>) {
    for family in [IpAddr::is_ipv4, IpAddr::is_ipv6] {
        if let Some(second) = list.iter().filter(|address| family(&address.ip)).nth(1) {
            findings.error_at(
                &second.path,
                Violation::invalid(
                    path,
                    second.ip.to_string(),
                    "only one address of each family can be given",
                ),
            );
        }
    }
}

/// An address some machine can have: not unspecified, loopback or multicast.
pub(super) fn ordinary(address: &Address, findings: &mut Findings<'_>) {
    let ip = address.ip;
    let broadcast = matches!(ip, IpAddr::V4(ip) if ip.is_broadcast());
    if ip.is_unspecified() || ip.is_loopback() || ip.is_multicast() || broadcast {
        findings.error(invalid(address, "is not an address a machine can have"));
    }
}

/// `[]` is as good as nothing, and nothing is not allowed.
pub(super) fn no_empty_list(draft: &Draft<'_>, path: &str, list: &[Address], findings: &mut Findings<'_>) {
    if list.is_empty() && is_empty_list(draft, path) {
        findings.error(Violation::required(path, "at least one address is required"));
    }
}

pub(super) fn invalid(address: &Address, detail: &str) -> Violation {
    Violation::invalid(&address.path, address.ip.to_string(), detail)
}

fn is_empty_list(draft: &Draft<'_>, path: &str) -> bool {
    let mut node = Some(draft.node);
    for step in path.split(['.', '[']) {
        node = node.and_then(|node| match (step.strip_suffix(']'), &node.value) {
            (Some(index), crate::yaml::Value::List(items)) => items.get(index.parse::<usize>().ok()?),
            _ => node.get(step),
        });
    }
    node.is_some_and(|node| node.value == crate::yaml::Value::List(Vec::new()))
}

fn families(path: &str, list: &[Address], networks: &[IpNet], findings: &mut Findings<'_>) {
    for (family, name) in [(false, "IPv4"), (true, "IPv6")] {
        let wanted = networks.iter().any(|network| network.addr().is_ipv6() == family);
        if wanted && !list.iter().any(|address| address.ip.is_ipv6() == family) {
            let detail = format!("the machine networks are dual-stack: an {name} address is missing");
            let detail =
                if both_families(networks) { detail } else { format!("an {name} address is required") };
            findings.error(Violation::required(path, detail));
        }
    }
}

fn both_families(networks: &[IpNet]) -> bool {
    networks.iter().any(|net| net.addr().is_ipv4()) && networks.iter().any(|net| net.addr().is_ipv6())
}

fn is_link_local(ip: IpAddr) -> bool {
    matches!(ip, IpAddr::V6(ip) if ip.is_unicast_link_local())
}
