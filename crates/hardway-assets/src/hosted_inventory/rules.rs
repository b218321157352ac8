//! What no table can tell.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use ipnet::IpNet;

use super::read::{mac, text};
use super::{HostedHost, HostedInventory, HostedPool};
use crate::input_tables::HOSTED_INVENTORY;
use crate::inventory::rules::hosts::{disk_error, interface_error, mac_error};
use crate::node_name::{is_label, is_node_name};
use crate::schema::{Findings, walk};
use crate::violation::{FieldErrorKind, Violation};
use crate::yaml::{Node, Value};

/// Every rule about the file as a whole; those about the range of a pool are [`range`]'s.
pub(super) fn check_all(node: &Node, understood: Option<&HostedInventory>, findings: &mut Findings<'_>) {
    words(node, findings);
    let Some(inventory) = understood else { return };
    name(inventory, findings);
    provider(inventory, findings);
    network(inventory, findings);
    pools(node, inventory, findings);
    twins(inventory, findings);
    places(inventory, findings);
}

/// Checks a pool's range, which has this many addresses.
pub(super) fn range(
    path: &str,
    pool: &Node,
    pattern: Option<&str>,
    count: usize,
    findings: &mut Findings<'_>,
) {
    let has = |name: &str| pool.get(name).is_some_and(|node| node.value != Value::Null);
    if !has("addresses") && !has("hosts") {
        let detail = "a pool needs machines: a range of addresses, or hosts by name";
        findings.error(Violation::required(format!("{path}.addresses"), detail));
    }
    if !has("addresses") {
        for field in ["names", "macPrefix"].into_iter().filter(|field| has(field)) {
            let detail = "belongs to a range: set addresses too, or name the hosts below hosts";
            findings.error(Violation::forbidden(format!("{path}.{field}"), detail));
        }
        return;
    }
    let at = format!("{path}.names");
    match pattern {
        None => findings
            .error(Violation::required(&at, "what the workers of the range are called, such as demo-{n}")),
        Some(pattern) if pattern.matches("{n}").count() != 1 => {
            let detail =
                "must have {n} once, which is counted from 0: worker {n} has the address of that place";
            findings.error(Violation::invalid(&at, pattern, detail));
        }
        Some(pattern) => {
            let longest = pattern.replace("{n}", &count.saturating_sub(1).to_string());
            if let Some(why) = name_error(&longest) {
                findings.error(Violation::invalid(&at, pattern, why));
            }
        }
    }
    if let Some(prefix) = text(Some(pool), "macPrefix")
        && let Some(why) = prefix_error(&prefix, count)
    {
        findings.error(Violation::invalid(format!("{path}.macPrefix"), prefix, why));
    }
}

/// Fields that take one of a few words.
fn words(node: &Node, findings: &mut Findings<'_>) {
    walk("", node, HOSTED_INVENTORY.fields, &mut |path, _, value, field| {
        if let Value::String(word) = &value.value
            && !word.is_empty()
            && !field.allowed.is_empty()
            && !field.allowed.contains(&word.as_str())
        {
            findings.error(Violation::unsupported(path, word, field.allowed));
        }
    });
}

fn name(inventory: &HostedInventory, findings: &mut Findings<'_>) {
    if !inventory.name.is_empty() && (!is_label(&inventory.name) || inventory.name.len() > 40) {
        let detail =
            "must be at most 40 lower-case letters, digits and inner dashes: machines are named after it";
        findings.error(Violation::invalid("name", &inventory.name, detail));
    }
}

/// Some make machines for their own cluster alone.
fn provider(inventory: &HostedInventory, findings: &mut Findings<'_>) {
    let provider = inventory.machines.provider;
    if let Some(detail) = provider.row().no_hosted_workers {
        findings.error(Violation::invalid("machines.provider", provider.name(), detail));
    }
}

fn network(inventory: &HostedInventory, findings: &mut Findings<'_>) {
    let network = &inventory.network;
    for (i, gateway) in network.gateway.iter().enumerate() {
        let is_link_local = matches!(gateway, IpAddr::V6(ip) if ip.is_unicast_link_local());
        if !is_link_local && !network.machine_network.iter().any(|net| net.contains(gateway)) {
            let detail = "is in none of the networks of machineNetwork";
            findings.error(Violation::invalid(
                at("network.gateway", network.gateway.len(), i),
                gateway.to_string(),
                detail,
            ));
        }
    }
}

