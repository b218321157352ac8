//! Putting it into the control plane's namespace.

use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, DynamicObject, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::{Value, json};

use super::{MADE_BY, SECRET};
use crate::error::HostedError;
use crate::management::Management;

impl Management {
    /// A reference to the HostedControlPlane, if there is one: what it owns goes with it.
    ///
    /// # Errors
    /// When the API server does not say.
    pub async fn control_plane_owner(&self) -> Result<Option<Value>, HostedError> {
        let kind = GroupVersionKind::gvk("hypershift.openshift.io", "v1beta1", "HostedControlPlane");
        let resource = ApiResource::from_gvk(&kind);
        let api: Api<DynamicObject> =
            Api::namespaced_with(self.client.clone(), &self.control_plane(), &resource);
        let found = match api.get_opt(&self.cluster).await {
            // A kind that the API server does not know.
            Err(kube::Error::Api(status)) if status.code == 404 => None,
            found => found.map_err(HostedError::api("HostedControlPlane"))?,
        };
        Ok(found.map(|found| {
            json!({"apiVersion": "hypershift.openshift.io/v1beta1", "kind": "HostedControlPlane", "name": self.cluster,
                "uid": found.metadata.uid, "controller": true, "blockOwnerDeletion": true})
        }))
    }

    /// Makes the Secret. One that is there is left alone, unless `again` and hardway made it.
    ///
    /// # Errors
    /// When it is there, or the API server refuses.
    pub async fn make_secret(&self, object: &Value, again: bool) -> Result<(), HostedError> {
        let api = self.control_plane_api::<Secret>();
        let what = || format!("Secret {SECRET}");
        let mut secret: Secret = serde_json::from_value(object.clone())
            .map_err(|error| HostedError::Secret { name: SECRET.to_owned(), why: error.to_string() })?;
        let known = api.get_opt(SECRET).await.map_err(HostedError::api(what()))?;
        let Some(known) = known else {
            return api
                .create(&PostParams::default(), &secret)
                .await
                .map(drop)
                .map_err(HostedError::api(what()));
        };
        let is_ours = known.metadata.annotations.as_ref().is_some_and(|all| all.contains_key(MADE_BY));
        if !(again && is_ours) {
            return Err(HostedError::AlreadyThere(what()));
        }
        secret.metadata.resource_version = known.metadata.resource_version;
        api.replace(SECRET, &PostParams::default(), &secret).await.map(drop).map_err(HostedError::api(what()))
    }
}
