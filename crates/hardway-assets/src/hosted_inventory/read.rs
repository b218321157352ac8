//! From text to a checked inventory of hosted workers.

use std::net::IpAddr;

use ipnet::IpNet;

use super::address_range::addresses;
use super::{HostedHost, HostedInventory, HostedNetwork, HostedPool, rules};
use crate::input_tables::HOSTED_INVENTORY;
use crate::inventory::{Host, Machines, Provider, Role};
use crate::schema::{self, Findings, Read};
use crate::violation::Violation;
use crate::yaml::{self, Node, Value};

/// Reads the file. Every violation is reported in one run; only a syntax error ends it early.
///
/// ```
/// let text = "apiVersion: hardway.dev/v1alpha1
/// kind: HostedInventory
/// name: site
/// machines: {provider: libvirt}
/// network: {machineNetwork: 192.168.126.0/24, gateway: 192.168.126.1, dns: 192.168.126.1}
/// pools:
/// - {cluster: demo, nodePool: demo, names: 'demo-{n}', addresses: 192.168.126.110-192.168.126.139, installDisk: /dev/vda}
/// ";
/// let inventory = hardway_assets::hosted_inventory::read(text).unwrap().value;
/// assert_eq!(inventory.pools[0].hosts[29].host.name, "demo-29");
/// ```
///
/// # Errors
/// Everything that is wrong with it.
pub fn read(text: &str) -> Result<Read<HostedInventory>, Vec<Violation>> {
    let ExaminedHosted { errors, warnings, understood, node } = examine(text);
    match (understood, node) {
        (Some(value), Some(node)) if errors.is_empty() => Ok(Read { value, warnings, node }),
        _ => Err(schema::reasons(errors)),
    }
}

/// What is wrong, and what could be understood in spite of that: a machine provider can still look at its settings.
pub struct ExaminedHosted {
    /// What must be put right.
    pub errors: Vec<Violation>,
    /// What is odd but allowed.
    pub warnings: Vec<Violation>,
    /// The typed file, if every word in it has a meaning.
    pub understood: Option<HostedInventory>,
    /// The file as it was written.
    pub node: Option<Node>,
}

/// Like [`read`], but keeps what could be understood.
pub fn examine(text: &str) -> ExaminedHosted {
    let node = match yaml::read(text) {
        Ok(node) => node,
        Err(errors) => {
            let errors = schema::syntax(errors);
            return ExaminedHosted { errors, warnings: Vec::new(), understood: None, node: None };
        }
    };
    let mut findings = Findings::new(&node, schema::check(&node, &HOSTED_INVENTORY));
    let pools: Vec<HostedPool> = items(&node, "pools")
        .iter()
        .enumerate()
        .map(|(i, pool)| pool_of(&format!("pools[{i}]"), pool, &node, &mut findings))
        .collect();
    let network = node.get("network");
    let network = HostedNetwork {
        machine_network: nets(network.and_then(|network| network.get("machineNetwork"))),
        gateway: ips(network.and_then(|network| network.get("gateway"))),
        dns: ips(network.and_then(|network| network.get("dns"))),
    };
    let understood = assemble(&node, network, pools);
    rules::check_all(&node, understood.as_ref(), &mut findings);
    let Findings { errors, warnings, .. } = findings;
    ExaminedHosted { errors, warnings, understood, node: Some(node) }
}

fn assemble(node: &Node, network: HostedNetwork, pools: Vec<HostedPool>) -> Option<HostedInventory> {
    let machines = node.get("machines");
    let provider = Provider::named(&text(machines, "provider")?)?;
    let settings = machines.and_then(|machines| machines.get(provider.name())).map(Node::to_json);
    Some(HostedInventory {
        name: text(Some(node), "name").unwrap_or_default(),
        architecture: text(Some(node), "architecture")
            .unwrap_or_else(|| HOSTED_INVENTORY.default("architecture").to_owned()),
        machines: Machines {
            provider,
            settings: settings.filter(serde_json::Value::is_object).unwrap_or_else(|| serde_json::json!({})),
        },
        network,
        region: text(Some(node), "region").or_else(|| region(provider, &pools)),
        pools,
    })
}

/// A cloud's zones name their region.
fn region(provider: Provider, pools: &[HostedPool]) -> Option<String> {
    let zone = pools.iter().flat_map(|pool| &pool.hosts).find_map(|host| host.zone.as_deref())?;
    provider.row().has_zones.then(|| zone.rsplit_once('-').map(|(region, _)| region.to_owned()))?
}

