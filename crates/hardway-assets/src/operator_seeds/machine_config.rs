//! What new nodes and the machine config operator need before it runs (machine-config-operator
//! `manifests/machineconfigserver`, written by `pkg/operator/bootstrap.go`).

use serde_json::{Map, Value, json};

use super::cluster_role::{Binding, Subject};
use super::seed::{self, NamespacedName, config_map_of_files};
use crate::host_identity;
use crate::object_file::ObjectFile;

pub(super) fn seeds() -> Vec<ObjectFile> {
    vec![
        NODE_BOOTSTRAPPER.seed(),
        HOSTS.seed(),
        nodes_client_ca(),
        empty_config("0000_05_config-operator_02_image.cr", "Image"),
        empty_config("0000_10_config-operator_02_node.cr", "Node"),
    ]
}

/// The identity in the first kubeconfig of machines that boot from a stock pointer may ask for a node certificate. The
/// ServiceAccount itself is made by the operator; until then the name is only that of a client certificate.
const NODE_BOOTSTRAPPER: Binding = Binding {
    file: "csr-bootstrap-role-binding",
    name: "system-bootstrap-node-bootstrapper",
    annotations: &[],
    role: "system:node-bootstrapper",
    subjects: &[Subject::ServiceAccount("openshift-machine-config-operator", "node-bootstrapper")],
};

/// A host with an identity of its own may ask for a node certificate too, and do nothing else: whether it gets one is decided
/// by the policy alone, so none of the roles that approve by themselves is bound.
const HOSTS: Binding = Binding {
    file: "host-identities-role-binding",
    name: "hardway-host-identities",
    annotations: &[],
    role: "system:node-bootstrapper",
    subjects: &[Subject::Group(host_identity::GROUP)],
};

/// What kubelets accept clients by. It must be the bundle that the bootstrap render put on nodes: another one makes
/// another rendered configuration, and every node would be rolled over to it.
fn nodes_client_ca() -> ObjectFile {
    config_map_of_files(
        "kube-apiserver-serving-ca-configmap",
        NamespacedName { namespace: "openshift-config", name: "initial-kube-apiserver-server-ca" },
        "Machine Config Operator",
        &[("ca-bundle.crt", "kube-apiserver-complete-client-ca-bundle.crt")],
    )
}

/// An empty setting of the whole cluster, as it is in the release (openshift/api `payload-command/empty-resources`), which
/// leaves one alone that exists. The machine-config-controller makes the nodes' mirrors when it sees the Image, and
/// their kernel arguments and kubelet settings when it sees the Node; its renderer waits for neither. Seen late, they
/// make a second rendered configuration: see `docs/decisions/0014-one-rendered-config.md`.
fn empty_config(file: &str, kind: &str) -> ObjectFile {
    let profiles =
        ["hypershift", "ibm-cloud-managed", "self-managed-high-availability", "single-node-developer"];
    let mut annotations: Map<String, Value> = profiles
        .iter()
        .map(|profile| (format!("include.release.openshift.io/{profile}"), "true".into()))
        .collect();
    annotations.insert("release.openshift.io/create-only".to_owned(), "true".into());
    let object = json!({
        "apiVersion": "config.openshift.io/v1",
        "kind": kind,
        "metadata": {"name": "cluster", "annotations": annotations},
        "spec": {},
    });
    seed::fixed(file, object)
}
