//! Who a worker's machine is until it is a node: a service account of the hosted cluster that is this machine's alone, and a token of it in
//! the machine's own config.
//!
//! HyperShift gives every worker the same bootstrap kubeconfig (Secret `bootstrap-kubeconfig`, which its ignition server puts into each
//! payload: openshift/hypershift `control-plane-operator/controllers/hostedcontrolplane/kas/kubeconfig.go`), and whoever has it can ask in
//! the name of any worker. So the pointer brings another, which takes its place: the same API server, and this machine's token. A token dies
//! with its account, within seconds; that is why it is none of the certificates that the hosted cluster would sign as well
//! (`docs/decisions/0020-hosted-identities.md`).

use hardway_assets::host_identity::{WORKER_GROUP, WORKER_NAMESPACE, worker_account};
use hardway_base::Secret;
use jiff::SignedDuration;
use k8s_openapi::api::core::v1::{Namespace, ServiceAccount};
use k8s_openapi::api::rbac::v1::ClusterRoleBinding;
use kube::Client;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::account_token;
use crate::error::{HostedError, unless_gone};
use crate::management::{FIELD_MANAGER, Management};
use crate::names;

/// Lets the accounts ask for node certificates; with Kubernetes' own role, as hosts of the folder's cluster have it.
const BINDING: &str = "hardway-host-identities";

/// The time that making a medium may take, before the machine is on and its window begins.
const FOR_ITS_MEDIUM: SignedDuration = SignedDuration::from_mins(30);

/// Identities of one hosted cluster's workers.
pub(crate) struct WorkerIdentities<'c> {
    pub(crate) management: &'c Management,
    pub(crate) hosted: &'c Client,
}

impl WorkerIdentities<'_> {
    /// The bootstrap kubeconfig of one machine. It can be asked for again: the account stays the same, and so what was given before is good
    /// as well, in case the machine is on already.
    ///
    /// # Errors
    /// When HyperShift's own is not there, or the hosted cluster refuses.
    pub(crate) async fn give(
        &self,
        worker: &str,
        generation: u32,
        window: SignedDuration,
    ) -> Result<Secret, HostedError> {
        let cluster = self.cluster().await?;
        self.make_room().await?;
        let account = worker_account(worker, generation);
        let what = format!("service account {WORKER_NAMESPACE}/{account}");
        let object = json!({"apiVersion": "v1", "kind": "ServiceAccount", "automountServiceAccountToken": false,
            "metadata": {"name": account, "namespace": WORKER_NAMESPACE}});
        match self.accounts().create(&PostParams::default(), &read(object)?).await {
            Err(kube::Error::Api(status)) if status.code == 409 => {}
            made => drop(made.map_err(HostedError::api(what))?),
        }
        let place = (WORKER_NAMESPACE, account.as_str());
        let (token, _) = account_token::ask(self.hosted, place, window + FOR_ITS_MEDIUM).await?;
        Ok(kubeconfig(&cluster, &token))
    }

    /// Nobody is this machine any more, whoever has its token.
    ///
    /// # Errors
    /// When the hosted cluster refuses.
    pub(crate) async fn end(&self, worker: &str, generation: u32) -> Result<(), HostedError> {
        let account = worker_account(worker, generation);
        let what = format!("service account {WORKER_NAMESPACE}/{account}");
        unless_gone(self.accounts().delete(&account, &DeleteParams::default()).await, what)
    }

    /// Address and certificate authority as HyperShift gives them to workers: a kubelet keeps both for good.
    async fn cluster(&self) -> Result<Value, HostedError> {
        let name = names::BOOTSTRAP_KUBECONFIG;
        let found = self.management.secret(name).await?;
        let value = found.and_then(|secret| secret.data?.remove("kubeconfig"));
        let value = value.ok_or_else(|| {
            HostedError::Missing(format!(
                "Secret {name} with a kubeconfig in {}",
                self.management.control_plane()
            ))
        })?;
        account_token::cluster_of(name, &Secret::new(value.0))
    }

    /// The namespace, and the one right. Whoever set either up beforehand finds it as it was.
    async fn make_room(&self) -> Result<(), HostedError> {
        let namespace =
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": WORKER_NAMESPACE}});
        let binding = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": BINDING},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "system:node-bootstrapper"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": WORKER_GROUP}]});
        let params = PatchParams::apply(FIELD_MANAGER).force();
        let namespaces: Api<Namespace> = Api::all(self.hosted.clone());
        let made = namespaces.patch(WORKER_NAMESPACE, &params, &Patch::Apply(namespace)).await;
        made.map_err(HostedError::api(format!("Namespace {WORKER_NAMESPACE}")))?;
        let bindings: Api<ClusterRoleBinding> = Api::all(self.hosted.clone());
        let made = bindings.patch(BINDING, &params, &Patch::Apply(binding)).await;
        made.map(drop).map_err(HostedError::api(format!("ClusterRoleBinding {BINDING}")))
    }

    fn accounts(&self) -> Api<ServiceAccount> {
        Api::namespaced(self.hosted.clone(), WORKER_NAMESPACE)
    }
}

/// With one cluster, one user, and a context that says so: the machine-config-daemon reads the API's address from it, too
/// (openshift/machine-config-operator `cmd/machine-config-daemon/start.go`).
fn kubeconfig(cluster: &Value, token: &Secret) -> Secret {
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "kubelet",
        "clusters": [{"name": "local", "cluster": cluster}],
        "users": [{"name": "kubelet", "user": {"token": token.expose_text()}}],
        "contexts": [{"name": "kubelet", "context": {"cluster": "local", "user": "kubelet"}}],
    });
    Secret::new(config.to_string())
}

fn read<T: DeserializeOwned>(object: Value) -> Result<T, HostedError> {
    serde_json::from_value(object).map_err(|error| HostedError::Bug(error.to_string()))
}
