//! What is known of the host that looks, of the load balancer, and of how the install went so far.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use jiff::Timestamp;

/// The host that carries the machines, where that is the one that looks.
#[derive(Clone, Debug, Default)]
pub struct HostFacts {
    /// Virtual addresses that should be its own and are not.
    pub lost_addresses: Vec<IpAddr>,
    /// Interfaces of machines that hang on no bridge.
    pub loose_interfaces: Vec<String>,
}

/// Connections to one place, one after the other or at once, as a load balancer spreads them.
#[derive(Clone, Debug)]
pub struct Share {
    /// Name and port.
    pub endpoint: String,
    /// How many were tried.
    pub tried: usize,
    /// How the others ended.
    pub failed: Vec<String>,
}

/// What the journal tells of the install.
#[derive(Clone, Debug, Default)]
pub struct InstallFacts {
    /// Its first line.
    pub begun: Option<Timestamp>,
    /// The API has answered once.
    pub api_came_up: bool,
    /// The bootstrap host was taken away.
    pub is_bootstrap_removed: bool,
    /// Where nodes' machines fetched their configs from.
    pub fetched_from: BTreeMap<String, BTreeSet<IpAddr>>,
}
