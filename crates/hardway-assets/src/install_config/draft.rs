//! The file's content before it is known to be right: whatever could be understood, the rest left out.
//!
//! What could not be understood (a network that is none, a word where a number belongs) was reported by the schema
//! check; the rules look at the rest, so that one run shows everything.

use ipnet::IpNet;

use super::{
    BootstrapInPlace, Capabilities, ClusterNetwork, Empty, ImageSource, InstallConfig, MachineNetwork,
    MachinePool, Metadata, Networking, OvnIpv4, OvnKubernetesConfig, Platform, Proxy,
};
use crate::yaml::{Node, Value};
use hardway_base::Secret;

/// See the module.
pub(super) struct Draft<'n> {
    pub(super) node: &'n Node,
    pub(super) name: String,
    pub(super) base_domain: String,
    pub(super) pull_secret: String,
    pub(super) ssh_key: String,
    pub(super) trust_bundle: String,
    pub(super) trust_bundle_policy: String,
    pub(super) fips: bool,
    pub(super) network_type: String,
    pub(super) machine_networks: Vec<Net>,
    pub(super) cluster_networks: Vec<Net>,
    pub(super) service_networks: Vec<Net>,
    pub(super) ovn: Option<Ovn>,
    pub(super) control_plane: Pool,
    pub(super) compute: Vec<Pool>,
    pub(super) os_image_stream: String,
    pub(super) proxy: Option<Proxy>,
    pub(super) image_digest_sources: Vec<ImageSource>,
    pub(super) image_content_sources: Vec<ImageSource>,
    pub(super) publish: String,
    pub(super) cpu_partitioning_mode: String,
    pub(super) capabilities: Option<Capabilities>,
    pub(super) feature_set: String,
    pub(super) feature_gates: Vec<String>,
    pub(super) bootstrap_in_place: Option<BootstrapInPlace>,
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

/// `networking.ovnKubernetesConfig`.
pub(super) struct Ovn {
    pub(super) has_ipv4: bool,
    pub(super) join_subnet: Option<IpNet>,
}

/// `controlPlane` or an element of `compute`.
pub(super) struct Pool {
    pub(super) path: String,
    pub(super) name: String,
    pub(super) replicas: Option<i64>,
    pub(super) hyperthreading: String,
    pub(super) architecture: String,
    /// Platform names found below `platform`.
    pub(super) platforms: Vec<String>,
}

impl<'n> Draft<'n> {
    pub(super) fn new(node: &'n Node) -> Self {
        let networking = |name| find(node, &format!("networking.{name}"));
        Self {
            node,
            name: text(node, "metadata.name"),
            base_domain: text(node, "baseDomain"),
            pull_secret: text(node, "pullSecret"),
            ssh_key: text(node, "sshKey"),
            trust_bundle: text(node, "additionalTrustBundle"),
            trust_bundle_policy: text(node, "additionalTrustBundlePolicy"),
            fips: matches!(find(node, "fips"), Some(Node { value: Value::Bool(true), .. })),
            network_type: text(node, "networking.networkType"),
            machine_networks: nets("machineNetwork", networking("machineNetwork")),
            cluster_networks: nets("clusterNetwork", networking("clusterNetwork")),
            service_networks: nets("serviceNetwork", networking("serviceNetwork")),
            ovn: networking("ovnKubernetesConfig").map(|ovn| Ovn {
                has_ipv4: find(ovn, "ipv4").is_some(),
                join_subnet: text(ovn, "ipv4.internalJoinSubnet").parse().ok(),
            }),
            control_plane: pool("controlPlane".to_owned(), find(node, "controlPlane")),
            compute: items(find(node, "compute"))
                .map(|(i, item)| pool(format!("compute[{i}]"), Some(item)))
                .collect(),
            os_image_stream: text(node, "osImageStream"),
            proxy: find(node, "proxy").map(|proxy| Proxy {
                http_proxy: text(proxy, "httpProxy"),
                https_proxy: text(proxy, "httpsProxy"),
                no_proxy: text(proxy, "noProxy"),
            }),
            image_digest_sources: sources(find(node, "imageDigestSources")),
            image_content_sources: sources(find(node, "imageContentSources")),
            publish: text(node, "publish"),
            cpu_partitioning_mode: text(node, "cpuPartitioningMode"),
            capabilities: find(node, "capabilities").map(|capabilities| Capabilities {
                additional_enabled_capabilities: texts(find(capabilities, "additionalEnabledCapabilities")),
                baseline_capability_set: text(capabilities, "baselineCapabilitySet"),
            }),
            feature_set: text(node, "featureSet"),
            feature_gates: texts(find(node, "featureGates")),
            bootstrap_in_place: find(node, "bootstrapInPlace")
                .map(|place| BootstrapInPlace { installation_disk: text(place, "installationDisk") }),
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

    /// The typed file, if the numbers fit their types. Whether it is valid is for the rules to say.
    pub(super) fn assemble(self) -> Option<InstallConfig> {
        let cluster_network = self.cluster_networks.iter().map(|net| {
            Some(ClusterNetwork { cidr: net.cidr, host_prefix: u8::try_from(net.host_prefix).ok()? })
        });
        let networking = Networking {
            cluster_network: cluster_network.collect::<Option<_>>()?,
            machine_network: self
                .machine_networks
                .iter()
                .map(|net| MachineNetwork { cidr: net.cidr })
                .collect(),
            network_type: self.network_type,
            ovn_kubernetes_config: self.ovn.map(|ovn| OvnKubernetesConfig {
                ipv4: ovn.has_ipv4.then_some(OvnIpv4 { internal_join_subnet: ovn.join_subnet }),
            }),
            service_network: self.service_networks.iter().map(|net| net.cidr).collect(),
        };
        Some(InstallConfig {
            additional_trust_bundle: self.trust_bundle,
            additional_trust_bundle_policy: self.trust_bundle_policy,
            api_version: "v1".to_owned(),
            base_domain: self.base_domain,
            bootstrap_in_place: self.bootstrap_in_place,
            capabilities: self.capabilities,
            compute: self.compute.into_iter().map(Pool::assemble).collect::<Option<_>>()?,
            control_plane: self.control_plane.assemble()?,
            cpu_partitioning_mode: self.cpu_partitioning_mode,
            feature_gates: self.feature_gates,
            feature_set: self.feature_set,
            fips: self.fips,
            image_content_sources: self.image_content_sources,
            image_digest_sources: self.image_digest_sources,
            metadata: Metadata { creation_timestamp: (), name: self.name },
            networking,
            os_image_stream: self.os_image_stream,
            platform: Platform::default(),
            proxy: self.proxy,
            publish: self.publish,
            pull_secret: Secret::new(self.pull_secret),
            ssh_key: self.ssh_key,
        })
    }
}

impl Pool {
    fn assemble(self) -> Option<MachinePool> {
        Some(MachinePool {
            architecture: self.architecture,
            hyperthreading: self.hyperthreading,
            name: self.name,
            platform: Empty {},
            replicas: u64::try_from(self.replicas?).ok()?,
        })
    }
}

/// A node at a path without list steps. Null counts as absent, as it does for Go's readers.
pub(super) fn find<'n>(node: &'n Node, path: &str) -> Option<&'n Node> {
    let mut node = node;
    for step in path.split('.') {
        node = node.get(step)?;
    }
    (node.value != Value::Null).then_some(node)
}

