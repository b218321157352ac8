//! The names as zone files of BIND.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::IpAddr;

use super::{Name, Names};

/// A zone file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone {
    /// The zone's name, without the last dot.
    pub name: String,
    /// The file.
    pub text: String,
}

/// The cluster's own zone, and one reverse zone for each network that holds a host: of 24 bits, or 64 for IPv6. `serial`
/// must grow whenever a zone changes; the server they are for is `ns.<domain>` at the given address.
pub fn bind_zones(names: &Names, server: IpAddr, serial: u32) -> Vec<Zone> {
    let mut zones = vec![forward(names, server, serial)];
    let mut reverse: BTreeMap<String, String> = BTreeMap::new();
    for name in names.names.iter().filter(|name| name.is_reverse) {
        for address in &name.addresses {
            let (zone, label) = reversed(*address);
            let text = reverse.entry(zone).or_insert_with(|| head(&names.domain, serial));
            let _ = writeln!(text, "{label} IN PTR {}.", name.name);
        }
    }
    zones.extend(reverse.into_iter().map(|(name, text)| Zone { name, text }));
    zones
}

/// Lines for BIND's named.conf that name the zones, whose files lie in a folder.
pub fn bind_conf(zones: &[Zone], folder: &str) -> String {
    let mut text =
        String::from("// Made by hardway. Include it in named.conf; copy the zone files to where it says.\n");
    for zone in zones {
        let _ = writeln!(
            text,
            "zone \"{0}\" {{\n    type primary;\n    file \"{folder}/{1}\";\n}};",
            zone.name,
            zone.file()
        );
    }
    text
}

impl Zone {
    /// What its file is called.
    pub fn file(&self) -> String {
        format!("{}.zone", self.name)
    }
}

fn forward(names: &Names, server: IpAddr, serial: u32) -> Zone {
    let mut text = head(&names.domain, serial);
    let mut add = |name: &Name, prefix: &str| {
        for address in &name.addresses {
            let _ = writeln!(text, "{prefix}{}. IN {} {address}", name.name, kind(*address));
        }
    };
    let ns = Name { name: format!("ns.{}", names.domain), addresses: vec![server], is_reverse: false };
    add(&ns, "");
    names.names.iter().for_each(|name| add(name, ""));
    add(&names.wildcard, "*.");
    Zone { name: names.domain.clone(), text }
}

fn head(domain: &str, serial: u32) -> String {
    format!(
        "; Made by hardway.\n$TTL 300\n@ IN SOA ns.{domain}. hostmaster.{domain}. ( {serial} 3600 600 604800 300 )\n@ IN NS ns.{domain}.\n"
    )
}

fn kind(address: IpAddr) -> &'static str {
    if address.is_ipv6() { "AAAA" } else { "A" }
}

/// The reverse zone of an address, and its label there.
fn reversed(address: IpAddr) -> (String, String) {
    let (mut labels, own, suffix) = match address {
        IpAddr::V4(address) => (address.octets().map(|octet| octet.to_string()).to_vec(), 1, "in-addr.arpa"),
        IpAddr::V6(address) => {
            let digits = format!("{:032x}", u128::from(address));
            (digits.chars().map(String::from).collect(), 16, "ip6.arpa")
        }
    };
    labels.reverse();
    let zone = labels.split_off(own).join(".") + "." + suffix;
    (zone, labels.join("."))
}
