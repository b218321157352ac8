//! The file's content before it is known to be right. See the draft of install-config: same idea.

use std::net::IpAddr;

use super::{
    Balancer, Host, IgnitionServer, Inventory, KeyAlgorithm, Machines, Network, Options, Pki, Provider,
    Release, Role, ServerUrl,
};
use crate::day_two_settings::DayTwoSettings;
use crate::input_tables::INVENTORY;
use crate::install_config::InstallConfig;
use crate::yaml::{Node, Value};

/// See the module.
pub(super) struct Draft<'n> {
    pub(super) node: &'n Node,
    pub(super) image: String,
    pub(super) provider: String,
    /// None where it is a word without a meaning.
    pub(super) load_balancer: Option<Balancer>,
    pub(super) key_algorithm: String,
    pub(super) gateway: Vec<Address>,
    pub(super) dns: Vec<Address>,
    pub(super) api_vip: Vec<Address>,
    pub(super) ingress_vip: Vec<Address>,
    pub(super) ignition_server: Option<String>,
    pub(super) hosts: Vec<DraftHost<'n>>,
}

/// An address and where it stands: `hosts[2].ip[1]`.
#[derive(Clone, Debug)]
pub(super) struct Address {
    pub(super) path: String,
    pub(super) ip: IpAddr,
}

/// One host.
pub(super) struct DraftHost<'n> {
    node: &'n Node,
    pub(super) path: String,
    pub(super) name: String,
    pub(super) role: String,
    pub(super) ip: Vec<Address>,
    pub(super) mac: Option<String>,
    pub(super) interface: Option<String>,
    pub(super) install_disk: Option<String>,
}

impl<'n> Draft<'n> {
    pub(super) fn new(node: &'n Node) -> Self {
        let network = node.get("network");
        let addresses = |name| addresses(&format!("network.{name}"), network.and_then(|n| n.get(name)));
        let hosts: &[Node] = match node.get("hosts").map(|hosts| &hosts.value) {
            Some(Value::List(hosts)) => hosts,
            _ => &[],
        };
        Self {
            node,
            image: text(node, "release", "image").unwrap_or_default(),
            provider: text(node, "machines", "provider").unwrap_or_default(),
            load_balancer: Balancer::named(&text_or_default(node, "network", "loadBalancer")),
            key_algorithm: text_or_default(node, "pki", "keyAlgorithm"),
            gateway: addresses("gateway"),
            dns: addresses("dns"),
            api_vip: addresses("apiVIP"),
            ingress_vip: addresses("ingressVIP"),
            ignition_server: text(node, "ignitionServer", "url"),
            hosts: hosts.iter().enumerate().map(|(i, host)| DraftHost::new(i, host)).collect(),
        }
    }

    /// The hosts of one role.
    pub(super) fn with_role(&self, role: Role) -> impl Iterator<Item = &DraftHost<'n>> {
        self.hosts.iter().filter(move |host| host.role == role.name())
    }

    /// The one that is named; else the machines' gateway, where the provider has that on this host.
    fn ignition_server(&self) -> Option<IgnitionServer> {
        let url = match (&self.ignition_server, Provider::named(&self.provider)?) {
            (Some(url), _) => Some(ServerUrl::parse(url).ok()?),
            (None, provider) if provider.row().is_gateway_here => {
                self.gateway.first().map(|gateway| ServerUrl::at(gateway.ip))
            }
            (None, _) => None,
        };
        Some(IgnitionServer { url })
    }

    /// The typed file, if every word in it has a meaning. Whether it is valid is for the rules to say.
    pub(super) fn assemble(self, config: Option<&InstallConfig>) -> Option<Inventory> {
        let settings = self.node.get("machines").and_then(|machines| machines.get(&self.provider));
        let ips = |list: &[Address]| list.iter().map(|address| address.ip).collect();
        let ignition_server = self.ignition_server()?;
        let hours = int(self.node.get("pki"), "shortLivedHours")
            .or_else(|| INVENTORY.default("pki.shortLivedHours").parse().ok())?;
        Some(Inventory {
            release: Release {
                image: self.image,
                graph: text(self.node, "release", "graph"),
                repository: text(self.node, "release", "repository"),
            },
            machines: Machines {
                provider: Provider::named(&self.provider)?,
                settings: match settings.map(Node::to_json) {
                    Some(settings) if settings.is_object() => settings,
                    _ => serde_json::json!({}),
                },
            },
            network: Network {
                gateway: ips(&self.gateway),
                dns: ips(&self.dns),
                api_vip: ips(&self.api_vip),
                ingress_vip: ips(&self.ingress_vip),
                load_balancer: self.load_balancer?,
            },
            ignition_server,
            pki: Pki { key_algorithm: key_algorithm(&self.key_algorithm)?, short_lived_hours: hours },
            options: Options { network_plugin: network_plugin(self.node) },
            day_two: day_two(self.node),
            hosts: self.hosts.iter().map(|host| host.assemble(config)).collect::<Option<_>>()?,
            hosted: None,
        })
    }
}

