//! Kubernetes' own kinds, and Route: only what is looked at.

use std::collections::BTreeMap;

use jiff::Timestamp;
use k8s_openapi::{ClusterResourceScope, NamespaceResourceScope};
use kube::api::ObjectMeta;
use serde::{Deserialize, Serialize};

use super::condition::{Condition, Truth, find};

/// The signer of a kubelet's client certificate.
pub const CLIENT_SIGNER: &str = "kubernetes.io/kube-apiserver-client-kubelet";
/// The signer of a kubelet's serving certificate.
pub const SERVING_SIGNER: &str = "kubernetes.io/kubelet-serving";

/// Whether a kubelet could have named a request so: `csr-…` and random letters, or `node-csr-…` and a hash in base64url. The API
/// server takes whatever fits into a path, spaces, `;` and `$(…)` included, and names end up in URLs and in commands that people copy.
pub fn is_request_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    (1..=253).contains(&name.len()) && name.bytes().all(is_plain)
}

/// Node.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Node {
    /// Name, labels.
    pub metadata: ObjectMeta,
    /// What its kubelet reports.
    #[serde(default)]
    pub status: NodeStatus,
}

/// `status` of a node.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeStatus {
    /// `Ready` and others.
    pub conditions: Option<Vec<Condition>>,
    /// `InternalIP` and `Hostname`.
    pub addresses: Option<Vec<Address>>,
    /// Versions.
    pub node_info: Option<NodeInfo>,
}

/// `status.addresses[]` of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Address {
    /// `InternalIP`, `Hostname`, …
    pub r#type: String,
    /// Its value.
    pub address: String,
}

/// `status.nodeInfo`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeInfo {
    /// Such as v1.31.5.
    pub kubelet_version: String,
    /// Such as Red Hat Enterprise Linux CoreOS 418.94.
    pub os_image: String,
}

/// ConfigMap.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ConfigMap {
    /// Name, annotations.
    pub metadata: ObjectMeta,
    /// Its texts.
    #[serde(default)]
    pub data: Option<BTreeMap<String, String>>,
}

/// CertificateSigningRequest, without the request itself: who waits, not whether they may.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SigningRequest {
    /// Name.
    pub metadata: ObjectMeta,
    /// Who asks whom.
    #[serde(default)]
    pub spec: RequestSpec,
    /// What was decided.
    #[serde(default)]
    pub status: RequestStatus,
}

/// `spec` of a request.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RequestSpec {
    /// Such as `kubernetes.io/kubelet-serving`.
    pub signer_name: String,
    /// Who asks.
    pub username: Option<String>,
}

/// `status` of a request.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RequestStatus {
    /// `Approved`, `Denied`, `Failed`; none is pending.
    pub conditions: Option<Vec<Condition>>,
}

/// Pod.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Pod {
    /// Name, namespace, labels.
    pub metadata: ObjectMeta,
    /// Where it runs.
    #[serde(default)]
    pub spec: PodSpec,
    /// How it is.
    #[serde(default)]
    pub status: PodStatus,
}

/// `spec` of a pod.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodSpec {
    /// Its node, once scheduled.
    pub node_name: Option<String>,
}

/// `status` of a pod.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodStatus {
    /// `Pending`, `Running`, …
    pub phase: Option<String>,
    /// `Ready`, `PodScheduled`, …
    pub conditions: Option<Vec<Condition>>,
    /// One each.
    pub container_statuses: Option<Vec<ContainerStatus>>,
}

/// `status.containerStatuses[]` of a pod.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ContainerStatus {
    /// Name.
    pub name: String,
    /// Answers its probe.
    pub ready: bool,
    /// Since when it was created.
    pub restart_count: i64,
    /// What it is at.
    pub state: ContainerState,
}

/// `status.containerStatuses[].state` of a pod.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ContainerState {
    /// Why it does not run yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting: Option<ContainerWaiting>,
}

/// `status.containerStatuses[].state.waiting` of a pod.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ContainerWaiting {
    /// `ImagePullBackOff`, `CreateContainerConfigError`, …
    pub reason: Option<String>,
    /// In a sentence.
    pub message: Option<String>,
}

