//! The names as a configuration of dnsmasq.

use std::fmt::Write as _;
use std::net::IpAddr;

use super::{Leases, Names};

/// Where dnsmasq answers, and whom it asks about other names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dnsmasq {
    /// Addresses of this host on the machine network.
    pub listen: Vec<IpAddr>,
    /// Or an interface of it, with whatever addresses that has.
    pub interface: Option<String>,
    /// Usually 53.
    pub port: u16,
    /// Where its process id is written.
    pub pid_file: String,
    /// Name servers for all other names; none: other names do not exist.
    pub upstream: Vec<IpAddr>,
}

/// The whole file.
pub fn dnsmasq(names: &Names, server: &Dnsmasq) -> String {
    let mut text = head(server, server.port);
    // Nothing of this host's own leaks in: neither its name servers nor its names.
    text.push_str("no-resolv\nno-hosts\n");
    for address in &server.upstream {
        let _ = writeln!(text, "server={address}");
    }
    if server.upstream.is_empty() {
        text.push_str(
            "# No name server for other names is given, so they do not exist here. A machine that asks nobody else cannot\n\
             # pull images from outside then; name one:\n# server=ADDRESS\n",
        );
    }
    let _ = writeln!(
        text,
        "\n# A name below this domain that is not listed does not exist.\nlocal=/{}/",
        names.domain
    );
    for name in &names.names {
        for address in &name.addresses {
            // The first record of an address answers for it: hosts come before api, api before api-int.
            let _ = writeln!(text, "host-record={},{address}", name.name);
        }
    }
    let wildcard = &names.wildcard.name;
    // Without the `local` line dnsmasq says of the family that has no address that the name does not exist, and
    // resolvers that ask for both families believe it.
    let _ = writeln!(text, "\n# Every route.\nlocal=/{wildcard}/");
    for address in &names.wildcard.addresses {
        let _ = writeln!(text, "address=/{wildcard}/{address}");
    }
    text
}

/// What comes before names and leases. Port 0: no names.
fn head(server: &Dnsmasq, port: u16) -> String {
    let mut text = format!("# Made by hardway.\nport={port}\npid-file={}\n", server.pid_file);
    match &server.interface {
        // Loopback is others' to answer on, and an address may come after dnsmasq has started.
        Some(interface) => {
            let _ = writeln!(text, "bind-dynamic\ninterface={interface}\nexcept-interface=lo");
        }
        None => text.push_str("bind-interfaces\n"),
    }
    for address in &server.listen {
        let _ = writeln!(text, "listen-address={address}");
    }
    text
}

/// A file for a dnsmasq that gives leases and knows no names.
pub fn dnsmasq_without_names(server: &Dnsmasq) -> String {
    head(server, 0)
}

/// Fixed leases, as lines of a configuration; the boot options are in a file of their own.
pub fn dnsmasq_leases(leases: &Leases, boot: Option<&str>) -> String {
    let mut text =
        String::from("\n# Fixed leases for the hosts of the inventory. Nobody else gets an address.\n");
    let _ = writeln!(text, "domain={}", leases.domain);
    for (is_ipv6, option) in [(false, "option"), (true, "option6")] {
        let servers: Vec<String> = leases
            .dns_of(is_ipv6)
            .map(|server| if is_ipv6 { format!("[{server}]") } else { server.to_string() })
            .collect();
        if !servers.is_empty() {
            let _ = writeln!(text, "dhcp-option={option}:dns-server,{}", servers.join(","));
        }
    }
    for subnet in &leases.subnets {
        let net = subnet.net.trunc();
        match net {
            ipnet::IpNet::V4(net) => {
                let _ = writeln!(text, "dhcp-range={},static,{},24h", net.addr(), net.netmask());
            }
            ipnet::IpNet::V6(net) => {
                let _ = writeln!(text, "dhcp-range={},static,{},24h", net.addr(), net.prefix_len());
            }
        }
        if let Some(gateway) = subnet.gateway.filter(IpAddr::is_ipv4) {
            let _ = writeln!(text, "dhcp-option=option:router,{gateway}");
        }
    }
    // A card has one line: dnsmasq takes the last of several.
    let mut cards: Vec<(&str, &str, Vec<String>)> = Vec::new();
    for lease in leases.subnets.iter().flat_map(|subnet| &subnet.leases) {
        let address =
            if lease.address.is_ipv6() { format!("[{}]", lease.address) } else { lease.address.to_string() };
        match cards.iter_mut().find(|(mac, ..)| *mac == lease.mac) {
            Some((_, _, addresses)) => addresses.push(address),
            None => cards.push((&lease.mac, &lease.name, vec![address])),
        }
    }
    for (mac, name, addresses) in cards {
        let _ = writeln!(text, "dhcp-host={mac},{},{name}", addresses.join(","));
    }
    if let Some(boot) = boot {
        let _ = writeln!(
            text,
            "\n# What machines boot over the network; its URLs are secrets.\nconf-file={boot}"
        );
    }
    text
}
