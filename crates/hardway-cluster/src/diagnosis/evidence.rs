//! Everything that is known about an install at one moment. Collected first, judged afterwards: probes ask nobody.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use hardway_assets::ignition::data_of;
use hardway_assets::yaml;
use jiff::Timestamp;
use serde_json::Value;

use crate::bootstrap_progress::{BootstrapReport, State};
use crate::declared::Declared;
use crate::handshake::NoAnswer;
use crate::objects::{Node, Truth};
use crate::state::ClusterState;
use crate::verify::ResolvedName;

/// What was found. What was not looked at is empty, and proves nothing.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// By the clock of this host; none for a bundle, which may be old.
    pub now: Option<Timestamp>,
    /// What should be there.
    pub declared: Declared,
    /// The cluster's domain.
    pub domain: Option<String>,
    /// The address of the API's Service, the first of the service network.
    pub service_address: Option<IpAddr>,
    /// Whether the API answers.
    pub api: Api,
    /// Its objects.
    pub state: ClusterState,
    /// MachineConfigPools.
    pub pools: Vec<Value>,
    /// Infrastructure `cluster`.
    pub infrastructure: Option<Value>,
    /// What operators take over from the bootstrap host.
    pub seeds: SeedFacts,
    /// The bootstrap host's own record.
    pub bootstrap: Option<BootstrapReport>,
    /// Journals, containers' logs, and files that a person named.
    pub logs: Vec<LogTail>,
    /// How often each node's machine fetched its config; none when nothing was served from here.
    pub fetched: Option<BTreeMap<String, usize>>,
    /// Why the approver let a request wait, by the request's name.
    pub held: BTreeMap<String, String>,
    /// What the resolver says here.
    pub names: NameFacts,
    /// Connections that were tried.
    pub ports: Vec<Port>,
    /// The API's port on each master itself; empty when nobody had a reason to ask.
    pub masters: Vec<Port>,
    /// Connections through the load balancer.
    pub shares: Vec<Share>,
    /// Nodes on which a router is ready.
    pub routers: Vec<String>,
    /// The routers' port at the address of routes.
    pub routes: Option<Port>,
    /// The host that looks.
    pub host: HostFacts,
    /// How the install went so far.
    pub install: InstallFacts,
    /// The working directory.
    pub folder: FolderFacts,
}

/// Whether the API answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Api {
    /// It does.
    Answers,
    /// Nobody asked, or the bundle has nothing of it.
    #[default]
    NotAsked,
    /// It does not, and why.
    Silent(String),
}

/// The end of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogTail {
    /// Whose.
    pub source: LogSource,
    /// A unit, a container, a file.
    pub name: String,
    /// Its last lines.
    pub lines: Vec<String>,
}

/// Whose log it is, which says until when it matters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogSource {
    /// Of the bootstrap host: until bootstrapping is complete.
    Bootstrap,
    /// Events of the cluster: until it is settled.
    Cluster,
    /// Named by a person: always.
    Given,
    /// Of a node, by name or address: until it is Ready.
    Node(String),
}

/// Objects that are created at bootstrap, for operators to go on with.
#[derive(Clone, Debug, Default)]
pub struct SeedFacts {
    /// FeatureGates; none when the API does not know the kind yet, or the bundle has no such list.
    pub feature_gates: Option<Vec<Value>>,
    /// How many authorities clients of etcd are told to trust.
    pub etcd_authorities: Option<usize>,
    /// Whether openshift-config-managed/sa-token-signing-certs was seen.
    pub has_token_keys: bool,
}

/// Names of the cluster.
#[derive(Clone, Debug, Default)]
pub struct NameFacts {
    /// api.
    pub api: Option<ResolvedName>,
    /// api-int.
    pub api_int: Option<ResolvedName>,
    /// Some name below apps.
    pub apps: Option<ResolvedName>,
    /// A name that nobody declared.
    pub stray: Option<ResolvedName>,
}

/// A connection that was tried.
#[derive(Clone, Debug)]
pub struct Port {
    /// Name or address.
    pub host: String,
    /// Port.
    pub port: u16,
    /// What became of it.
    pub open: Result<(), NoAnswer>,
}

/// The host that carries the machines, where that is the one that looks.
#[derive(Clone, Debug, Default)]
pub struct HostFacts {
    /// Virtual addresses that should be its own and are not.
    pub lost_addresses: Vec<IpAddr>,
    /// Interfaces of machines that hang on no bridge.
    pub loose_interfaces: Vec<String>,
    /// Machines of nodes that are not well, and that whoever made them says are off or gone.
    pub dead_machines: Vec<DeadMachine>,
}

