//! HostedCluster.

use hardway_cluster::objects::Condition;
use kube::api::ObjectMeta;
use serde::{Deserialize, Serialize};

use super::node_pool::{Platform, Release};

/// A cluster whose control plane runs as pods elsewhere.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct HostedCluster {
    /// Name, annotations.
    pub metadata: ObjectMeta,
    /// What is wanted.
    #[serde(default)]
    pub spec: HostedClusterSpec,
    /// What is.
    #[serde(default)]
    pub status: HostedClusterStatus,
}

/// `spec`
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HostedClusterSpec {
    /// Where it runs.
    pub platform: Platform,
    /// Which version.
    pub release: Release,
    /// The Secret with the logins of registries, in the HostedCluster's namespace.
    pub pull_secret: SecretReference,
    /// Set at creation; without it no NodePool is looked at.
    #[serde(rename = "infraID")]
    pub infra_id: Option<String>,
    /// A time, or `true`.
    pub paused_until: Option<String>,
    /// Of pods and services.
    pub networking: Networking,
    /// Where workers and people reach the control plane.
    pub services: Vec<PublishedService>,
}

/// `spec.pullSecret`
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SecretReference {
    /// Of the Secret.
    pub name: String,
}

/// `spec.networking`
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Networking {
    /// Of pods.
    pub cluster_network: Vec<NetworkEntry>,
    /// Of services.
    pub service_network: Vec<NetworkEntry>,
}

/// One network.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct NetworkEntry {
    /// Such as 10.132.0.0/14.
    pub cidr: String,
}

/// `spec.services[]`
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PublishedService {
    /// `APIServer`, `Ignition`, …
    pub service: String,
    /// How.
    pub service_publishing_strategy: Publishing,
}

/// `spec.services[].servicePublishingStrategy`
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Publishing {
    /// `NodePort`, `Route`, `LoadBalancer`.
    pub r#type: String,
    /// With `NodePort`.
    pub node_port: Option<NodePort>,
}

/// `…nodePort`
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct NodePort {
    /// A name or an address; the certificate is for exactly this.
    pub address: String,
    /// Fixed, or drawn by the API server when absent.
    pub port: Option<i32>,
}

/// `status`
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HostedClusterStatus {
    /// `Available`, `Degraded`, …
    pub conditions: Option<Vec<Condition>>,
    /// The Secret with the administrator's kubeconfig.
    pub kubeconfig: Option<serde_json::Value>,
    /// Host and port that workers fetch their config from.
    pub ignition_endpoint: Option<String>,
}

impl HostedCluster {
    /// The address and port a service is published at, when that was fixed.
    pub fn node_port(&self, service: &str) -> Option<&NodePort> {
        let found = self.spec.services.iter().find(|one| one.service == service)?;
        found.service_publishing_strategy.node_port.as_ref()
    }

    /// Its conditions.
    pub fn conditions(&self) -> &[Condition] {
        self.status.conditions.as_deref().unwrap_or_default()
    }
}

super::resource!(HostedCluster, "hostedclusters");