impl<'n> DraftHost<'n> {
    fn new(index: usize, node: &'n Node) -> Self {
        let path = format!("hosts[{index}]");
        let text = |name| node.get(name).and_then(scalar);
        Self {
            node,
            name: text("name").unwrap_or_default(),
            role: text("role").unwrap_or_default(),
            ip: addresses(&format!("{path}.ip"), node.get("ip")),
            mac: text("mac"),
            interface: text("interface"),
            install_disk: text("installDisk"),
            path,
        }
    }

    /// The MAC in the form everything else uses: lower case, colons.
    pub(super) fn canonical_mac(&self) -> Option<String> {
        self.mac.as_ref().map(|mac| mac.to_ascii_lowercase().replace('-', ":"))
    }

    /// Whether it boots from the pointer of its pool.
    pub(super) fn is_stock_pointer(&self) -> bool {
        self.node.get("stockPointer").is_some_and(|node| node.value == Value::Bool(true))
    }

    fn assemble(&self, config: Option<&InstallConfig>) -> Option<Host> {
        let mut ip: Vec<IpAddr> = self.ip.iter().map(|address| address.ip).collect();
        // The primary family first: the family of the first service network, else the first one written.
        let service = config.and_then(|config| config.networking.service_network.first());
        let ipv6_first = service.map_or(ip.first().is_some_and(IpAddr::is_ipv6), |net| net.addr().is_ipv6());
        ip.sort_by_key(|ip| ip.is_ipv6() != ipv6_first);
        Some(Host {
            name: self.name.clone(),
            role: role(&self.role)?,
            ip,
            mac: self.canonical_mac(),
            interface: self.interface.clone(),
            install_disk: self.install_disk.clone(),
            stock_pointer: self.is_stock_pointer(),
            cpus: int(Some(self.node), "cpus"),
            memory_gib: int(Some(self.node), "memoryGiB"),
            disk_gib: int(Some(self.node), "diskGiB"),
        })
    }
}

/// What is wanted of day two, as far as it can be understood.
pub(super) fn day_two(inventory: &Node) -> DayTwoSettings {
    let Some(serde_json::Value::Object(mut sections)) = inventory.get("day2").map(Node::to_json) else {
        return DayTwoSettings::default();
    };
    // One that is wrong hides none of the others.
    let read = |value| serde_json::from_value::<DayTwoSettings>(value).ok();
    sections.retain(|name, section| read(serde_json::json!({name: section.clone()})).is_some());
    read(sections.into()).unwrap_or_default()
}

/// The network plugin that is allowed by name.
pub(super) fn network_plugin(inventory: &Node) -> Option<String> {
    text(inventory, "options", "networkPlugin")
}

fn key_algorithm(name: &str) -> Option<KeyAlgorithm> {
    Some(match name {
        "RSA-2048" => KeyAlgorithm::Rsa2048,
        "ECDSA-P256" => KeyAlgorithm::EcdsaP256,
        _ => return None,
    })
}

fn role(name: &str) -> Option<Role> {
    [Role::Bootstrap, Role::Master, Role::Worker].into_iter().find(|role| role.name() == name)
}

fn scalar(node: &Node) -> Option<String> {
    match &node.value {
        Value::String(text) => Some(text.clone()),
        _ => None,
    }
}

/// Empty text counts as none.
fn text(node: &Node, parent: &str, name: &str) -> Option<String> {
    node.get(parent)?.get(name).and_then(scalar).filter(|text| !text.is_empty())
}

fn text_or_default(node: &Node, parent: &str, name: &str) -> String {
    text(node, parent, name).unwrap_or_else(|| INVENTORY.default(&format!("{parent}.{name}")).to_owned())
}

fn int(parent: Option<&Node>, name: &str) -> Option<u32> {
    match parent?.get(name)?.value {
        Value::Int(number) => u32::try_from(number).ok(),
        _ => None,
    }
}

/// One address or a list of them; what is no address is left out.
fn addresses(path: &str, node: Option<&Node>) -> Vec<Address> {
    let parse = |path: String, node: &Node| Some(Address { path, ip: scalar(node)?.parse().ok()? });
    match node.map(|node| &node.value) {
        Some(Value::List(items)) => {
            items.iter().enumerate().filter_map(|(i, item)| parse(format!("{path}[{i}]"), item)).collect()
        }
        _ => node.and_then(|node| parse(path.to_owned(), node)).into_iter().collect(),
    }
}