fn pool_of(path: &str, pool: &Node, file: &Node, findings: &mut Findings<'_>) -> HostedPool {
    let named = |name: &str| text(Some(pool), name);
    let size = |name: &str| int(pool, name);
    let shared = Host {
        name: String::new(),
        role: Role::Worker,
        ip: Vec::new(),
        mac: None,
        interface: named("interface"),
        install_disk: named("installDisk"),
        stock_pointer: false,
        cpus: size("cpus"),
        memory_gib: size("memoryGiB"),
        disk_gib: size("diskGiB"),
    };
    let zones = match texts(pool.get("zones")) {
        zones if zones.is_empty() => of_provider(file),
        zones => zones,
    };
    let turn = |n: usize| (!zones.is_empty()).then(|| zones[n % zones.len()].clone());
    let mut hosts = range(path, pool, &shared, findings);
    for (n, one) in hosts.iter_mut().enumerate() {
        one.zone = turn(n);
    }
    let before = hosts.len();
    for (i, node) in items(pool, "hosts").iter().enumerate() {
        let own = |name: &str| text(Some(node), name);
        let host = Host {
            name: own("name").unwrap_or_default(),
            ip: ips(node.get("ip")),
            mac: own("mac").map(|mac| mac.to_ascii_lowercase().replace('-', ":")),
            interface: own("interface").or_else(|| shared.interface.clone()),
            install_disk: own("installDisk").or_else(|| shared.install_disk.clone()),
            ..shared.clone()
        };
        let zone = own("zone").or_else(|| turn(before + i));
        hosts.push(HostedHost { host, zone, path: format!("{path}.hosts[{i}]") });
    }
    HostedPool {
        namespace: named("namespace")
            .unwrap_or_else(|| HOSTED_INVENTORY.default("pools.namespace").to_owned()),
        cluster: named("cluster").unwrap_or_default(),
        node_pool: named("nodePool").unwrap_or_default(),
        hosts,
    }
}

/// The zones of a cloud, where the pool names none.
fn of_provider(file: &Node) -> Vec<String> {
    let machines = file.get("machines");
    let provider = text(machines, "provider").unwrap_or_default();
    texts(machines.and_then(|machines| machines.get(&provider)?.get("zones")))
}

/// The hosts of a range: as many as it has addresses.
fn range(path: &str, pool: &Node, shared: &Host, findings: &mut Findings<'_>) -> Vec<HostedHost> {
    let (mut v4, mut v6) = (Vec::new(), Vec::new());
    for (i, entry) in texts(pool.get("addresses")).iter().enumerate() {
        let place = match pool.get("addresses").map(|node| &node.value) {
            Some(Value::List(_)) => format!("{path}.addresses[{i}]"),
            _ => format!("{path}.addresses"),
        };
        match addresses(entry) {
            Ok(found) if found[0].is_ipv4() => v4.extend(found),
            Ok(found) => v6.extend(found),
            Err(why) => findings.error(Violation::invalid(place, entry, why)),
        }
    }
    if !v4.is_empty() && !v6.is_empty() && v4.len() != v6.len() {
        let detail = format!(
            "{} IPv4 addresses and {} IPv6 addresses: with both, every worker has one of each",
            v4.len(),
            v6.len()
        );
        findings.error(Violation::invalid(format!("{path}.addresses"), texts(pool.get("addresses")), detail));
    }
    let count = v4.len().max(v6.len());
    let pattern = text(Some(pool), "names");
    rules::range(path, pool, pattern.as_deref(), count, findings);
    let pattern = pattern.unwrap_or_default();
    let prefix = text(Some(pool), "macPrefix");
    let host = |n: usize| Host {
        name: pattern.replace("{n}", &n.to_string()),
        ip: v4.get(n).into_iter().chain(v6.get(n)).copied().collect(),
        mac: prefix.as_deref().and_then(|prefix| mac(prefix, n)),
        ..shared.clone()
    };
    (0..count).map(|n| HostedHost { host: host(n), zone: None, path: path.to_owned() }).collect()
}

/// The n-th address of cards that begin so; none where there are not that many.
pub(super) fn mac(prefix: &str, n: usize) -> Option<String> {
    let prefix = prefix.to_ascii_lowercase().replace('-', ":");
    let free = 6_usize.checked_sub(prefix.split(':').count())?;
    let bytes = (n as u64).to_be_bytes();
    let (rest, own) = bytes.split_at(bytes.len() - free.min(bytes.len()));
    let own: String = own.iter().map(|byte| format!(":{byte:02x}")).collect();
    rest.iter().all(|byte| *byte == 0).then(|| prefix + &own)
}

fn items<'n>(node: &'n Node, name: &str) -> &'n [Node] {
    match node.get(name).map(|list| &list.value) {
        Some(Value::List(items)) => items,
        _ => &[],
    }
}

fn scalar(node: &Node) -> Option<String> {
    match &node.value {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        _ => None,
    }
}

/// Empty text counts as none.
pub(super) fn text(parent: Option<&Node>, name: &str) -> Option<String> {
    parent?.get(name).and_then(scalar)
}

/// One text or a list of them.
fn texts(node: Option<&Node>) -> Vec<String> {
    match node.map(|node| &node.value) {
        Some(Value::List(items)) => items.iter().filter_map(scalar).collect(),
        _ => node.and_then(scalar).into_iter().collect(),
    }
}

/// What is no address is left out: the schema has told.
fn ips(node: Option<&Node>) -> Vec<IpAddr> {
    texts(node).iter().filter_map(|text| text.parse().ok()).collect()
}

fn nets(node: Option<&Node>) -> Vec<IpNet> {
    texts(node).iter().filter_map(|text| text.parse().ok()).collect()
}

fn int(node: &Node, name: &str) -> Option<u32> {
    match node.get(name)?.value {
        Value::Int(number) => u32::try_from(number).ok(),
        _ => None,
    }
}
