//! `openshift/openshift-install-manifests.yaml`: the ConfigMap openshift-config/openshift-install-manifests.

use serde_json::json;

use crate::object_file::ObjectFile;

/// Says which program made the manifests, and on whose behalf. Telemetry and support read it.
pub(super) fn install_manifests() -> ObjectFile {
    ObjectFile::new("install-manifests", "openshift/openshift-install-manifests.yaml", [], |_| {
        Ok(json!({
            "apiVersion": "v1",
            "data": {"invoker": "hardway", "version": concat!("hardway v", env!("CARGO_PKG_VERSION"))},
            "kind": "ConfigMap",
            "metadata": {"name": "openshift-install-manifests", "namespace": "openshift-config"},
        }))
    })
}
