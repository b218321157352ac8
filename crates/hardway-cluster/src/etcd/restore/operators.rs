//! What the cluster is told once its etcd is back.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, DynamicObject, Patch, PatchParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Client, Error};
use serde_json::json;

use crate::etcd::BackupManifest;

/// Operators whose static pods may be of another time than what is in etcd now; etcd's first.
const OPERATORS: [(&str, &str); 4] = [
    ("Etcd", "etcds"),
    ("KubeAPIServer", "kubeapiservers"),
    ("KubeControllerManager", "kubecontrollermanagers"),
    ("KubeScheduler", "kubeschedulers"),
];

/// Has the operators make their static pods anew, as OpenShift's documentation does after a restore. The same reason again changes
/// nothing.
///
/// # Errors
/// When the API server refuses.
pub async fn redeploy(client: &Client, restore: &str) -> Result<(), Error> {
    let reason = json!({"spec": {"forceRedeploymentReason": format!("hardway-etcd-restore-{restore}")}});
    for (kind, plural) in OPERATORS {
        let kind = GroupVersionKind::gvk("operator.openshift.io", "v1", kind);
        let operators: Api<DynamicObject> =
            Api::all_with(client.clone(), &ApiResource::from_gvk_with_plural(&kind, plural));
        operators.patch("cluster", &PatchParams::default(), &Patch::Merge(&reason)).await?;
    }
    Ok(())
}

/// Writes into the cluster that it was restored, and from what: so it is known to be writable, and later why objects are older than
/// their owners remember.
///
/// # Errors
/// When the API server does not take it.
pub async fn note_restore(client: &Client, restore: &str, backup: &BackupManifest) -> Result<(), Error> {
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), "kube-system");
    let note = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "hardway-etcd-restore"},
        "data": {"restore": restore, "backup": backup.made.to_string(), "revision": backup.revision.to_string()},
    });
    let params = PatchParams::apply("hardway").force();
    maps.patch("hardway-etcd-restore", &params, &Patch::Apply(&note)).await.map(drop)
}
