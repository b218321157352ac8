//! The file as typed data, after up-conversion and defaults.
//!
//! Field names, order and omissions serialise to the YAML that openshift-install itself stores in the cluster as
//! `kube-system/cluster-config-v1`, because operators read it there (installer `pkg/types/installconfig.go`).

use std::fmt;

use ipnet::IpNet;
use serde::{Serialize, Serializer};

use super::rules::Rules;
use super::values::{find, is_true, items, or_default, text, text_or_default, texts};
use crate::yaml::Node;
use hardway_base::Secret;
use hardway_base::redaction::without_password;

/// A complete, defaulted install-config.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InstallConfig {
    /// PEM certificates that nodes and operators trust besides the public ones.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub additional_trust_bundle: String,
    /// When the bundle is trusted: `Proxyonly` or `Always`.
    pub additional_trust_bundle_policy: String,
    /// Always `v1` after up-conversion.
    pub api_version: String,
    /// The domain the cluster's own domain is below, as it was written: perhaps with a trailing dot.
    pub base_domain: String,
    /// Where a single node installs itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bootstrap_in_place: Option<BootstrapInPlace>,
    /// Which optional operators are installed; `None` means all of the release.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Capabilities>,
    /// Worker pools; after defaults there is always one named `worker`.
    pub compute: Vec<MachinePool>,
    /// The master pool.
    pub control_plane: MachinePool,
    /// `None` or `AllNodes`; empty means `None`.
    #[serde(rename = "cpuPartitioningMode", skip_serializing_if = "String::is_empty")]
    pub cpu_partitioning_mode: String,
    /// `Name=true|false`, only with the feature set `CustomNoUpgrade`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub feature_gates: Vec<String>,
    /// Empty for the default set.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub feature_set: String,
    /// Whether nodes run in FIPS mode.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fips: bool,
    /// Deprecated mirrors; become an ImageContentSourcePolicy.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub image_content_sources: Vec<ImageSource>,
    /// Mirrors; become an ImageDigestMirrorSet.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub image_digest_sources: Vec<ImageSource>,
    /// Holds the cluster's name.
    pub metadata: Metadata,
    /// The three networks.
    pub networking: Networking,
    /// Always none.
    pub platform: Platform,
    /// The operating system that nodes run, of those that the release has; empty where the release names none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub os_image_stream: String,
    /// The proxy that nodes reach the outside through.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy: Option<Proxy>,
    /// Always `External` on platform none.
    pub publish: String,
    /// Docker config JSON. Serialises as an empty string: what reaches the cluster never holds it.
    #[serde(serialize_with = "as_empty")]
    pub pull_secret: Secret,
    /// Public keys for the user `core`, one per line.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub ssh_key: String,
}

/// `bootstrapInPlace`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BootstrapInPlace {
    /// The disk the node is installed to, as the live system names it.
    pub installation_disk: String,
}

/// `capabilities`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Capabilities {
    /// Capabilities on top of the baseline.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub additional_enabled_capabilities: Vec<String>,
    /// `None`, `v4.11` … or `vCurrent`.
    pub baseline_capability_set: String,
}

/// `controlPlane` or an element of `compute`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MachinePool {
    /// `amd64`, `arm64`, `ppc64le` or `s390x`.
    pub architecture: String,
    /// `Enabled` or `Disabled`.
    pub hyperthreading: String,
    /// `master` or `worker`.
    pub name: String,
    /// Always empty on platform none.
    pub platform: Empty,
    /// How many machines.
    pub replicas: u64,
}

/// `imageDigestSources[]` and `imageContentSources[]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ImageSource {
    /// Where to pull from instead.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mirrors: Vec<String>,
    /// The repository that images name.
    pub source: String,
    /// Whether the source may still be asked; empty for the default.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub source_policy: String,
}

/// `metadata`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Metadata {
    /// Written as null, as Go does.
    pub creation_timestamp: (),
    /// The cluster's name.
    pub name: String,
}

/// `networking`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Networking {
    /// Pod networks.
    pub cluster_network: Vec<ClusterNetwork>,
    /// The networks the hosts are on.
    pub machine_network: Vec<MachineNetwork>,
    /// `OVNKubernetes`, or the name of a plugin that brings its own manifests.
    pub network_type: String,
    /// Overrides for OVN-Kubernetes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ovn_kubernetes_config: Option<OvnKubernetesConfig>,
    /// Service networks: one, or one of each family.
    pub service_network: Vec<IpNet>,
}

/// `networking.clusterNetwork[]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterNetwork {
    /// Addresses for pods.
    pub cidr: IpNet,
    /// The size of each node's share; 0 where another network plugin than OVN-Kubernetes has no use for it.
    #[serde(skip_serializing_if = "is_zero")]
    pub host_prefix: u8,
}

/// `networking.machineNetwork[]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MachineNetwork {
    /// Addresses of hosts.
    pub cidr: IpNet,
}

/// `networking.ovnKubernetesConfig`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OvnKubernetesConfig {
    /// Its IPv4 part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ipv4: Option<OvnIpv4>,
}

