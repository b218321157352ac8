//! `manifests/openshift-config-secret-pull-secret.yaml`: the Secret openshift-config/pull-secret.

use serde_json::{Value, json};

use super::manifest::{Manifest, base64, fields};
use crate::graph::{Inputs, MakeError};

/// What every node logs in to registries with.
pub(super) fn pull_secret() -> Manifest {
    Manifest::new(
        "pull-secret",
        "manifests/openshift-config-secret-pull-secret.yaml",
        fields(["pullSecret"]),
        build,
    )
    .secret()
}

fn build(inputs: &Inputs<'_>) -> Result<Value, MakeError> {
    Ok(json!({
        "apiVersion": "v1",
        "data": {".dockerconfigjson": base64(inputs.cluster.config.pull_secret.expose())},
        "kind": "Secret",
        "metadata": {"name": "pull-secret", "namespace": "openshift-config"},
        "type": "kubernetes.io/dockerconfigjson",
    }))
}
