//! What the etcd operator has to be told while a master is replaced.
//!
//! The steps are those of OpenShift's documentation (openshift/openshift-docs, replacing an unhealthy etcd member).

use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, DeleteParams, DynamicObject, Patch, PatchParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Client, Error};
use serde_json::{Value, json};

const NAMESPACE: &str = "openshift-etcd";
const OVERRIDE: &str = "useUnsupportedUnsafeNonHANonProductionUnstableEtcd";

/// Lets the operator roll out with two members, or has it insist on three again.
///
/// # Errors
/// When the API server refuses.
pub async fn set_unsafe_etcd(client: &Client, is_unsafe: bool) -> Result<(), Error> {
    let resource = ApiResource::from_gvk_with_plural(
        &GroupVersionKind::gvk("operator.openshift.io", "v1", "Etcd"),
        "etcds",
    );
    let etcds: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
    let overrides = if is_unsafe { json!({OVERRIDE: true}) } else { Value::Null };
    let patch = Patch::Merge(json!({"spec": {"unsupportedConfigOverrides": overrides}}));
    etcds.patch("cluster", &PatchParams::default(), &patch).await.map(drop)
}

/// Deletes the certificates of a member that is gone: a machine of the same name gets new ones.
///
/// # Errors
/// When the API server refuses.
pub async fn forget_certificates(client: &Client, node: &str) -> Result<(), Error> {
    let secrets: Api<Secret> = Api::namespaced(client.clone(), NAMESPACE);
    for kind in ["etcd-peer", "etcd-serving", "etcd-serving-metrics"] {
        match secrets.delete(&format!("{kind}-{node}"), &DeleteParams::default()).await {
            Err(Error::Api(status)) if status.code == 404 => {}
            deleted => drop(deleted?),
        }
    }
    Ok(())
}
