//! Namespace, Secrets, HostedCluster and its first pool.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hardway_assets::node_name;
use hardway_base::Secret;
use ipnet::IpNet;
use serde_json::{Value, json};

use super::network::{is_address, overlaps};
use super::node_pool::{self, NodePoolRequest};
use super::{RequestErrors, ServicePorts, words};
use crate::names;

/// What a cluster is made from.
#[derive(Clone, Debug)]
pub struct ClusterRequest {
    /// Its name.
    pub name: String,
    /// Of the HostedCluster; the control plane gets one of its own.
    pub namespace: String,
    /// Its names end with it.
    pub base_domain: String,
    /// A pull spec.
    pub release_image: String,
    /// Logins of registries.
    pub pull_secret: Secret,
    /// Public keys that may log in to nodes.
    pub ssh_key: Option<String>,
    /// Where workers and people reach the management cluster's nodes. The certificate is for exactly this, for ever.
    pub address: String,
    /// On those nodes.
    pub ports: ServicePorts,
    /// Of pods, in CIDR notation.
    pub cluster_network: String,
    /// Of services.
    pub service_network: String,
    /// Of workers.
    pub machine_network: Option<String>,
    /// How many of each pod of the control plane.
    pub availability: Availability,
    /// Of etcd; the default one when there is none.
    pub storage_class: Option<String>,
    /// Of etcd, such as 8Gi.
    pub storage_size: String,
    /// With validated cryptography only.
    pub fips: bool,
    /// More certificate authorities that nodes trust, in PEM.
    pub trust_bundle: Option<String>,
    /// `<name>-<5 letters>`, in the names of whatever is made outside.
    pub infra_id: String,
    /// 32 bytes that encrypt Secrets in etcd.
    pub encryption_key: Secret,
    /// Its first pool; none when pools come later.
    pub node_pool: Option<NodePoolRequest>,
}

/// How many of each pod of the control plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Availability {
    /// Three of etcd and the API, two of most others.
    HighlyAvailable,
    /// One of each.
    SingleReplica,
}

/// The objects, in the order they are made in; Secrets among them.
///
/// # Errors
/// Everything that the API, or HyperShift's operator, would refuse, at once.
pub fn objects(request: &ClusterRequest) -> Result<Vec<Value>, RequestErrors> {
    let mut errors = errors(request);
    let pool = request.node_pool.as_ref().map(node_pool::object).transpose();
    if let Err(RequestErrors(of_pool)) = &pool {
        errors.extend(of_pool.iter().filter(|error| !errors.contains(error)).cloned().collect::<Vec<_>>());
    }
    if !errors.is_empty() {
        return Err(RequestErrors(errors));
    }
    let (name, namespace) = (&request.name, &request.namespace);
    let meta = |suffix: &str| json!({"name": format!("{name}-{suffix}"), "namespace": namespace});
    let mut objects = vec![json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})];
    if let Some(bundle) = &request.trust_bundle {
        objects.push(json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "user-ca-bundle", "namespace": namespace}, "data": {"ca-bundle.crt": bundle}}));
    }
    let base64 = |bytes: &[u8]| STANDARD.encode(bytes);
    objects.push(json!({"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/dockerconfigjson",
        "metadata": meta("pull-secret"), "data": {".dockerconfigjson": base64(request.pull_secret.expose())}}));
    if let Some(key) = &request.ssh_key {
        objects.push(json!({"apiVersion": "v1", "kind": "Secret", "type": "Opaque",
            "metadata": meta("ssh-key"), "data": {"id_rsa.pub": base64(key.as_bytes())}}));
    }
    objects.push(json!({"apiVersion": "v1", "kind": "Secret", "type": "Opaque",
        "metadata": meta("etcd-encryption-key"), "data": {"key": base64(request.encryption_key.expose())}}));
    objects.push(hosted_cluster(request));
    objects.extend(pool.ok().flatten());
    Ok(objects)
}

