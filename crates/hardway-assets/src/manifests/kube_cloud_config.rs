//! `manifests/kube-cloud-config.yaml`: the Secret kube-system/kube-cloud-cfg.

use serde_json::json;

use crate::object_file::ObjectFile;

/// A cloud configuration with nothing in it: platform none has no cloud, but a reader may look for the object.
pub(super) fn kube_cloud_config() -> ObjectFile {
    ObjectFile::new("kube-cloud-config", "manifests/kube-cloud-config.yaml", [], |_| {
        Ok(json!({
            "apiVersion": "v1",
            "data": {"config": ""},
            "kind": "Secret",
            "metadata": {"name": "kube-cloud-cfg", "namespace": "kube-system"},
            "type": "Opaque",
        }))
    })
}
