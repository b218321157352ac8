//! Command lines, configuration files and environments as tables: one row per flag, key or variable.
//!
//! From a row come the YAML that is written, the name that must be explained, and the plain upstream command line.

use std::net::IpAddr;

use serde_json::{Map, Value, json};

use crate::Cluster;
use crate::graph::{Inputs, MakeError};
use crate::release_payload::{FeatureGates, ReleasePayload, VersionContract};

/// A flag or configuration argument with its values, as one cluster has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// Without dashes.
    pub name: &'static str,
    /// More than one when the component takes a list.
    pub values: Vec<String>,
}

impl Argument {
    /// `--name=value`, once a value.
    pub fn flags(&self) -> impl Iterator<Item = String> {
        self.values.iter().map(|value| format!("--{}={value}", self.name))
    }
}

/// What rows are computed from.
pub(crate) struct Facts<'a> {
    /// The cluster.
    pub(crate) cluster: &'a Cluster,
    /// The gates of its feature set; empty where no row needs them.
    pub(crate) gates: FeatureGates,
    /// What the release promises; what the oldest does where no row asks.
    pub(crate) contract: VersionContract,
}

impl<'a> Facts<'a> {
    /// Of a component that takes no feature gates.
    pub(crate) fn new(cluster: &'a Cluster) -> Self {
        Self { cluster, gates: FeatureGates::default(), contract: VersionContract::oldest() }
    }

    /// Of a component that takes feature gates, and whose flags differ between releases.
    pub(crate) fn with_gates(cluster: &'a Cluster, release: &ReleasePayload) -> Result<Self, MakeError> {
        let contract = release.contract().map_err(|error| MakeError::Release(error.to_string()))?;
        Ok(Self { cluster, gates: crate::feature_gates::of(&cluster.config, release)?, contract })
    }

    /// Of a component whose flags differ between releases.
    pub(crate) fn with_contract(inputs: &Inputs<'a>) -> Result<Self, MakeError> {
        Ok(Self { contract: inputs.version_contract()?, ..Self::new(inputs.cluster) })
    }

    /// The name the bootstrap machine's etcd certificates carry.
    pub(crate) fn host(&self) -> String {
        self.cluster.node_name(self.cluster.bootstrap_host())
    }

    /// The service networks.
    pub(crate) fn service_networks(&self) -> Vec<String> {
        self.cluster.config.networking.service_network.iter().map(ToString::to_string).collect()
    }

    /// The pod networks.
    pub(crate) fn pod_networks(&self) -> Vec<String> {
        self.cluster.config.networking.cluster_network.iter().map(|net| net.cidr.to_string()).collect()
    }

    /// True with pod networks of both families.
    pub(crate) fn is_dual_stack(&self) -> bool {
        let networks = &self.cluster.config.networking.cluster_network;
        !self.is_ipv6_only() && networks.iter().any(|net| net.cidr.addr().is_ipv6())
    }

    /// True when no pod network is IPv4: then servers listen on IPv6.
    pub(crate) fn is_ipv6_only(&self) -> bool {
        self.cluster.config.networking.cluster_network.iter().all(|net| net.cidr.addr().is_ipv6())
    }
}

/// `Name=true` and `Name=false` of every gate, as the operators' renders pass them.
pub(crate) fn gate_flags(facts: &Facts<'_>) -> Vec<String> {
    let on = facts.gates.enabled.iter().map(|name| format!("{name}=true"));
    on.chain(facts.gates.disabled.iter().map(|name| format!("{name}=false"))).collect()
}

/// One flag or configuration argument of a component.
pub(crate) struct Flag {
    /// Without dashes.
    pub(crate) name: &'static str,
    pub(crate) values: Values,
}