fn hosted_cluster(request: &ClusterRequest) -> Value {
    let name = &request.name;
    let services = request.ports.rows().map(|(service, port)| {
        json!({"service": service, "servicePublishingStrategy":
            {"type": "NodePort", "nodePort": {"address": request.address, "port": port}}})
    });
    let availability = match request.availability {
        Availability::HighlyAvailable => "HighlyAvailable",
        Availability::SingleReplica => "SingleReplica",
    };
    let mut volume = json!({"size": request.storage_size});
    if let Some(class) = &request.storage_class {
        volume["storageClassName"] = json!(class);
    }
    let mut networking = json!({
        "networkType": "OVNKubernetes",
        "clusterNetwork": [{"cidr": request.cluster_network}], "serviceNetwork": [{"cidr": request.service_network}],
    });
    if let Some(network) = &request.machine_network {
        networking["machineNetwork"] = json!([{"cidr": network}]);
    }
    let mut spec = json!({
        "platform": {"type": "None"}, "release": {"image": request.release_image},
        "pullSecret": {"name": format!("{name}-pull-secret")},
        "dns": {"baseDomain": request.base_domain}, "infraID": request.infra_id, "fips": request.fips,
        "controllerAvailabilityPolicy": availability,
        "etcd": {"managementType": "Managed",
            "managed": {"storage": {"type": "PersistentVolume", "persistentVolume": volume}}},
        "networking": networking, "services": services, "configuration": {}, "capabilities": {},
        "secretEncryption": {"type": "aescbc",
            "aescbc": {"activeKey": {"name": format!("{name}-etcd-encryption-key")}}},
    });
    if request.ssh_key.is_some() {
        spec["sshKey"] = json!({"name": format!("{name}-ssh-key")});
    }
    if request.trust_bundle.is_some() {
        spec["additionalTrustBundle"] = json!({"name": "user-ca-bundle"});
    }
    json!({"apiVersion": "hypershift.openshift.io/v1beta1", "kind": "HostedCluster",
        "metadata": {"name": name, "namespace": request.namespace}, "spec": spec})
}

fn errors(request: &ClusterRequest) -> Vec<String> {
    let mut errors = Vec::new();
    for (what, name) in [("cluster", &request.name), ("namespace", &request.namespace)] {
        if !node_name::is_label(name) {
            errors.push(format!(
                "{name:?} is not a valid name of a {what}: use at most 63 lower-case letters, digits and dashes"
            ));
        }
    }
    if !node_name::is_label(&request.infra_id) || request.infra_id.len() > 27 {
        errors.push(format!(
            "{:?} is not a valid infra ID: use at most 27 lower-case letters, digits and dashes",
            request.infra_id
        ));
    }
    let control_plane = names::control_plane_namespace(&request.namespace, &request.name);
    if control_plane.len() > 63 {
        errors.push(format!(
            "the namespace of the control plane would be {control_plane}, which is longer than 63 characters"
        ));
    }
    errors.extend(words::pull_spec_error(&request.release_image));
    errors.extend(words::domain_error("the base domain", &request.base_domain));
    errors.extend(words::size_error("etcd's volumes", &request.storage_size));
    let class = request.storage_class.as_deref();
    errors.extend(class.and_then(|class| words::domain_error("the name of a storage class", class)));
    if !is_address(&request.address) {
        errors.push(format!(
            "{:?} is not an address that workers can reach: use a DNS name with a dot, or an IP address, without a port",
            request.address
        ));
    }
    let has_logins = serde_json::from_slice::<Value>(request.pull_secret.expose())
        .is_ok_and(|secret| secret["auths"].is_object());
    if !has_logins {
        errors.push("the pull secret is not JSON with `auths`".to_owned());
    }
    if request
        .ssh_key
        .as_deref()
        .is_some_and(|key| !key.starts_with("ssh-") && !key.starts_with("ecdsa-") && !key.starts_with("sk-"))
    {
        errors.push("the SSH key is not a public key".to_owned());
    }
    if request.encryption_key.expose().len() != 32 {
        errors.push("the key that encrypts Secrets must have 32 bytes".to_owned());
    }
    if request.trust_bundle.as_deref().is_some_and(|bundle| !bundle.contains("-----BEGIN CERTIFICATE-----")) {
        errors.push("the trust bundle contains no PEM certificate".to_owned());
    }
    errors.extend(request.ports.errors());
    errors.extend(network_errors(request));
    errors
}

fn network_errors(request: &ClusterRequest) -> Vec<String> {
    let mut errors = Vec::new();
    let given = [
        ("cluster network", Some(&request.cluster_network)),
        ("service network", Some(&request.service_network)),
        ("machine network", request.machine_network.as_ref()),
    ];
    let mut networks: Vec<(&str, IpNet)> = Vec::new();
    for (what, text) in given.iter().filter_map(|(what, text)| Some((*what, (*text)?))) {
        match words::network(what, text) {
            Ok(network) => networks.push((what, network)),
            Err(error) => errors.push(error.to_string()),
        }
    }
    let pods = networks.iter().find(|(what, _)| *what == "cluster network");
    errors.extend(pods.and_then(|(_, network)| words::too_small_for_nodes(*network)));
    // Every node has a proxy to the API there (openshift/hypershift `support/config/constants.go`).
    networks.push(("the nodes' own proxy to the API", IpNet::from(std::net::IpAddr::from([172, 20, 0, 1]))));
    errors.extend(overlaps(&networks));
    errors
}