/// A machine that says nothing more about itself, as whoever made it sees it.
#[derive(Clone, Debug, Default)]
pub struct DeadMachine {
    /// The host's name.
    pub host: String,
    /// Whether there is such a machine: it is off, or was deleted.
    pub exists: bool,
    /// Who says so: a program.
    pub by: String,
    /// Its state and why, in that program's words.
    pub state: Option<String>,
    /// The last lines on its console.
    pub console: Vec<String>,
    /// How many bytes of its disk are in use.
    pub disk: Option<u64>,
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

/// What of the working directory can be wrong by itself.
#[derive(Clone, Debug, Default)]
pub struct FolderFacts {
    /// Ignition configs, by path.
    pub configs: BTreeMap<String, ConfigFacts>,
    /// Certificates in them that have ended, with when.
    pub expired: Vec<(String, Timestamp)>,
    /// Whether the form of the kubeadmin password is the right one.
    pub password_fits: Option<bool>,
    /// How many bytes the platform takes as user data, if it is known to be few.
    pub largest_config: Option<usize>,
}

/// One config.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigFacts {
    /// Bytes.
    pub size: usize,
    /// Why it is no JSON.
    pub error: Option<String>,
    /// Paths that stand twice.
    pub twice: Vec<String>,
    /// Units that are enabled and do not say where.
    pub not_installable: Vec<String>,
    /// Below which key the API server that it starts keeps its objects in etcd.
    pub etcd_prefix: Option<String>,
}

impl Evidence {
    /// Every log that still matters.
    pub fn logs(&self) -> impl Iterator<Item = &LogTail> {
        self.logs.iter().filter(|log| self.matters(&log.source))
    }

    /// Bootstrapping has ended, or there is no bootstrap host to be seen.
    pub fn is_bootstrap_over(&self) -> bool {
        self.state.is_bootstrap_complete() || self.bootstrap.is_none()
    }

    /// Whether a stage of bootkube is in this state.
    pub fn is_stage(&self, name: &str, state: State) -> bool {
        let stages = self.bootstrap.iter().flat_map(|report| &report.stages);
        stages.into_iter().any(|stage| stage.name == name && stage.state == state)
    }

    /// Nodes, operators and version are all as they should be: what a log says is history.
    pub fn is_settled(&self) -> bool {
        let operators = &self.state.operators;
        let works = |operator: &crate::objects::ClusterOperator| {
            operator.truth("Available") == Truth::True && operator.truth("Degraded") != Truth::True
        };
        let is_there = |name: &str| self.state.nodes.get(name).is_some_and(Node::is_ready);
        !operators.is_empty()
            && operators.values().all(works)
            && self.declared.nodes.iter().all(|node| is_there(&node.name))
    }

    fn matters(&self, source: &LogSource) -> bool {
        match source {
            LogSource::Bootstrap => !self.state.is_bootstrap_complete(),
            LogSource::Cluster => !self.is_settled(),
            LogSource::Given => true,
            LogSource::Node(host) => !self.state.nodes.values().any(|node| {
                let is_it =
                    node.metadata.name.as_deref() == Some(host) || node.internal_ips().any(|ip| ip == host);
                is_it && node.is_ready()
            }),
        }
    }
}

impl ConfigFacts {
    /// Of the bytes of a config.
    pub fn of(bytes: &[u8]) -> Self {
        let size = bytes.len();
        let config: Value = match serde_json::from_slice(bytes) {
            Ok(config) => config,
            Err(error) => return Self { size, error: Some(error.to_string()), ..Self::default() },
        };
        let mut paths: Vec<&str> = Vec::new();
        for list in ["files", "directories", "links"] {
            let entries = config["storage"][list].as_array().into_iter().flatten();
            paths.extend(entries.filter_map(|entry| entry["path"].as_str()));
        }
        paths.sort_unstable();
        let mut twice: Vec<String> =
            paths.windows(2).filter(|two| two[0] == two[1]).map(|two| two[0].to_owned()).collect();
        twice.dedup();
        let units = config["systemd"]["units"].as_array().into_iter().flatten();
        let lost = units.filter(|unit| {
            unit["enabled"] == true
                && unit["contents"].as_str().is_some_and(|text| !text.contains("[Install]"))
        });
        let not_installable = lost.filter_map(|unit| unit["name"].as_str().map(str::to_owned)).collect();
        Self { size, error: None, twice, not_installable, etcd_prefix: etcd_prefix(&config) }
    }
}

/// Where the bootstrap host's API server is told so, and what one does that is not told.
const SERVER_CONFIG: &str = "/etc/kubernetes/bootstrap-configs/kube-apiserver-config.yaml";
const DEFAULT_PREFIX: &str = "/registry";

fn etcd_prefix(config: &Value) -> Option<String> {
    let mut files = config["storage"]["files"].as_array()?.iter();
    let file = files.find(|file| file["path"] == SERVER_CONFIG)?;
    let text = String::from_utf8(data_of(file["contents"]["source"].as_str()?)?).ok()?;
    let server = yaml::read(&text).ok()?.to_json();
    let told = server["apiServerArguments"]["etcd-prefix"][0].as_str();
    Some(told.unwrap_or(DEFAULT_PREFIX).to_owned())
}
