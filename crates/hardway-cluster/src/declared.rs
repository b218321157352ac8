//! What the two input files declare about a cluster's nodes, without any secret. A cluster is complete when they are there, not when it
//! says so; and a certificate request is judged by them.

mod nodes;

use std::collections::BTreeMap;
use std::net::IpAddr;

use hardway_assets::Cluster;
use hardway_assets::host_identity;
use hardway_assets::install_config::InstallConfig;
use hardway_assets::inventory::{Host, Inventory, Role};
use hardway_assets::node_name::qualified;
use hardway_assets::secrets::{Comes, HostGeneration};
use ipnet::IpNet;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use self::nodes::DeclaredNodes;
use crate::objects::{Node, Override};

/// The nodes of a cluster, and the names and addresses that are nobody's or somebody else's. Empty when there is no inventory, as in
/// a folder of openshift-install. `hardway approve declared` prints it, for an approver that runs without the working folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Declared {
    /// Every name of the cluster ends with it.
    pub domain: String,
    /// Masters and workers, in the order of the inventory.
    pub nodes: DeclaredNodes,
    /// Addresses of services: no host has one.
    pub service_networks: Vec<IpNet>,
    /// Addresses of pods: no host has one.
    pub pod_networks: Vec<IpNet>,
    /// Addresses of the cluster and around it that are no node's own.
    pub other_addresses: Vec<OtherAddress>,
    /// Overrides of the ClusterVersion that the user asked for; all others end with bootstrapping.
    #[serde(skip)]
    pub overrides: Vec<Override>,
}

/// A node, as the inventory declares it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeclaredNode {
    /// As the API will call it.
    #[serde(rename = "node")]
    pub name: String,
    /// As the inventory calls it.
    pub host: String,
    /// Master or worker; none for an approver, whose document has no place for it.
    #[serde(skip)]
    pub role: Option<Role>,
    /// Its fixed addresses: all it may serve at.
    pub addresses: Vec<IpAddr>,
    /// Who its machine asks as until it is a node. None for one that boots from a stock pointer, with an identity that it
    /// shares with everybody. That has to be said (`null`): in a document of an older version, which knew no other, a host that has
    /// its own by now would be let in with the shared one.
    #[serde(deserialize_with = "Option::deserialize")]
    pub identity: Option<HostIdentity>,
}

/// The identity that a host boots with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HostIdentity {
    /// The user, with the current generation in its name.
    pub user: String,
    /// When the generation before ended; none for the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// Whether it was put in place on the installed host, so that nobody fetched a config with it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_place: bool,
}

impl HostIdentity {
    /// Of a host, by the generations that are known; the first where none is. None for one without an identity of its own.
    pub fn of(host: &Host, generations: &BTreeMap<String, HostGeneration>) -> Option<Self> {
        let later = generations.get(&host.name);
        host.has_identity().then(|| Self {
            user: host_identity::user(&host.name, later.map_or(1, |later| later.number)),
            since: later.map(|later| later.since),
            in_place: later.is_some_and(|later| later.comes == Comes::InPlace),
        })
    }
}

/// Whose address the bootstrap host's is.
pub const BOOTSTRAP_HOST: &str = "the bootstrap host";

/// An address that is no node's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OtherAddress {
    /// The address.
    pub address: IpAddr,
    /// Whose it is, in a word or two.
    pub of: String,
}

impl Declared {
    /// Of a cluster. The bootstrap host is no node: its kubelet never asks.
    pub fn of(cluster: &Cluster) -> Self {
        Self::with_roles(&cluster.config, &cluster.inventory, &cluster.identity.generations, Some)
    }

    /// For an approver, which does not ask for roles: what `hardway approve declared` prints and reads. `generations` are those
    /// of `secrets/identity.json`.
    pub fn new(
        config: &InstallConfig,
        inventory: &Inventory,
        generations: &BTreeMap<String, HostGeneration>,
    ) -> Self {
        Self::with_roles(config, inventory, generations, |_| None)
    }

