//! Which ports go to which hosts, and how a host is asked whether it is well.
//!
//! The rows are those of OpenShift's documentation for user-provisioned infrastructure (openshift/openshift-docs
//! modules/installation-load-balancing-user-infra.adoc).

use std::net::IpAddr;

use ipnet::IpNet;
use serde::Serialize;

use crate::Cluster;
use crate::inventory::{Host, Role};

/// What the bootstrap host is called as a member.
pub const BOOTSTRAP_SERVER: &str = "bootstrap";

/// A port that several hosts answer for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BalancedPort {
    /// `api`, `machine-config-server`, `ingress-https`, `ingress-http`.
    pub name: &'static str,
    /// On the virtual address and on every member.
    pub port: u16,
    /// The virtual addresses, one for each family.
    pub addresses: Vec<IpAddr>,
    /// Who answers.
    pub members: Vec<BackendMember>,
    /// How to ask whether a member is well.
    pub health: Health,
    /// Whether a client should stay with its member: sessions of web applications like it, the API must not.
    pub is_sticky: bool,
    /// Who may connect: nobody but these networks; none named: everybody.
    pub clients: Vec<IpNet>,
}

/// A host that answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BackendMember {
    /// The host's name.
    pub name: String,
    /// Where it answers.
    pub address: IpAddr,
    /// Asked only while no other is well.
    pub is_backup: bool,
}

/// A GET that is answered with 200 by a member that is well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Health {
    /// Where: not always the port that is balanced.
    pub port: u16,
    /// What.
    pub path: &'static str,
    /// Whether over TLS. Without it the API server answers 400 to every check, and no member is ever well.
    pub is_tls: bool,
}

/// How far the install is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum InstallStage {
    /// The bootstrap host answers for the API.
    Bootstrapping,
    /// It is gone, or about to go.
    Installed,
}

impl BalancedPort {
    /// All four, in the order of their importance.
    pub fn all(cluster: &Cluster, stage: InstallStage) -> Vec<Self> {
        let network = &cluster.inventory.network;
        let control_plane = control_plane(cluster, stage);
        // Routers run on masters only where there is nobody else.
        let has_workers = cluster.inventory.with_role(Role::Worker).next().is_some();
        let routers = members(cluster, if has_workers { Role::Worker } else { Role::Master });
        let router_health = Health { port: 1936, path: "/healthz/ready", is_tls: false };
        let row = |name, port, health| Self {
            name,
            port,
            addresses: network.api_vip.clone(),
            members: control_plane.clone(),
            health,
            is_sticky: false,
            clients: Vec::new(),
        };
        let ingress = |name, port| Self {
            addresses: network.ingress_vip.clone(),
            members: routers.clone(),
            is_sticky: true,
            ..row(name, port, router_health)
        };
        vec![
            // /readyz turns bad 70 s before the server stops listening; /healthz and an open port do not.
            row("api", 6443, Health { port: 6443, path: "/readyz", is_tls: true }),
            Self {
                // The configs it serves hold secrets. The addresses of all hosts, and the virtual ones, lie in these networks: the
                // rules of the inventory see to it.
                clients: cluster.config.networking.machine_network.iter().map(|net| net.cidr).collect(),
                ..row("machine-config-server", 22623, Health { port: 22623, path: "/healthz", is_tls: true })
            },
            ingress("ingress-https", 443),
            ingress("ingress-http", 80),
        ]
    }
}

fn control_plane(cluster: &Cluster, stage: InstallStage) -> Vec<BackendMember> {
    let mut found = Vec::new();
    if stage == InstallStage::Bootstrapping
        && let Some(host) = cluster.inventory.with_role(Role::Bootstrap).next()
    {
        let address = address(cluster, host);
        found.push(BackendMember { name: BOOTSTRAP_SERVER.to_owned(), address, is_backup: true });
    }
    found.extend(members(cluster, Role::Master));
    found
}

fn members(cluster: &Cluster, role: Role) -> Vec<BackendMember> {
    let member = |host: &Host| BackendMember {
        name: host.name.clone(),
        address: address(cluster, host),
        is_backup: false,
    };
    cluster.inventory.with_role(role).map(member).collect()
}

/// Of the family that the cluster prefers; a member needs only one.
fn address(cluster: &Cluster, host: &Host) -> IpAddr {
    *host.ip.iter().find(|ip| ip.is_ipv6() == cluster.is_ipv6_primary()).unwrap_or(&host.ip[0])
}
