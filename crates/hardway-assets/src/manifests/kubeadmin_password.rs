//! `openshift/99_kubeadmin-password-secret.yaml`: the Secret kube-system/kubeadmin.

use serde_json::{Value, json};

use super::manifest::{Manifest, base64};
use crate::graph::{Inputs, MakeError, Source};

const HASH: &str = "kubeadmin-password.hash";

/// The bcrypt hash of the first user's password. The password itself never enters the cluster.
pub(super) fn kubeadmin_password() -> Manifest {
    Manifest::new(
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
