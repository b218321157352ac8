//! The file's content before it is known to be right.

use ipnet::IpNet;

use super::rules::Rules;
use super::values::{find, int, items, list_or_default, or_default, text};
use super::{ClusterNetwork, Empty, InstallConfig, MachineNetwork, MachinePool, OvnKubernetesConfig};
use crate::input_tables::INSTALL_CONFIG;
use crate::yaml::{Node, Value};

/// Whatever could be understood, with defaults, for the rules to judge.
pub(super) struct Draft<'n> {
    /// The file as it is written.
    pub(super) node: &'n Node,
    /// Everything but networks and pools.
    pub(super) config: InstallConfig,
    pub(super) machine_networks: Vec<Net>,
    pub(super) cluster_networks: Vec<Net>,
    pub(super) service_networks: Vec<Net>,
    pub(super) control_plane: Pool,
    pub(super) compute: Vec<Pool>,
}

/// One network of one of the three lists.
#[derive(Clone, Debug)]
pub(super) struct Net {
    /// Where it stands: `networking.machineNetwork[1]`.
    pub(super) path: String,
    /// Its number in the list.
    pub(super) index: usize,
    pub(super) cidr: IpNet,
    /// Only cluster networks have one; 0 when not given.
    pub(super) host_prefix: i64,
}

/// `controlPlane` or an element of `compute`.
pub(super) struct Pool {
    pub(super) path: String,
    pub(super) name: String,
    pub(super) replicas: i64,
    pub(super) hyperthreading: String,
    pub(super) architecture: String,
    /// Platform names found below `platform`.
    pub(super) platforms: Vec<String>,
}

impl<'n> Draft<'n> {
    pub(super) fn new(node: &'n Node, rules: &Rules) -> Self {
        let mut control_plane = Pool::read("controlPlane".to_owned(), find(node, "controlPlane"), rules);
        control_plane.name = "master".to_owned();
        let mut compute: Vec<Pool> = items(find(node, "compute"))
            .map(|(i, item)| Pool::read(format!("compute[{i}]"), Some(item), rules))
            .collect();
        if !compute.iter().any(|pool| pool.name == "worker") {
            let mut workers = Pool::read(format!("compute[{}]", compute.len()), None, rules);
            workers.name = "worker".to_owned();
            compute.push(workers);
        }
        Self {
            node,
            config: InstallConfig::without_networks_and_pools(node, rules),
            machine_networks: nets(node, "networking.machineNetwork"),
            cluster_networks: nets(node, "networking.clusterNetwork"),
            service_networks: nets(node, "networking.serviceNetwork"),
            control_plane,
            compute,
        }
    }

    /// Whether a field stands in the file with a value.
    pub(super) fn has(&self, path: &str) -> bool {
        find(self.node, path).is_some()
    }

    /// The networks of all three lists.
    pub(super) fn all_networks(&self) -> impl Iterator<Item = &Net> {
        self.machine_networks.iter().chain(&self.service_networks).chain(&self.cluster_networks)
    }

    /// The network OVN joins its routers with, where the file names one.
    pub(super) fn join_subnet(&self) -> Option<IpNet> {
        self.config.networking.ovn_kubernetes_config.as_ref().and_then(OvnKubernetesConfig::join_subnet)
    }

    /// The typed file, if the numbers fit their types. Whether it is valid is for the rules to say.
    pub(super) fn assemble(self) -> Option<InstallConfig> {
        let mut config = self.config;
        let cluster_network = self.cluster_networks.iter().map(|net| {
            Some(ClusterNetwork { cidr: net.cidr, host_prefix: u8::try_from(net.host_prefix).ok()? })
        });
        config.networking.cluster_network = cluster_network.collect::<Option<_>>()?;
        config.networking.machine_network =
            self.machine_networks.iter().map(|net| MachineNetwork { cidr: net.cidr }).collect();
        config.networking.service_network = self.service_networks.iter().map(|net| net.cidr).collect();
        config.control_plane = self.control_plane.assemble()?;
        config.compute = self.compute.into_iter().map(Pool::assemble).collect::<Option<_>>()?;
        Some(config)
    }
}

impl Pool {
    fn read(path: String, node: Option<&Node>, rules: &Rules) -> Self {
        let text = |name| node.map(|node| text(node, name)).unwrap_or_default();
        let platforms = match node.and_then(|node| find(node, "platform")).map(|platform| &platform.value) {
            Some(Value::Map(entries)) => entries
                .iter()
                .filter(|(_, value)| value.value != Value::Null)
                .map(|(key, _)| key.text.clone())
                .collect(),
            _ => Vec::new(),
        };
        let name = text("name");
        // An edge pool is refused on platform none; its default only keeps the message about replicas away.
        let replicas = if name == "edge" { "0" } else { INSTALL_CONFIG.default("compute.replicas") };
        Self {
            path,
            name,
            replicas: node
                .and_then(|node| int(node, "replicas"))
                .or_else(|| replicas.parse().ok())
                .unwrap_or_default(),
            hyperthreading: or_default(
                text("hyperthreading"),
                INSTALL_CONFIG.default("compute.hyperthreading"),
            ),
            architecture: or_default(text("architecture"), rules.default_architecture),
            platforms,
        }
    }

    fn assemble(self) -> Option<MachinePool> {
        Some(MachinePool {
            architecture: self.architecture,
            hyperthreading: self.hyperthreading,
            name: self.name,
            platform: Empty {},
            replicas: u64::try_from(self.replicas).ok()?,
        })
    }
}

fn nets(node: &Node, path: &str) -> Vec<Net> {
    items(Some(&list_or_default(node, path)))
        .filter_map(|(index, item)| {
            let cidr = match &item.value {
                Value::String(text) => text.clone(),
                _ => text(item, "cidr"),
            };
            Some(Net {
                path: format!("{path}[{index}]"),
                index,
                cidr: cidr.parse().ok()?,
                host_prefix: int(item, "hostPrefix").unwrap_or(0),
            })
        })
        .collect()
}