/// Where a row's values come from.
pub(crate) enum Values {
    /// The same for every cluster.
    Fixed(&'static [&'static str]),
    /// Computed; the row is left out when there are none.
    Of(fn(&Facts<'_>) -> Vec<String>),
}

impl Flag {
    /// A row with one value that never differs.
    pub(crate) const fn fixed(name: &'static str, values: &'static [&'static str]) -> Self {
        Self { name, values: Values::Fixed(values) }
    }

    /// A row that depends on the cluster.
    pub(crate) const fn of(name: &'static str, values: fn(&Facts<'_>) -> Vec<String>) -> Self {
        Self { name, values: Values::Of(values) }
    }
}

/// The flags that apply, with their values.
pub(crate) fn arguments(rows: &[Flag], facts: &Facts<'_>) -> Vec<Argument> {
    rows.iter()
        .map(|row| Argument {
            name: row.name,
            values: match row.values {
                Values::Fixed(values) => values.iter().map(|value| (*value).to_owned()).collect(),
                Values::Of(values) => values(facts),
            },
        })
        .filter(|argument| !argument.values.is_empty())
        .collect()
}

/// The rows as a command line.
pub(crate) fn flags(rows: &[Flag], facts: &Facts<'_>) -> Vec<String> {
    arguments(rows, facts).iter().flat_map(Argument::flags).collect()
}

/// The rows as the argument lists of an OpenShift configuration file.
pub(crate) fn lists(rows: &[Flag], facts: &Facts<'_>) -> Value {
    let entry = |argument: Argument| (argument.name.to_owned(), json!(argument.values));
    arguments(rows, facts).into_iter().map(entry).collect::<Map<_, _>>().into()
}

/// One environment variable.
pub(crate) struct Variable {
    pub(crate) name: &'static str,
    pub(crate) value: VariableValue,
}

/// Where a variable's value comes from.
pub(crate) enum VariableValue {
    /// A field of the pod, filled in by the kubelet.
    Field(&'static str),
    /// The same for every cluster.
    Fixed(&'static str),
    /// Computed; `None` leaves the variable out.
    Of(fn(&Facts<'_>) -> Option<String>),
}

impl Variable {
    pub(crate) const fn field(name: &'static str, field: &'static str) -> Self {
        Self { name, value: VariableValue::Field(field) }
    }

    pub(crate) const fn fixed(name: &'static str, value: &'static str) -> Self {
        Self { name, value: VariableValue::Fixed(value) }
    }

    pub(crate) const fn of(name: &'static str, value: fn(&Facts<'_>) -> Option<String>) -> Self {
        Self { name, value: VariableValue::Of(value) }
    }
}

/// The variables as a container's `env`.
pub(crate) fn environment(variables: &[Variable], facts: &Facts<'_>) -> Value {
    variables
        .iter()
        .filter_map(|variable| {
            let name = variable.name;
            Some(match variable.value {
                VariableValue::Field(path) => {
                    json!({"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}})
                }
                VariableValue::Fixed(value) => json!({"name": name, "value": value}),
                VariableValue::Of(value) => json!({"name": name, "value": value(facts)?}),
            })
        })
        .collect()
}

/// One key of a configuration file that is no argument list.
pub(crate) struct Setting {
    /// From the top of the file. Names of admission plugins hold dots, so this is no dotted path.
    pub(crate) path: &'static [&'static str],
    /// Null leaves the key out.
    pub(crate) value: fn(&Facts<'_>) -> Value,
}

impl Setting {
    /// The path as it is explained and read.
    pub(crate) fn name(&self) -> String {
        self.path.join(".")
    }
}

/// The settings as a configuration file.
pub(crate) fn document(api_version: &str, kind: &str, settings: &[Setting], facts: &Facts<'_>) -> Value {
    let mut document = json!({"apiVersion": api_version, "kind": kind});
    for setting in settings {
        let value = (setting.value)(facts);
        if !value.is_null() {
            let place = setting.path.iter().fold(&mut document, |node, step| &mut node[*step]);
            *place = value;
        }
    }
    document
}

/// An address as it stands in a URL.
pub(crate) fn in_url(ip: IpAddr) -> String {
    if ip.is_ipv6() { format!("[{ip}]") } else { ip.to_string() }
}
