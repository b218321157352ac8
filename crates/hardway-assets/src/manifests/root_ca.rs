//! `manifests/kube-system-configmap-root-ca.yaml`: the ConfigMap kube-system/root-ca.

use serde_json::{Value, json};

use crate::graph::{Inputs, MakeError, Source};
use crate::object_file::ObjectFile;

/// The CA that signed the machine-config-server's certificate, for the operator that hands it to nodes.
pub(super) fn root_ca() -> ObjectFile {
    ObjectFile::new(
        "root-ca-configmap",
        "manifests/kube-system-configmap-root-ca.yaml",
        [Source::file("pki/root-ca.crt")],
        build,
    )
}

fn build(inputs: &Inputs<'_>) -> Result<Value, MakeError> {
    Ok(json!({
        "apiVersion": "v1",
        "data": {"ca.crt": inputs.text("pki/root-ca.crt")?},
        "kind": "ConfigMap",
        "metadata": {"name": "root-ca", "namespace": "kube-system"},
    }))
}