/// `route.openshift.io/v1` Route.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Route {
    /// Name.
    pub metadata: ObjectMeta,
    /// What is wanted.
    #[serde(default)]
    pub spec: RouteSpec,
    /// Who serves it.
    #[serde(default)]
    pub status: RouteStatus,
}

/// `spec` of a route.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RouteSpec {
    /// Its name.
    pub host: Option<String>,
    /// Present when served with TLS.
    pub tls: Option<serde_json::Value>,
}

/// `status` of a route.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RouteStatus {
    /// One entry a router.
    pub ingress: Option<Vec<RouteIngress>>,
}

/// `status.ingress[]` of a route.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RouteIngress {
    /// The name it is served by.
    pub host: Option<String>,
    /// `Admitted`.
    pub conditions: Option<Vec<Condition>>,
}

impl Node {
    /// The condition Ready.
    pub fn ready(&self) -> Option<&Condition> {
        find(self.status.conditions.as_deref().unwrap_or_default(), "Ready")
    }

    /// Whether it can run pods.
    pub fn is_ready(&self) -> bool {
        self.ready().is_some_and(|ready| ready.status == Truth::True)
    }

    /// Whether it carries `node-role.kubernetes.io/<role>`. Masters have two such labels.
    pub fn has_role(&self, role: &str) -> bool {
        let labels = self.metadata.labels.as_ref();
        labels.is_some_and(|labels| labels.contains_key(&format!("node-role.kubernetes.io/{role}")))
    }

    /// Its addresses of type InternalIP.
    pub fn internal_ips(&self) -> impl Iterator<Item = &str> {
        let addresses = self.status.addresses.iter().flatten();
        addresses.filter(|address| address.r#type == "InternalIP").map(|address| address.address.as_str())
    }
}

impl ConfigMap {
    /// One of its texts.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.data.as_ref()?.get(key).map(String::as_str)
    }

    /// One of its annotations.
    pub fn annotation(&self, key: &str) -> Option<&str> {
        self.metadata.annotations.as_ref()?.get(key).map(String::as_str)
    }
}

impl SigningRequest {
    /// Nobody has decided yet.
    pub fn is_pending(&self) -> bool {
        let decided =
            |condition: &Condition| matches!(condition.r#type.as_str(), "Approved" | "Denied" | "Failed");
        !self.status.conditions.iter().flatten().any(decided)
    }

    /// When it was made, by the cluster's clock.
    pub fn created(&self) -> Option<Timestamp> {
        self.metadata.creation_timestamp.as_ref().map(|time| time.0)
    }

    /// Whether it can be a kubelet's.
    pub fn is_kubelets(&self) -> bool {
        matches!(self.spec.signer_name.as_str(), CLIENT_SIGNER | SERVING_SIGNER)
            && self.metadata.name.as_deref().is_some_and(is_request_name)
    }
}

impl Pod {
    /// Running, and its condition Ready is True.
    pub fn is_ready(&self) -> bool {
        let conditions = self.status.conditions.as_deref().unwrap_or_default();
        self.status.phase.as_deref() == Some("Running")
            && find(conditions, "Ready").is_some_and(|ready| ready.status == Truth::True)
    }
}

impl Route {
    /// Where a browser finds it, once a router serves it.
    pub fn url(&self) -> Option<String> {
        let is_admitted = |ingress: &&RouteIngress| {
            let conditions = ingress.conditions.as_deref().unwrap_or_default();
            find(conditions, "Admitted").is_some_and(|admitted| admitted.status == Truth::True)
        };
        let host = self.status.ingress.iter().flatten().find(is_admitted)?.host.as_deref()?;
        let scheme = if self.spec.tls.is_some() { "https" } else { "http" };
        Some(format!("{scheme}://{host}"))
    }
}

super::resource!(Node, "Node", "", "v1", "nodes", ClusterResourceScope);
super::resource!(ConfigMap, "ConfigMap", "", "v1", "configmaps", NamespaceResourceScope);
super::resource!(Pod, "Pod", "", "v1", "pods", NamespaceResourceScope);
super::resource!(
    SigningRequest,
    "CertificateSigningRequest",
    "certificates.k8s.io",
    "v1",
    "certificatesigningrequests",
    ClusterResourceScope
);
super::resource!(Route, "Route", "route.openshift.io", "v1", "routes", NamespaceResourceScope);
