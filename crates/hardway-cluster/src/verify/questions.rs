//! How the checks ask the API: each question has its time, and what nobody made is no error.

use std::fmt::Debug;
use std::time::Duration;

use kube::api::{Api, ListParams};
use kube::core::{ClusterResourceScope, NamespaceResourceScope};
use kube::{Client, Resource};
use serde::de::DeserializeOwned;
use tokio::time::{sleep, timeout};

use super::verifier::Verifier;
use crate::api_error::{sentence, unless_absent};
use crate::kubeconfig::without_retries;
use crate::objects::{Pod, StaticPodOperator, StaticPodStatus};

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// The API server refuses, or cannot be reached.
    #[error("{}", sentence(.0))]
    Api(Box<kube::Error>),
    /// It took too long.
    #[error("no answer within {} s", .0.as_secs())]
    Late(Duration),
}

impl From<kube::Error> for AskError {
    fn from(error: kube::Error) -> Self {
        Self::Api(Box::new(error))
    }
}

const BETWEEN_TRIES: Duration = Duration::from_millis(500);

impl Verifier {
    pub(super) async fn pods(&self, namespace: &str) -> Result<Vec<Pod>, AskError> {
        let api: Api<Pod> = Api::namespaced(self.client()?, namespace);
        self.list(&api).await
    }

    pub(super) async fn status<K>(&self) -> Result<Option<StaticPodStatus>, AskError>
    where
        K: StaticPodOperator
            + Resource<DynamicType = (), Scope = ClusterResourceScope>
            + Clone
            + Debug
            + DeserializeOwned,
    {
        let api: Api<K> = Api::all(self.client()?);
        Ok(self.optional(api.get_opt("cluster")).await?.map(|object| object.status().clone()))
    }

    pub(super) async fn all<K>(&self) -> Result<Vec<K>, AskError>
    where
        K: Resource<DynamicType = (), Scope = ClusterResourceScope> + Clone + Debug + DeserializeOwned,
    {
        let api: Api<K> = Api::all(self.client()?);
        self.list(&api).await
    }

    pub(super) async fn get<K>(&self, namespace: &str, name: &str) -> Result<Option<K>, AskError>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + Debug + DeserializeOwned,
    {
        let api: Api<K> = Api::namespaced(self.client()?, namespace);
        self.optional(api.get_opt(name)).await
    }

    /// An API server that has just started asks for another try (429, "storage is (re)initializing"). It gets it as long as there
    /// is patience.
    pub(super) async fn list<K>(&self, api: &Api<K>) -> Result<Vec<K>, AskError>
    where
        K: Clone + Debug + DeserializeOwned,
    {
        let asked = async {
            loop {
                match api.list(&ListParams::default()).await {
                    Err(kube::Error::Api(status)) if status.code == 429 => sleep(BETWEEN_TRIES).await,
                    answer => return answer,
                }
            }
        };
        Ok(self.within(asked).await?.items)
    }

    pub(super) fn client(&self) -> Result<Client, AskError> {
        without_retries(&self.config).map_err(AskError::from)
    }

    pub(super) async fn optional<T>(
        &self,
        asked: impl Future<Output = kube::Result<Option<T>>>,
    ) -> Result<Option<T>, AskError> {
        self.within(async { unless_absent(asked.await) }).await
    }

    pub(super) async fn within<T>(
        &self,
        asked: impl Future<Output = kube::Result<T>>,
    ) -> Result<T, AskError> {
        match timeout(self.patience, asked).await {
            Ok(answer) => answer.map_err(AskError::from),
            Err(_) => Err(AskError::Late(self.patience)),
        }
    }
}
