//! The file as typed data, after defaults.

use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;

use serde::Serialize;

use super::ServerUrl;
use crate::day_two_settings::DayTwoSettings;
use crate::machine_provider::Provider;

/// A complete, defaulted inventory.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Inventory {
    /// Which release.
    pub release: Release,
    /// Who makes the machines, with that provider's own settings.
    pub machines: Machines,
    /// Addresses around the hosts.
    pub network: Network,
    /// Where hosts fetch what is too big to be handed to them.
    pub ignition_server: IgnitionServer,
    /// Keys and lifetimes.
    pub pki: Pki,
    /// Switches that are off unless asked for.
    pub options: Options,
    /// What the cluster is given after its install.
    #[serde(rename = "day2")]
    pub day_two: DayTwoSettings,
    /// Every machine, the bootstrap host included.
    pub hosts: Vec<Host>,
    /// What only machines of hosted clusters have: then there is no cluster here, and whoever makes machines makes nothing else.
    #[serde(skip)]
    pub hosted: Option<HostedPlaces>,
}

/// Where the machines of hosted clusters are put.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostedPlaces {
    /// By the name of the host.
    pub zones: BTreeMap<String, String>,
}

/// `release`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Release {
    /// A pull spec by tag or digest, a word that is resolved to one, or `sample` for the embedded made-up release.
    pub image: String,
    /// Where the graph of updates is, if not at the public service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub graph: Option<String>,
    /// Where OKD's releases are, if not in their own repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
}

/// `machines`.
#[derive(Clone, PartialEq, Serialize)]
pub struct Machines {
    /// Who makes them.
    pub provider: Provider,
    /// The provider's own settings, checked by the provider.
    pub settings: serde_json::Value,
}

// By hand: logins of management controllers and hypervisors stand in the settings.
impl fmt::Debug for Machines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Machines").field("provider", &self.provider).finish_non_exhaustive()
    }
}

/// `network`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Network {
    /// Default route of the hosts, one per family.
    pub gateway: Vec<IpAddr>,
    /// Name servers of the hosts.
    pub dns: Vec<IpAddr>,
    /// Where api and api-int point.
    #[serde(rename = "apiVIP")]
    pub api_vip: Vec<IpAddr>,
    /// Where *.apps points.
    #[serde(rename = "ingressVIP")]
    pub ingress_vip: Vec<IpAddr>,
    /// Who balances the API and the routes.
    pub load_balancer: Balancer,
}

/// `network.loadBalancer`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Balancer {
    /// One that is there, and that somebody else runs.
    External,
    /// A HAProxy that build-infra brings.
    Haproxy,
}

impl Balancer {
    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "external" => Some(Self::External),
            "haproxy" => Some(Self::Haproxy),
            _ => None,
        }
    }
}

/// `ignitionServer`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IgnitionServer {
    /// Without one, no host gets a pointer config of its own.
    pub url: Option<ServerUrl>,
}

/// `pki`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Pki {
    /// Of signers and leaves; service-account keys are always RSA.
    pub key_algorithm: KeyAlgorithm,
    /// Validity, in hours, of what openshift-install makes valid for one day.
    pub short_lived_hours: u32,
}

/// `pki.keyAlgorithm`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum KeyAlgorithm {
    /// What openshift-install uses.
    #[serde(rename = "RSA-2048")]
    Rsa2048,
    /// Smaller and a thousand times faster to make.
    #[serde(rename = "ECDSA-P256")]
    EcdsaP256,
}

/// `options`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Options {
    /// The `networkType` that is meant although the release has no such plugin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_plugin: Option<String>,
}

/// `hosts[]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Host {
    /// Short name; the node is called `<name>.<cluster domain>` unless it already holds a dot.
    pub name: String,
    /// What the machine becomes.
    pub role: Role,
    /// Fixed addresses, the primary family first.
    pub ip: Vec<IpAddr>,
    /// The network card that gets the addresses.
    pub mac: Option<String>,
    /// Its name where the MAC is not known.
    pub interface: Option<String>,
    /// Where the OS goes.
    pub install_disk: Option<String>,
    /// Whether it boots with the pointer of its pool, `master.ign` or `worker.ign`, and so without an identity of its own.
    pub stock_pointer: bool,
    /// For providers that make machines.
    pub cpus: Option<u32>,
    /// For providers that make machines.
    #[serde(rename = "memoryGiB")]
    pub memory_gib: Option<u32>,
    /// For providers that make machines.
    #[serde(rename = "diskGiB")]
    pub disk_gib: Option<u32>,
}

/// `hosts[].role`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Runs the temporary control plane.
    Bootstrap,
    /// Runs the control plane.
    Master,
    /// Runs workloads.
    Worker,
}

impl Role {
    /// The word in files and URLs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bootstrap => "bootstrap",
            Self::Master => "master",
            Self::Worker => "worker",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Inventory {
    /// Whether its machines are workers of hosted clusters, and there is no cluster of its own.
    pub fn is_hosted(&self) -> bool {
        self.hosted.is_some()
    }

    /// The hosts of one role, in file order.
    pub fn with_role(&self, role: Role) -> impl Iterator<Item = &Host> {
        self.hosts.iter().filter(move |host| host.role == role)
    }
}