    fn with_roles(
        config: &InstallConfig,
        inventory: &Inventory,
        generations: &BTreeMap<String, HostGeneration>,
        role: fn(Role) -> Option<Role>,
    ) -> Self {
        let domain = config.domain();
        let node = |host: &Host| DeclaredNode {
            name: qualified(&host.name, &domain),
            host: host.name.clone(),
            role: role(host.role),
            addresses: host.ip.clone(),
            identity: HostIdentity::of(host, generations),
        };
        let nodes = inventory.hosts.iter().filter(|host| host.role != Role::Bootstrap).map(node).collect();
        let network = &inventory.network;
        let bootstrap: Vec<IpAddr> =
            inventory.with_role(Role::Bootstrap).flat_map(|host| host.ip.clone()).collect();
        let others = [
            ("the API", &network.api_vip),
            ("the ingress", &network.ingress_vip),
            ("the gateway", &network.gateway),
            ("a name server", &network.dns),
            (BOOTSTRAP_HOST, &bootstrap),
        ];
        let others = others.iter().flat_map(|(of, addresses)| {
            addresses.iter().map(|address| OtherAddress { address: *address, of: (*of).to_owned() })
        });
        Self {
            nodes,
            service_networks: config.networking.service_network.clone(),
            pod_networks: config.networking.cluster_network.iter().map(|network| network.cidr).collect(),
            other_addresses: others.collect(),
            overrides: Vec::new(),
            domain,
        }
    }

    /// The node of that name.
    pub fn node(&self, name: &str) -> Option<&DeclaredNode> {
        self.nodes.named(name)
    }

    /// Those of one role.
    pub fn with_role(&self, role: Role) -> impl Iterator<Item = &DeclaredNode> {
        self.nodes.iter().filter(move |node| node.role == Some(role))
    }

    /// Masters that must carry a control plane before the bootstrap host may go. Without an inventory, what a highly
    /// available cluster needs.
    pub fn masters_needed(&self) -> usize {
        match self.with_role(Role::Master).count() {
            1 => 1,
            _ => 2,
        }
    }

    /// Who else has that address.
    pub(crate) fn other_owner(&self, address: IpAddr, of: &DeclaredNode) -> Option<String> {
        let node = self.nodes.with_address(address).find(|node| node.name != of.name);
        let other = || self.other_addresses.iter().find(|other| other.address == address);
        node.map(|node| node.name.clone()).or_else(|| other().map(|other| other.of.clone()))
    }

    /// Who else has that name.
    pub(crate) fn other_name(&self, name: &str, of: &DeclaredNode) -> Option<String> {
        if let Some(node) = self.nodes.called(name).find(|node| node.name != of.name) {
            return Some(node.name.clone());
        }
        let below = |domain: &str| name == domain || name.ends_with(&format!(".{domain}"));
        let own = |host: &str| format!("{host}.{}", self.domain);
        let rows = [
            (below("localhost") || below("localdomain"), "every host"),
            (name == own("api") || name == own("api-int"), "the API"),
            (below(&own("apps")), "the ingress"),
            (below("cluster.local") || below("svc") || name.contains(".svc."), "a service"),
            (name == "kubernetes" || name.starts_with("kubernetes."), "the API's service"),
        ];
        rows.iter().find(|(is_theirs, _)| *is_theirs).map(|(_, owner)| (*owner).to_owned())
    }
}

/// What to do about a node that is called otherwise than declared.
pub const NAME_FIX: &str = "a machine takes its name from /etc/hostname, else from DHCP (option 12), else from the PTR record \
 of its address: make that the declared name, then run `hostnamectl set-hostname` on the machine, remove /var/lib/kubelet/pki \
 and /var/lib/kubelet/kubeconfig, delete the Node with the wrong name, and reboot";

impl DeclaredNode {
    /// Its role, or `node` where that is not known.
    pub fn role_name(&self) -> &'static str {
        self.role.map_or("node", Role::name)
    }

    /// Whether a node of that other name is meant to be this one: the same host, without its domain or in another.
    pub fn is_called_otherwise(&self, name: &str) -> bool {
        name != self.name && name.split('.').next() == self.name.split('.').next()
    }

    /// Declared addresses that the node does not report.
    pub fn missing_ips(&self, node: &Node) -> Vec<IpAddr> {
        let has = |ip: &&IpAddr| node.internal_ips().any(|text| text.parse() == Ok(**ip));
        self.addresses.iter().filter(|ip| !has(ip)).copied().collect()
    }
}
