//! What new nodes and the machine config operator need before it runs (machine-config-operator
//! `manifests/machineconfigserver`, written by `pkg/operator/bootstrap.go`).

use super::cluster_role::{Binding, Subject};
use super::seed::{NamespacedName, config_map_of_files};
use crate::object_file::ObjectFile;

pub(super) fn seeds() -> Vec<ObjectFile> {
    vec![NODE_BOOTSTRAPPER.seed(), nodes_client_ca()]
}

/// The identity in every node's first kubeconfig may ask for a node certificate. The ServiceAccount itself is made by
/// the operator; until then the name is only that of a client certificate.
const NODE_BOOTSTRAPPER: Binding = Binding {
    file: "csr-bootstrap-role-binding",
    name: "system-bootstrap-node-bootstrapper",
    annotations: &[],
    role: "system:node-bootstrapper",
    subjects: &[Subject::ServiceAccount("openshift-machine-config-operator", "node-bootstrapper")],
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
