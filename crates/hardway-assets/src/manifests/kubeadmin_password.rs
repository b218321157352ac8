//! `openshift/99_kubeadmin-password-secret.yaml`: the Secret kube-system/kubeadmin.

use serde_json::{Value, json};

use crate::graph::{Inputs, MakeError, Source};
use crate::object_file::{ObjectFile, base64};

const HASH: &str = "kubeadmin-password.hash";

/// The bcrypt hash of the first user's password. The password itself never enters the cluster.
pub(super) fn kubeadmin_password() -> ObjectFile {
    ObjectFile::new(
        "kubeadmin-secret",
        "openshift/99_kubeadmin-password-secret.yaml",
        [Source::Secret(HASH.to_owned())],
        build,
    )
    .secret()
}

fn build(inputs: &Inputs<'_>) -> Result<Value, MakeError> {
    Ok(json!({
        "apiVersion": "v1",
        "data": {"kubeadmin": base64(inputs.secrets.get(HASH)?.expose())},
        "kind": "Secret",
        "metadata": {"name": "kubeadmin", "namespace": "kube-system"},
    }))
}