fn pools(node: &Node, inventory: &HostedInventory, findings: &mut Findings<'_>) {
    if node.get("pools").is_some_and(|pools| pools.value == Value::List(Vec::new())) {
        findings.error(Violation::required("pools", "at least one pool is required"));
    }
    let mut seen: BTreeMap<(&str, &str, &str), usize> = BTreeMap::new();
    for (i, pool) in inventory.pools.iter().enumerate() {
        let HostedPool { namespace, cluster, node_pool, hosts } = pool;
        for (field, name) in [("namespace", namespace), ("cluster", cluster), ("nodePool", node_pool)] {
            // The name of a HostedCluster may have dots.
            let is_good = if field == "cluster" { is_node_name(name) } else { is_label(name) };
            if !name.is_empty() && !is_good {
                let detail = "must be the name of an object: lower-case letters, digits and inner dashes";
                findings.error(Violation::invalid(format!("pools[{i}].{field}"), name, detail));
            }
        }
        if let Some(first) = seen.insert((namespace, cluster, node_pool), i) {
            let violation = Violation::duplicate(format!("pools[{i}].nodePool"), node_pool);
            findings.error(
                violation.fix(format!("pools[{first}] is for the same one: put their machines together")),
            );
        }
        for host in hosts.iter().filter(|host| is_named(host)) {
            named(host, findings);
        }
    }
}

/// A host by name, not of a range.
fn is_named(host: &HostedHost) -> bool {
    host.path.contains(".hosts[")
}

fn named(HostedHost { host, path, .. }: &HostedHost, findings: &mut Findings<'_>) {
    if !host.name.is_empty()
        && let Some(why) = name_error(&host.name)
    {
        findings.error(Violation::invalid(format!("{path}.name"), &host.name, why));
    }
    if let Some(mac) = &host.mac
        && let Some(why) = mac_error(mac)
    {
        findings.error(Violation::invalid(format!("{path}.mac"), mac, why));
    }
    for family in [IpAddr::is_ipv4, IpAddr::is_ipv6] {
        if host.ip.iter().filter(|ip| family(ip)).count() > 1 {
            let shown: Vec<String> = host.ip.iter().map(ToString::to_string).collect();
            let detail = "only one address of each family can be given";
            findings.error(Violation::invalid(format!("{path}.ip"), shown, detail));
        }
    }
}

/// No two machines are alike, and each address is one that a machine of that network can have. Of a range, the first that is wrong is
/// told: the others are wrong for the same reason.
fn twins(inventory: &HostedInventory, findings: &mut Findings<'_>) {
    let (mut names, mut macs, mut ips) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let mut told: BTreeSet<(String, &str)> = BTreeSet::new();
    for one in inventory.hosts() {
        let field = |own: &'static str, of_range: &'static str| {
            format!("{}.{}", one.path, if is_named(one) { own } else { of_range })
        };
        let mut wrong = |path: String, about: &'static str, violation: Violation| {
            if is_named(one) || told.insert((path, about)) {
                findings.error(violation);
            }
        };
        let host = &one.host;
        let (disk, interface) = (host.install_disk.as_deref(), host.interface.as_deref());
        for (name, value, error) in [
            ("installDisk", disk, disk.and_then(disk_error)),
            ("interface", interface, interface.and_then(interface_error)),
        ] {
            if let Some(why) = error {
                let path = field(name, name);
                let violation = Violation::invalid(&path, value.unwrap_or_default(), why);
                wrong(path, name, violation);
            }
        }
        if !host.name.is_empty()
            && let Some(other) = names.insert(host.name.clone(), one.path.clone())
        {
            let path = field("name", "names");
            let violation =
                Violation::duplicate(&path, &host.name).fix(format!("{other} has a machine of that name"));
            wrong(path, "name", violation);
        }
        if let Some(mac) = &host.mac
            && let Some(other) = macs.insert(mac.clone(), one.path.clone())
        {
            let path = field("mac", "macPrefix");
            let violation =
                Violation::duplicate(&path, mac).fix(format!("{other} has a machine with that card"));
            wrong(path, "mac", violation);
        }
        for ip in &host.ip {
            let path = field("ip", "addresses");
            if let Some(other) = ips.insert(*ip, one.path.clone()).filter(|_| !host.name.is_empty()) {
                let violation = Violation::duplicate(&path, ip.to_string());
                wrong(path, "twin", violation.fix(format!("{other} has a machine with that address")));
            } else if let Some(why) = address_error(*ip, inventory) {
                let violation = Violation::invalid(&path, ip.to_string(), why);
                wrong(path, "address", violation);
            }
        }
    }
}

