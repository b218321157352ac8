//! Fixed leases as configurations of ISC Kea 2.0 or newer.

use std::fmt::Write as _;
use std::net::IpAddr;

use serde_json::{Value, json};

use super::{Lease, LeaseSubnet, Leases};

/// What `kea-dhcp4` reads, with a file for the value of `client-classes`, if there is one; nothing without an IPv4 network.
pub fn kea_dhcp4(leases: &Leases, classes: Option<&str>) -> Option<String> {
    let subnet = |subnet: &LeaseSubnet| {
        let routers = subnet.gateway.map(|gateway| json!({"name": "routers", "data": gateway.to_string()}));
        json!({
            "subnet": subnet.net.trunc().to_string(),
            "option-data": routers.into_iter().collect::<Vec<_>>(),
            "reservations": subnet.leases.iter().map(|lease| json!({
                "hw-address": lease.mac,
                "ip-address": lease.address.to_string(),
                "hostname": lease.name,
            })).collect::<Vec<_>>(),
        })
    };
    let options = [
        ("domain-name-servers", listed(leases.dns_of(false))),
        ("domain-name", leases.domain.clone()),
        ("domain-search", leases.domain.clone()),
    ];
    file(leases, false, "Dhcp4", "subnet4", &subnet, &options, classes)
}

/// What `kea-dhcp6` reads; nothing without an IPv6 network. The default route is the router's to announce.
pub fn kea_dhcp6(leases: &Leases) -> Option<String> {
    let subnet = |subnet: &LeaseSubnet| {
        let reservation = |lease: &Lease| {
            json!({
                "hw-address": lease.mac,
                "ip-addresses": [lease.address.to_string()],
                "hostname": lease.name,
            })
        };
        json!({
            "subnet": subnet.net.trunc().to_string(),
            "reservations": subnet.leases.iter().map(reservation).collect::<Vec<_>>(),
        })
    };
    let options = [("dns-servers", listed(leases.dns_of(true))), ("domain-search", leases.domain.clone())];
    file(leases, true, "Dhcp6", "subnet6", &subnet, &options, None)
}

fn file(
    leases: &Leases,
    is_ipv6: bool,
    name: &str,
    subnets_name: &str,
    subnet: &dyn Fn(&LeaseSubnet) -> Value,
    options: &[(&str, String)],
    classes: Option<&str>,
) -> Option<String> {
    let of_family = leases.subnets.iter().filter(|subnet| subnet.net.addr().is_ipv6() == is_ipv6);
    let subnets: Vec<Value> = (1..)
        .zip(of_family)
        .map(|(id, found)| {
            let mut value = subnet(found);
            value["id"] = Value::from(id);
            value
        })
        .collect();
    if subnets.is_empty() {
        return None;
    }
    let options: Vec<Value> = options
        .iter()
        .filter(|(_, data)| !data.is_empty())
        .map(|(name, data)| json!({"name": name, "data": data}))
        .collect();
    let mut server = json!({
        // Name the interfaces of your server, if others than the machines' network shall stay silent.
        "interfaces-config": {"interfaces": ["*"]},
        "lease-database": {"type": "memfile", "persist": true},
        "host-reservation-identifiers": ["hw-address"],
        // Only hosts of the inventory have leases; there is no pool for anybody else.
        "valid-lifetime": 86400,
        "option-data": options,
    });
    server[subnets_name] = Value::Array(subnets);
    let mut object = serde_json::Map::new();
    object.insert(name.to_owned(), server);
    let mut body = format!("{:#}", Value::Object(object));
    if let Some(path) = classes {
        // Kea reads another file in place of a value; JSON has no such thing.
        let key = format!("\"{name}\": {{\n");
        body = body.replacen(&key, &format!("{key}    \"client-classes\": <?include \"{path}\"?>,\n"), 1);
    }
    let mut text = String::from("// Made by hardway: fixed leases for the hosts of the inventory.\n");
    let _ = writeln!(text, "{body}");
    Some(text)
}

fn listed<'a>(addresses: impl Iterator<Item = &'a IpAddr>) -> String {
    addresses.map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
