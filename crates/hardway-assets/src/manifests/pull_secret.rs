//! `manifests/openshift-config-secret-pull-secret.yaml`: the Secret openshift-config/pull-secret.

use serde_json::{Value, json};

use crate::graph::{Inputs, MakeError};
use crate::object_file::{ObjectFile, base64, fields};

/// What every node logs in to registries with.
pub(super) fn pull_secret() -> ObjectFile {
    ObjectFile::new(
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
