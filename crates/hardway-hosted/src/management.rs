//! The management cluster, as far as one hosted cluster goes.

use std::path::Path;

use hardway_base::Secret;
use hardway_cluster::api_error::sentence;
use hardway_cluster::kubeconfig::{self, KubeconfigError, Source};
use k8s_openapi::api::core::v1;
use kube::Client;
use kube::api::{Api, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::Value;

use crate::error::HostedError;
use crate::names;
use crate::objects::{HostedCluster, NodePool};

/// Who writes the fields of what is applied.
pub(crate) const FIELD_MANAGER: &str = "hardway";

/// A hosted cluster, seen from the management cluster.
#[derive(Clone)]
pub struct Management {
    /// The management cluster.
    pub client: Client,
    /// Of the HostedCluster.
    pub namespace: String,
    /// Its name.
    pub cluster: String,
}

impl Management {
    /// With a kubeconfig; without one, by the environment: `KUBECONFIG`, else the pod's service account.
    ///
    /// # Errors
    /// When there is none, or it says nothing usable. The API server is not asked.
    pub async fn connect(
        kubeconfig: Option<&Path>,
        namespace: &str,
        cluster: &str,
    ) -> Result<Self, HostedError> {
        let source = kubeconfig.map_or(Source::Environment, Source::File);
        let client = kubeconfig::connect(source).await.map_err(|error| unusable(source, &error))?;
        Ok(Self { client, namespace: namespace.to_owned(), cluster: cluster.to_owned() })
    }

    /// The namespace of its control plane.
    pub fn control_plane(&self) -> String {
        names::control_plane_namespace(&self.namespace, &self.cluster)
    }

    /// Objects of a kind in the HostedCluster's namespace.
    pub fn api<K>(&self) -> Api<K>
    where
        K: kube::Resource<Scope = k8s_openapi::NamespaceResourceScope>,
        K::DynamicType: Default,
    {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    /// Objects of a kind in the control plane's namespace.
    pub fn control_plane_api<K>(&self) -> Api<K>
    where
        K: kube::Resource<Scope = k8s_openapi::NamespaceResourceScope>,
        K::DynamicType: Default,
    {
        Api::namespaced(self.client.clone(), &self.control_plane())
    }

    /// The HostedCluster, if it is there.
    ///
    /// # Errors
    /// When the API server does not say.
    pub async fn hosted_cluster(&self) -> Result<Option<HostedCluster>, HostedError> {
        let found = self.api::<HostedCluster>().get_opt(&self.cluster).await;
        found.map_err(HostedError::api(format!("HostedCluster {}", self.cluster)))
    }

    /// Its pools, by name.
    ///
    /// # Errors
    /// When the API server does not say.
    pub async fn node_pools(&self) -> Result<Vec<NodePool>, HostedError> {
        let found = self.api::<NodePool>().list(&ListParams::default()).await;
        let mut pools = found.map_err(HostedError::api("NodePools"))?.items;
        pools.retain(|pool| pool.spec.cluster_name == self.cluster);
        Ok(pools)
    }

    /// One of its pools.
    ///
    /// # Errors
    /// When the API server does not say, or there is none of that name.
    pub async fn node_pool(&self, name: &str) -> Result<NodePool, HostedError> {
        let found = self
            .api::<NodePool>()
            .get_opt(name)
            .await
            .map_err(HostedError::api(format!("NodePool {name}")))?;
        let missing = || {
            HostedError::Missing(format!(
                "NodePool {name} of cluster {} in namespace {}",
                self.cluster, self.namespace
            ))
        };
        found.filter(|pool| pool.spec.cluster_name == self.cluster).ok_or_else(missing)
    }

    /// A Secret of the control plane, if it is there.
    ///
    /// # Errors
    /// When the API server does not say.
    pub async fn secret(&self, name: &str) -> Result<Option<v1::Secret>, HostedError> {
        let found = self.control_plane_api::<v1::Secret>().get_opt(name).await;
        found.map_err(HostedError::api(format!("Secret {name} in {}", self.control_plane())))
    }

    /// The logins of registries that the HostedCluster names.
    ///
    /// # Errors
    /// When it names none, or they are not there.
    pub async fn pull_secret(&self) -> Result<Secret, HostedError> {
        let cluster = self.hosted_cluster().await?;
        let missing = |what: String| HostedError::Missing(format!("{what} in {}", self.namespace));
        let cluster = cluster.ok_or_else(|| missing(format!("HostedCluster {}", self.cluster)))?;
        let name = cluster.spec.pull_secret.name;
        let found = self.api::<v1::Secret>().get_opt(&name).await;
        let found = found.map_err(HostedError::api(format!("Secret {name}")))?;
        let value = found.and_then(|secret| secret.data?.remove(".dockerconfigjson"));
        value
            .map(|value| Secret::new(value.0))
            .ok_or_else(|| missing(format!("Secret {name} with .dockerconfigjson")))
    }

    /// The administrator's kubeconfig of the hosted cluster, written anew. Whoever it is given to uses it with kubectl, which would do all that
    /// it says: so what was looked at is what is given, and not a text in which another reader may find more.
    ///
    /// # Errors
    /// When it is not there yet, or says more than it may.
    pub async fn admin_kubeconfig(&self) -> Result<Secret, HostedError> {
        let name = names::admin_kubeconfig(&self.cluster);
        let found = self
            .api::<v1::Secret>()
            .get_opt(&name)
            .await
            .map_err(HostedError::api(format!("Secret {name}")))?;
        let value = found.and_then(|secret| secret.data).and_then(|mut data| data.remove("kubeconfig"));
        let value = value.map(|value| Secret::new(value.0)).ok_or_else(|| {
            HostedError::Missing(format!("Secret {name} with a kubeconfig in {}", self.namespace))
        })?;
        let source = Source::Secret { name: &name, text: value.expose_text() };
        let checked =
            kubeconfig::from_secret(&name, value.expose_text()).map_err(|error| unusable(source, &error))?;
        let why = "it cannot be rewritten".to_owned();
        let text = serde_json::to_string_pretty(&checked)
            .map_err(|_| HostedError::Kubeconfig { what: name.clone(), why })?;
        Ok(Secret::new(text + "\n"))
    }

    /// How the hosted cluster is reached, in the same way as [`Self::hosted_client`].
    ///
    /// # Errors
    /// When there is none, or it says nothing usable, or too much.
    pub async fn hosted_config(&self, kubeconfig: Option<&Path>) -> Result<kube::Config, HostedError> {
        let (name, text);
        let source = match kubeconfig {
            Some(path) => Source::File(path),
            None => {
                (name, text) = (names::admin_kubeconfig(&self.cluster), self.admin_kubeconfig().await?);
                Source::Secret { name: &name, text: text.expose_text() }
            }
        };
        kubeconfig::read(source).await.map_err(|error| unusable(source, &error))
    }

    /// The hosted cluster itself: by a kubeconfig of our own, or by the administrator's that HyperShift made. That one lies in a Secret
    /// which others may write, so it may say no more than it needs to.
    ///
    /// # Errors
    /// When there is none, or it says nothing usable, or too much.
    pub async fn hosted_client(&self, kubeconfig: Option<&Path>) -> Result<Client, HostedError> {
        let (name, text);
        let source = match kubeconfig {
            Some(path) => Source::File(path),
            None => {
                (name, text) = (names::admin_kubeconfig(&self.cluster), self.admin_kubeconfig().await?);
                Source::Secret { name: &name, text: text.expose_text() }
            }
        };
        kubeconfig::connect(source).await.map_err(|error| unusable(source, &error))
    }

    /// Makes objects, in order: all are applied, so that this can be done again; but a HostedCluster is made once.
    ///
    /// # Errors
    /// At the first that is refused.
    pub async fn make(&self, objects: &[Value]) -> Result<(), HostedError> {
        for object in objects {
            let (what, api) = self.dynamic(object);
            let object: DynamicObject = serde_json::from_value(object.clone())
                .map_err(|error| HostedError::Missing(format!("{what} that can be made: {error}")))?;
            let name = object.metadata.name.clone().unwrap_or_default();
            if what.starts_with("HostedCluster ") {
                match api.create(&PostParams::default(), &object).await {
                    Err(kube::Error::Api(status)) if status.code == 409 => {
                        return Err(HostedError::AlreadyThere(what));
                    }
                    made => drop(made.map_err(HostedError::api(what))?),
                }
            } else {
                let params = PatchParams::apply(FIELD_MANAGER).force();
                api.patch(&name, &params, &Patch::Apply(&object)).await.map_err(HostedError::api(what))?;
            }
        }
        Ok(())
    }

    /// Deletes one of HyperShift's objects; its operators do the rest. Whether it was there.
    ///
    /// # Errors
    /// When the API server refuses.
    pub async fn delete<K>(&self, name: &str) -> Result<bool, HostedError>
    where
        K: kube::Resource<Scope = k8s_openapi::NamespaceResourceScope, DynamicType = ()>
            + Clone
            + std::fmt::Debug
            + serde::de::DeserializeOwned,
    {
        let what = format!("{} {name}", K::kind(&()));
        match self.api::<K>().delete(name, &DeleteParams::default()).await {
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(false),
            answer => answer.map(|_| true).map_err(HostedError::api(what)),
        }
    }

    /// Which of these NodePorts other Services have. Whoever may not look at Services everywhere sees none.
    ///
    /// # Errors
    /// When they are taken, or the API server does not answer.
    pub async fn check_ports(&self, ports: &[(&str, u16)]) -> Result<(), HostedError> {
        let services: Api<v1::Service> = Api::all(self.client.clone());
        let found = match services.list(&ListParams::default()).await {
            Err(kube::Error::Api(status)) if status.code == 403 => return Ok(()),
            found => found.map_err(HostedError::api("Services"))?,
        };
        let mut taken = Vec::new();
        for service in found.items {
            let used: Vec<i32> = service
                .spec
                .iter()
                .flat_map(|spec| spec.ports.iter().flatten())
                .filter_map(|port| port.node_port)
                .collect();
            for (of, port) in ports.iter().filter(|(_, port)| used.contains(&i32::from(*port))) {
                let metadata = &service.metadata;
                let [namespace, name] =
                    [&metadata.namespace, &metadata.name].map(|part| part.clone().unwrap_or_default());
                taken.push(format!("{port} for {of} belongs to Service {namespace}/{name}"));
            }
        }
        if taken.is_empty() { Ok(()) } else { Err(HostedError::PortsTaken(taken)) }
    }

    fn dynamic(&self, object: &Value) -> (String, Api<DynamicObject>) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (version, kind) = (text(&object["apiVersion"]), text(&object["kind"]));
        let (group, version) =
            version.split_once('/').map_or(("", version.as_str()), |(group, version)| (group, version));
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, &kind));
        let what = format!("{kind} {}", text(&object["metadata"]["name"]));
        let api = match object["metadata"]["namespace"].as_str() {
            Some(namespace) => Api::namespaced_with(self.client.clone(), namespace, &resource),
            None => Api::all_with(self.client.clone(), &resource),
        };
        (what, api)
    }
}

/// Our own error says already that the kubeconfig cannot be used; only the cause is kept.
pub(crate) fn unusable(source: Source<'_>, error: &KubeconfigError) -> HostedError {
    let why = match error {
        KubeconfigError::Refused { name, flaws } => {
            return HostedError::KubeconfigRefused { secret: name.clone(), flaws: flaws.clone() };
        }
        KubeconfigError::Nowhere => return HostedError::NoKubeconfig { why: sentence(error) },
        KubeconfigError::Unusable { source, .. } => sentence(source.as_ref()),
        other => sentence(other),
    };
    HostedError::Kubeconfig { what: source.to_string(), why }
}