/// `networking.ovnKubernetesConfig.ipv4`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OvnIpv4 {
    /// Replaces OVN's 100.64.0.0/16.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub internal_join_subnet: Option<IpNet>,
}

/// `platform`: only none is left after validation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Platform {
    /// Has no fields.
    pub none: Empty,
}

/// `{}`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Empty {}

/// `proxy`.
#[derive(Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Proxy {
    /// For plain HTTP.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub http_proxy: String,
    /// For HTTPS.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub https_proxy: String,
    /// What to reach directly.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub no_proxy: String,
}

// By hand: a proxy's password stands in its URL.
impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxy")
            .field("http_proxy", &without_password(&self.http_proxy))
            .field("https_proxy", &without_password(&self.https_proxy))
            .field("no_proxy", &self.no_proxy)
            .finish()
    }
}

impl InstallConfig {
    /// Every field as far as it can be understood, with its default. Networks and pools are left empty: their numbers may
    /// not fit their types, so they come from the [`Draft`](super::draft::Draft) once the rules have seen them.
    pub(super) fn without_networks_and_pools(node: &Node, rules: &Rules) -> Self {
        let os_image_stream = if rules.fills_in_os_image_stream { rules.default_os_image_stream } else { "" };
        Self {
            additional_trust_bundle: text(node, "additionalTrustBundle"),
            additional_trust_bundle_policy: text_or_default(node, "additionalTrustBundlePolicy"),
            api_version: "v1".to_owned(),
            base_domain: text(node, "baseDomain"),
            bootstrap_in_place: find(node, "bootstrapInPlace").map(BootstrapInPlace::read),
            capabilities: find(node, "capabilities").map(Capabilities::read),
            compute: Vec::new(),
            control_plane: MachinePool::default(),
            cpu_partitioning_mode: text(node, "cpuPartitioningMode"),
            feature_gates: texts(find(node, "featureGates")),
            feature_set: text(node, "featureSet"),
            fips: is_true(node, "fips"),
            image_content_sources: ImageSource::list(find(node, "imageContentSources")),
            image_digest_sources: ImageSource::list(find(node, "imageDigestSources")),
            metadata: Metadata { creation_timestamp: (), name: text(node, "metadata.name") },
            networking: Networking {
                cluster_network: Vec::new(),
                machine_network: Vec::new(),
                network_type: text_or_default(node, "networking.networkType"),
                ovn_kubernetes_config: find(node, "networking.ovnKubernetesConfig")
                    .map(OvnKubernetesConfig::read),
                service_network: Vec::new(),
            },
            os_image_stream: or_default(text(node, "osImageStream"), os_image_stream),
            platform: Platform::default(),
            proxy: find(node, "proxy").map(Proxy::read),
            publish: text_or_default(node, "publish"),
            pull_secret: Secret::new(text(node, "pullSecret")),
            ssh_key: text(node, "sshKey"),
        }
    }

    /// `<name>.<base domain>`: every DNS name of the cluster is below it.
    pub fn domain(&self) -> String {
        format!("{}.{}", self.metadata.name, self.base_domain.strip_suffix('.').unwrap_or(&self.base_domain))
    }

    /// Worker replicas over all pools.
    pub fn worker_replicas(&self) -> u64 {
        self.compute.iter().fold(0, |sum, pool| sum.saturating_add(pool.replicas))
    }
}

impl BootstrapInPlace {
    fn read(node: &Node) -> Self {
        Self { installation_disk: text(node, "installationDisk") }
    }
}

impl Capabilities {
    fn read(node: &Node) -> Self {
        Self {
            additional_enabled_capabilities: texts(find(node, "additionalEnabledCapabilities")),
            baseline_capability_set: text(node, "baselineCapabilitySet"),
        }
    }
}

impl ImageSource {
    fn list(list: Option<&Node>) -> Vec<Self> {
        let read = |item: &Node| Self {
            mirrors: texts(find(item, "mirrors")),
            source: text(item, "source"),
            source_policy: text(item, "sourcePolicy"),
        };
        items(list).map(|(_, item)| read(item)).collect()
    }
}

impl OvnKubernetesConfig {
    fn read(node: &Node) -> Self {
        let join_subnet = text(node, "ipv4.internalJoinSubnet").parse().ok();
        Self { ipv4: find(node, "ipv4").map(|_| OvnIpv4 { internal_join_subnet: join_subnet }) }
    }

    /// The network OVN joins its routers with, where the file names one.
    pub(super) fn join_subnet(&self) -> Option<IpNet> {
        self.ipv4.as_ref()?.internal_join_subnet
    }
}

impl Proxy {
    fn read(node: &Node) -> Self {
        Self {
            http_proxy: text(node, "httpProxy"),
            https_proxy: text(node, "httpsProxy"),
            no_proxy: text(node, "noProxy"),
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
fn is_zero(number: &u8) -> bool {
    *number == 0
}

fn as_empty<S: Serializer>(_: &Secret, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str("")
}