fn address_error(ip: IpAddr, inventory: &HostedInventory) -> Option<String> {
    let network = &inventory.network;
    if network.gateway.contains(&ip) {
        return Some("is the gateway's address".to_owned());
    }
    let nets = &network.machine_network;
    let Some(net) = nets.iter().find(|net| net.contains(&ip)) else {
        let list = nets.iter().map(IpNet::to_string).collect::<Vec<_>>().join(", ");
        return (!nets.is_empty()).then(|| format!("is not in network.machineNetwork: {list}"));
    };
    if net.prefix_len() + 1 >= net.max_prefix_len() {
        return None;
    }
    match ip {
        ip if ip == net.network() => Some(format!("is the address of the network {net} itself")),
        ip if ip.is_ipv4() && ip == net.broadcast() => Some(format!("is the broadcast address of {net}")),
        _ => None,
    }
}

/// Zones are values of labels; a cloud's have to be the provider's own.
fn places(inventory: &HostedInventory, findings: &mut Findings<'_>) {
    let settings = &inventory.machines.settings;
    let of_provider: Vec<&str> = match &settings["zones"] {
        serde_json::Value::Array(zones) => zones.iter().filter_map(serde_json::Value::as_str).collect(),
        zone => zone.as_str().into_iter().collect(),
    };
    let mut told = BTreeSet::new();
    for one in inventory.hosts() {
        let Some(zone) = &one.zone else { continue };
        let path = format!("{}.{}", one.path, if is_named(one) { "zone" } else { "zones" });
        if !told.insert((path.clone(), zone.clone())) {
            continue;
        }
        if !is_label_value(zone) {
            findings.error(Violation::invalid(&path, zone, VALUE));
        } else if inventory.machines.provider.row().has_zones
            && !of_provider.is_empty()
            && !of_provider.contains(&zone.as_str())
        {
            let violation = Violation::new(path, FieldErrorKind::NotFound, Some(format!("{zone:?}")), "");
            let provider = inventory.machines.provider.name();
            findings
                .error(violation.fix(format!("add it to machines.{provider}.zones, or name one of those")));
        }
    }
    if let Some(region) = inventory.region.as_ref().filter(|region| !is_label_value(region)) {
        findings.error(Violation::invalid("region", region, VALUE));
    }
}

const VALUE: &str =
    "becomes the value of a node's label: at most 63 letters, digits, dashes, dots and underscores";

fn is_label_value(text: &str) -> bool {
    let is_end = |c: char| c.is_ascii_alphanumeric();
    text.len() <= 63
        && text.starts_with(is_end)
        && text.ends_with(is_end)
        && text.chars().all(|c| is_end(c) || "-._".contains(c))
}

/// Why a machine cannot be called so. The kubelet puts its name into a label, whose value ends at 63 characters.
fn name_error(name: &str) -> Option<String> {
    if name.len() > 63 {
        return Some(format!("{name} has more than the 63 characters of a node's label"));
    }
    if !is_node_name(name) {
        return Some(format!(
            "{name} is not the name of a node: lower-case letters, digits, inner dashes and dots"
        ));
    }
    (name == "localhost").then(|| "localhost is everybody's name, and no node can join with it".to_owned())
}

fn prefix_error(prefix: &str, count: usize) -> Option<String> {
    let octets = prefix.split([':', '-']).count();
    if !(3..=5).contains(&octets) {
        return Some(
            "must be the first three, four or five octets of the cards' addresses, such as 52:54:00:7e:01"
                .to_owned(),
        );
    }
    let Some(last) = mac(prefix, count.saturating_sub(1)) else {
        let most = 1_u64 << (8 * (6 - octets));
        return Some(format!("leaves {most} addresses for {count} machines: give fewer octets"));
    };
    mac_error(&last)
}

/// One value may stand without a list around it.
fn at(field: &str, count: usize, index: usize) -> String {
    if count == 1 { field.to_owned() } else { format!("{field}[{index}]") }
}
