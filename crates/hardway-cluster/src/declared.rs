//! The nodes that the inventory declares: a cluster is complete when they are there, not when it says so.

use std::net::IpAddr;

use hardway_assets::Cluster;
use hardway_assets::inventory::{Host, Role};

use crate::objects::{Node, Override};

/// Every machine that should become a node, and what else the user declared. Empty when there is no inventory, as in a folder of openshift-install.
#[derive(Clone, Debug, Default)]
pub struct Declared {
    /// In the order of the file.
    pub nodes: Vec<DeclaredNode>,
    /// Overrides of the ClusterVersion that the user asked for; all others end with bootstrapping.
    pub overrides: Vec<Override>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredNode {
    /// As the API will call it.
    pub name: String,
    /// Master or worker.
    pub role: Role,
    /// Its fixed addresses.
    pub ips: Vec<IpAddr>,
}

impl Declared {
    /// All hosts but the bootstrap host.
    pub fn of(cluster: &Cluster) -> Self {
        let hosts = cluster.inventory.hosts.iter().filter(|host| host.role != Role::Bootstrap);
        let node = |host: &Host| DeclaredNode {
            name: cluster.node_name(host),
            role: host.role,
            ips: host.ip.clone(),
        };
        Self { nodes: hosts.map(node).collect(), overrides: Vec::new() }
    }

    /// Those of one role.
    pub fn with_role(&self, role: Role) -> impl Iterator<Item = &DeclaredNode> {
        self.nodes.iter().filter(move |node| node.role == role)
    }

    /// Masters that must carry a control plane before the bootstrap host may go. Without an inventory, what a highly
    /// available cluster needs.
    pub fn masters_needed(&self) -> usize {
        match self.with_role(Role::Master).count() {
            1 => 1,
            _ => 2,
        }
    }
}

/// What to do about a node that is called otherwise than declared.
pub const NAME_FIX: &str = "a machine is called what /etc/hostname says, else what DHCP tells it (option 12), else what the PTR record of its address says: make that the \
                            declared name, then `hostnamectl set-hostname` it there, remove /var/lib/kubelet/pki and /var/lib/kubelet/kubeconfig, \
                            delete the Node of the wrong name, and reboot";

impl DeclaredNode {
    /// Whether a node of that other name is meant to be this one: the same host, without its domain or in another.
    pub fn is_called_otherwise(&self, name: &str) -> bool {
        name != self.name && name.split('.').next() == self.name.split('.').next()
    }

    /// Declared addresses that the node does not report.
    pub fn missing_ips(&self, node: &Node) -> Vec<IpAddr> {
        let has = |ip: &&IpAddr| node.internal_ips().any(|text| text.parse() == Ok(**ip));
        self.ips.iter().filter(|ip| !has(ip)).copied().collect()
    }
}
