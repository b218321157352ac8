//! A token of a service account of the hosted cluster that lives for an hour, kept fresh in a folder: what the controller's pod logs in with.
//!
//! A pod of the management cluster has an identity there, and none in the hosted cluster. Whoever has HyperShift's administrator's
//! kubeconfig can ask the hosted cluster for tokens of any account; so that is a container of its own, which has the kubeconfig and does
//! nothing else, and the controller beside it has the token and not the kubeconfig. HyperShift's own components do the same
//! (openshift/hypershift `token-minter`).

use std::path::{Path, PathBuf};

use fs_err as fs;
use hardway_base::Secret;
use hardway_base::files;
use hardway_cluster::kubeconfig::{self, Source};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::ServiceAccount;
use kube::Client;
use kube::api::{Api, PostParams};
use serde_json::{Value, json};

use crate::error::HostedError;
use crate::management::unusable;

/// Keeps a token of one account fresh.
pub struct AccountToken {
    client: Client,
    /// Address and certificate authority of the hosted cluster.
    cluster: Value,
    namespace: String,
    account: String,
    folder: PathBuf,
    lifetime: SignedDuration,
}

impl AccountToken {
    /// For a service account, by the administrator's kubeconfig: the content of a Secret, so it is read as a stranger's. The files are for this
    /// folder.
    ///
    /// # Errors
    /// When the kubeconfig says nothing usable, or more than it may.
    pub async fn new(
        (name, admin): (&str, &Secret),
        (namespace, account): (&str, &str),
        folder: &Path,
        lifetime: SignedDuration,
    ) -> Result<Self, HostedError> {
        let cluster = cluster_of(name, admin)?;
        let source = Source::Secret { name, text: admin.expose_text() };
        let client = kubeconfig::connect(source).await.map_err(|error| unusable(source, &error))?;
        let (namespace, account) = (namespace.to_owned(), account.to_owned());
        Ok(Self { client, cluster, namespace, account, folder: folder.to_owned(), lifetime })
    }

    /// Asks for a token, and writes it down with the kubeconfig that names it. How long until the next should be asked for.
    ///
    /// # Errors
    /// When the hosted cluster refuses, or a file cannot be written; then the last token stays.
    pub async fn renew(&self, now: Timestamp) -> Result<SignedDuration, HostedError> {
        let (token, until) = ask(&self.client, (&self.namespace, &self.account), self.lifetime).await?;
        self.write(&token)?;
        Ok(next(until.duration_since(now)))
    }

    /// The token first: whoever finds the kubeconfig finds what it names.
    fn write(&self, token: &Secret) -> Result<(), HostedError> {
        let (path, kubeconfig) = (self.folder.join("token"), self.folder.join("kubeconfig"));
        let config = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "hosted",
            "clusters": [{"name": "hosted", "cluster": self.cluster}],
            "users": [{"name": "hosted", "user": {"tokenFile": path}}],
            "contexts": [{"name": "hosted", "context": {"cluster": "hosted", "user": "hosted"}}],
        });
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| HostedError::Pointer { path, source }
        };
        fs::create_dir_all(&self.folder).map_err(failed(&self.folder))?;
        files::replace(&path, 0o600, token.expose()).map_err(failed(&path))?;
        files::replace(&kubeconfig, 0o600, config.to_string().as_bytes()).map_err(failed(&kubeconfig))
    }
}

/// A token of a service account, and until when it is good.
pub(crate) async fn ask(
    client: &Client,
    (namespace, account): (&str, &str),
    lifetime: SignedDuration,
) -> Result<(Secret, Timestamp), HostedError> {
    let what = format!("token of service account {namespace}/{account}");
    let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), namespace);
    // An API server gives none for less than ten minutes.
    let seconds = lifetime.as_secs().max(600);
    let spec = TokenRequestSpec { expiration_seconds: Some(seconds), ..Default::default() };
    let request = TokenRequest { spec, ..TokenRequest::default() };
    let given = accounts.create_token_request(account, &PostParams::default(), &request).await;
    let given = given.map_err(HostedError::api(&what))?.status;
    let given = given.ok_or_else(|| HostedError::Missing(what))?;
    Ok((Secret::new(given.token), given.expiration_timestamp.0))
}

/// Address and certificate authority of the cluster in a kubeconfig from a Secret, and nothing else of it.
pub(crate) fn cluster_of(name: &str, kubeconfig: &Secret) -> Result<Value, HostedError> {
    let text = kubeconfig.expose_text();
    let failed = |error| unusable(Source::Secret { name, text }, &error);
    let config = kubeconfig::from_secret(name, text).map_err(failed)?;
    Ok(json!(config.clusters.into_iter().next().and_then(|named| named.cluster)))
}

/// After two thirds of its life: what is left is for an API server that is away.
fn next(lifetime: SignedDuration) -> SignedDuration {
    (lifetime * 2 / 3).max(SignedDuration::from_secs(10))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_is_asked_for_long_before_the_last_is_over() {
        assert_eq!(next(SignedDuration::from_mins(60)), SignedDuration::from_mins(40));
        assert_eq!(
            next(SignedDuration::from_secs(-5)),
            SignedDuration::from_secs(10),
            "a clock that is ahead"
        );
    }
}
