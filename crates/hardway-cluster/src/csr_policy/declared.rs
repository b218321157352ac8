//! Who is expected: what the two input files say about nodes and addresses, without any secret.

use std::net::IpAddr;

use hardway_assets::install_config::InstallConfig;
use hardway_assets::inventory::{Inventory, Role};
use ipnet::IpNet;
use serde::{Deserialize, Serialize};

/// The expected nodes of a cluster, and the names and addresses that are nobody's or somebody else's. `hardway csr declared`
/// prints it, for an approver that runs without the working folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Declared {
    /// Every name of the cluster ends with it.
    pub domain: String,
    /// Masters and workers.
    pub nodes: Vec<DeclaredNode>,
    /// Addresses of services: no host has one.
    pub service_networks: Vec<IpNet>,
    /// Addresses of pods: no host has one.
    pub pod_networks: Vec<IpNet>,
    /// Addresses of the cluster and around it that are no node's own.
    pub other_addresses: Vec<OtherAddress>,
}

/// One expected node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeclaredNode {
    /// As the API will call it.
    pub node: String,
    /// As the inventory calls it.
    pub host: String,
    /// All it may serve at.
    pub addresses: Vec<IpAddr>,
}

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
    /// From the input files. The bootstrap host is no node: its kubelet never asks.
    pub fn new(config: &InstallConfig, inventory: &Inventory) -> Self {
        let domain = config.domain();
        let nodes =
            inventory.hosts.iter().filter(|host| host.role != Role::Bootstrap).map(|host| DeclaredNode {
                node: if host.name.contains('.') {
                    host.name.clone()
                } else {
                    format!("{}.{domain}", host.name)
                },
                host: host.name.clone(),
                addresses: host.ip.clone(),
            });
        let network = &inventory.network;
        let bootstrap: Vec<IpAddr> =
            inventory.with_role(Role::Bootstrap).flat_map(|host| host.ip.clone()).collect();
        let others = [
            ("the API", &network.api_vip),
            ("the ingress", &network.ingress_vip),
            ("the gateway", &network.gateway),
            ("a name server", &network.dns),
            ("the bootstrap host", &bootstrap),
        ];
        let others = others.iter().flat_map(|(of, addresses)| {
            addresses.iter().map(|address| OtherAddress { address: *address, of: (*of).to_owned() })
        });
        Self {
            nodes: nodes.collect(),
            service_networks: config.networking.service_network.clone(),
            pod_networks: config.networking.cluster_network.iter().map(|network| network.cidr).collect(),
            other_addresses: others.collect(),
            domain,
        }
    }

    /// The node of that name.
    pub fn node(&self, name: &str) -> Option<&DeclaredNode> {
        self.nodes.iter().find(|node| node.node == name)
    }

    /// Who else has that address.
    pub(crate) fn other_owner(&self, address: IpAddr, of: &DeclaredNode) -> Option<String> {
        let node = self.nodes.iter().find(|node| node.node != of.node && node.addresses.contains(&address));
        let other = || self.other_addresses.iter().find(|other| other.address == address);
        node.map(|node| node.node.clone()).or_else(|| other().map(|other| other.of.clone()))
    }

    /// Who else has that name.
    pub(crate) fn other_name(&self, name: &str, of: &DeclaredNode) -> Option<String> {
        if let Some(node) =
            self.nodes.iter().find(|node| node.node != of.node && (node.node == name || node.host == name))
        {
            return Some(node.node.clone());
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