/// The text at a path; empty if there is none.
pub(super) fn text(node: &Node, path: &str) -> String {
    match find(node, path).map(|node| &node.value) {
        Some(Value::String(text)) => text.clone(),
        _ => String::new(),
    }
}

fn int(node: &Node, path: &str) -> Option<i64> {
    match find(node, path)?.value {
        Value::Int(number) => Some(number),
        _ => None,
    }
}

fn items(list: Option<&Node>) -> impl Iterator<Item = (usize, &Node)> {
    let items: &[Node] = match list.map(|list| &list.value) {
        Some(Value::List(items)) => items,
        _ => &[],
    };
    items.iter().enumerate()
}

/// Places are kept even where an element is no text, so that the numbers in messages stay right.
fn texts(list: Option<&Node>) -> Vec<String> {
    items(list)
        .map(|(_, item)| match &item.value {
            Value::String(text) => text.clone(),
            _ => String::new(),
        })
        .collect()
}

fn nets(name: &str, list: Option<&Node>) -> Vec<Net> {
    items(list)
        .filter_map(|(index, item)| {
            let cidr = match &item.value {
                Value::String(text) => text.clone(),
                _ => text(item, "cidr"),
            };
            Some(Net {
                path: format!("networking.{name}[{index}]"),
                index,
                cidr: cidr.parse().ok()?,
                host_prefix: int(item, "hostPrefix").unwrap_or(0),
            })
        })
        .collect()
}

fn pool(path: String, node: Option<&Node>) -> Pool {
    let text = |name| node.map(|node| text(node, name)).unwrap_or_default();
    let platforms = match node.and_then(|node| find(node, "platform")).map(|platform| &platform.value) {
        Some(Value::Map(entries)) => {
            entries.iter().filter(|(_, v)| v.value != Value::Null).map(|(key, _)| key.text.clone()).collect()
        }
        _ => Vec::new(),
    };
    Pool {
        path,
        name: text("name"),
        replicas: node.and_then(|node| int(node, "replicas")),
        hyperthreading: text("hyperthreading"),
        architecture: text("architecture"),
        platforms,
    }
}

fn sources(list: Option<&Node>) -> Vec<ImageSource> {
    items(list)
        .map(|(_, item)| ImageSource {
            mirrors: texts(find(item, "mirrors")),
            source: text(item, "source"),
            source_policy: text(item, "sourcePolicy"),
        })
        .collect()
}
