//! The cluster: both input files, checked against each other, and the facts that follow from them.

use std::net::IpAddr;

use ipnet::IpNet;

use crate::install_config::InstallConfig;
use crate::inventory::{Host, Inventory, Role};
use crate::node_name;
use crate::secrets::Identity;

/// What is to be built. Every generator reads this and nothing further upstream.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// The checked install-config.
    pub config: InstallConfig,
    /// The checked inventory.
    pub inventory: Inventory,
    /// Names and dates that were drawn once.
    pub identity: Identity,
}

/// How many replicas a layer has (`Infrastructure.status.*Topology`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topology {
    /// Three or more.
    HighlyAvailable,
    /// One.
    SingleReplica,
}

impl Topology {
    /// The value in the Infrastructure object.
    pub fn name(self) -> &'static str {
        match self {
            Self::HighlyAvailable => "HighlyAvailable",
            Self::SingleReplica => "SingleReplica",
        }
    }
}

impl Cluster {
    /// `<name>.<base domain>`: every DNS name of the cluster is below it.
    pub fn domain(&self) -> String {
        self.config.domain()
    }

    /// The name people and tools reach the API by.
    pub fn api_host(&self) -> String {
        format!("api.{}", self.domain())
    }

    /// The name nodes reach the API and the machine-config-server by.
    pub fn api_int_host(&self) -> String {
        format!("api-int.{}", self.domain())
    }

    /// `https://api.<domain>:6443`
    pub fn api_url(&self) -> String {
        format!("https://{}:6443", self.api_host())
    }

    /// `https://api-int.<domain>:6443`
    pub fn api_int_url(&self) -> String {
        format!("https://{}:6443", self.api_int_host())
    }

    /// The address of the `kubernetes` service: the first host of the first service network.
    pub fn kubernetes_service_ip(&self) -> IpAddr {
        self.service_ip(1)
    }

    /// The n-th address of the first service network; the cluster DNS is the tenth.
    pub fn service_ip(&self, n: u32) -> IpAddr {
        match self.config.networking.service_network[0] {
            IpNet::V4(net) => IpAddr::V4((u32::from(net.network()) + n).into()),
            IpNet::V6(net) => IpAddr::V6((u128::from(net.network()) + u128::from(n)).into()),
        }
    }

    /// True when the node installs itself and there is no separate bootstrap host.
    pub fn is_bootstrap_in_place(&self) -> bool {
        self.config.bootstrap_in_place.is_some()
    }

    /// True when the control plane is one machine.
    pub fn is_single_node(&self) -> bool {
        self.config.control_plane.replicas == 1
    }

    /// `Infrastructure.status.controlPlaneTopology`: two masters count as one, because they hold no quorum without
    /// each other (installer 4.18 `manifests/topologies.go`).
    pub fn control_plane_topology(&self) -> Topology {
        if self.config.control_plane.replicas < 3 {
            Topology::SingleReplica
        } else {
            Topology::HighlyAvailable
        }
    }

    /// `Infrastructure.status.infrastructureTopology`: by workers, or by masters where there are none.
    pub fn infrastructure_topology(&self) -> Topology {
        match self.config.worker_replicas() {
            0 => self.control_plane_topology(),
            1 => Topology::SingleReplica,
            _ => Topology::HighlyAvailable,
        }
    }

    /// The machine that runs the bootstrap control plane: the bootstrap host, or the node itself when in place.
    pub fn bootstrap_host(&self) -> &Host {
        let role = if self.is_bootstrap_in_place() { Role::Master } else { Role::Bootstrap };
        self.inventory.with_role(role).next().expect("the inventory was checked to have this host")
    }

    /// The node name of a host: fully qualified, as its certificate requests and the API will say.
    pub fn node_name(&self, host: &Host) -> String {
        node_name::qualified(&host.name, &self.domain())
    }

    /// Whether the first service network is IPv6.
    pub fn is_ipv6_primary(&self) -> bool {
        matches!(self.config.networking.service_network[0], IpNet::V6(_))
    }

    /// The bootstrap host's address of the primary family, inside the machine network.
    pub fn bootstrap_ip(&self) -> IpAddr {
        let ips = &self.bootstrap_host().ip;
        *ips.iter().find(|ip| ip.is_ipv6() == self.is_ipv6_primary()).unwrap_or(&ips[0])
    }

    /// The network of this address among the machine networks.
    pub fn machine_network_of(&self, ip: IpAddr) -> Option<IpNet> {
        self.config
            .networking
            .machine_network
            .iter()
            .map(|network| network.cidr)
            .find(|cidr| cidr.contains(&ip))
    }
}
