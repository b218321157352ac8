//! A node that comes, goes, or is replaced.
//!
//! ```text
//! Drain           one round of evictions, and what becomes of each pod      drain.rs
//! NodeRemoval     cordon, drain, delete                                     node_removal.rs
//! Replacement     the steps of replacing a master, or why it may not be     replacement.rs
//! user_data()     what the cluster gives to machines that join              mod.rs
//! authorities()   whom machines of the cluster trust to be its API           mod.rs
//! ```

mod drain;
mod node_removal;
mod replacement;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::Api;
use kube::{Client, Error};

pub use drain::{Drain, DrainError, DrainRound, Fate, fate};
pub use node_removal::{NodeRemoval, NodeRemovalError, NodeState};
pub use replacement::{Replacement, ReplacementStep, forget_certificates, set_unsafe_etcd};

/// It has none, or does not say.
#[derive(Debug, thiserror::Error)]
pub enum UserDataMissing {
    /// The API server.
    #[error("secret {0} cannot be read")]
    Api(String, #[source] Error),
    /// Another shape.
    #[error("secret {0} has no userData")]
    Empty(String),
}

/// Who signs what the API servers present now, for all the names that they are reached by. None where the operator has not
/// written it down: then they are those that the cluster was installed with. (openshift/cluster-kube-apiserver-operator
/// `pkg/operator/targetconfigcontroller`, which gathers it; the operator's resource sync copies it there.)
///
/// # Errors
/// When the API server does not answer.
pub async fn authorities(client: &Client) -> Result<Option<Vec<u8>>, Error> {
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), "openshift-config-managed");
    let map = maps.get_opt("kube-apiserver-server-ca").await?;
    let bundle = map.and_then(|map| map.data?.remove("ca-bundle.crt"));
    Ok(bundle.filter(|bundle| !bundle.trim().is_empty()).map(String::into_bytes))
}

/// The pointer that the machine-config-operator keeps for a pool, with the present authority of its server.
///
/// # Errors
/// When there is none.
pub async fn user_data(client: &Client, pool: &str) -> Result<hardway_base::Secret, UserDataMissing> {
    let name = format!("{pool}-user-data-managed");
    let secrets: Api<Secret> = Api::namespaced(client.clone(), "openshift-machine-api");
    let secret = secrets.get(&name).await.map_err(|error| UserDataMissing::Api(name.clone(), error))?;
    let data = secret.data.and_then(|mut data| data.remove("userData"));
    data.map(|bytes| hardway_base::Secret::new(bytes.0)).ok_or(UserDataMissing::Empty(name))
}
