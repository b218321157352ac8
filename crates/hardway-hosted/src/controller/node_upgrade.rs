//! Asking the machine-config-daemon of a node for another config, and which image that daemon is of.

use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Pod};
use kube::api::{Api, Patch, PatchParams, PostParams};
use serde_json::json;

use super::executor::{StepExecutor, Task, blocking};
use crate::error::HostedError;
use crate::names;
use crate::node_view::DESIRED_CONFIG;
use crate::objects::NodePool;
use crate::token::TokenSecret;
use crate::upgrade;
use crate::worker::{Trouble, TroubleReason, Worker};

impl StepExecutor {
    pub(super) async fn upgrade(
        &self,
        task: &Task,
        worker: &Worker,
        config_hash: &str,
    ) -> Result<(), HostedError> {
        let Some(image) = self.daemon_image(&task.pool).await? else {
            let message =
                "the image of the machine-config-operator in the cluster's release is unknown".to_owned();
            return self
                .change(task, |worker, since| {
                    worker.history.trouble =
                        Some(Trouble { reason: TroubleReason::NoDaemonImage, message, since });
                })
                .await;
        };
        let secret = names::token_secret(&worker.node_pool, config_hash);
        let token = self.controller.management.secret(&secret).await?.as_ref().and_then(TokenSecret::read);
        let payload = token.and_then(|token| token.payload);
        let payload = payload.ok_or_else(|| HostedError::Missing(format!("config in Secret {secret}")))?;
        let hosted = self.controller.hosted.clone();
        let apply = PatchParams::apply("hardway").force();
        let namespace = upgrade::namespace(&worker.node_pool);
        let name = names::upgrade(&worker.node_pool);
        let namespaces: Api<Namespace> = Api::all(hosted);
        namespaces
            .patch(&name, &apply, &Patch::Apply(&namespace))
            .await
            .map_err(HostedError::api(format!("Namespace {name}")))?;
        let map = upgrade::config_map(&worker.node_pool, config_hash, &payload);
        let maps: Api<ConfigMap> = self.upgrade_api(&worker.node_pool);
        maps.patch(&name, &apply, &Patch::Apply(&map))
            .await
            .map_err(HostedError::api(format!("ConfigMap {name}")))?;
        // The record first: what is underway must count as away, whatever happens to this process.
        if *worker != task.worker {
            self.write(task, worker).await?;
        }
        self.patch_node(&worker.name, &json!({"metadata": {"annotations": {DESIRED_CONFIG: config_hash}}}))
            .await?;
        let pods: Api<Pod> = self.upgrade_api(&worker.node_pool);
        let pod = upgrade::daemon_pod(&worker.node_pool, &worker.name, &image);
        match pods.create(&PostParams::default(), &pod).await {
            Err(kube::Error::Api(status)) if status.code == 409 => Ok(()),
            answer => answer
                .map(drop)
                .map_err(HostedError::api(format!("pod of the machine-config-daemon on {}", worker.name))),
        }
    }

    /// What a person named, or what is in the release that the pool wants. Nothing where nobody can look into releases.
    async fn daemon_image(&self, pool: &NodePool) -> Result<Option<String>, HostedError> {
        let controller = &self.controller;
        if controller.daemon_image.is_some() {
            return Ok(controller.daemon_image.clone());
        }
        let Some(releases) = controller.releases.clone() else { return Ok(None) };
        let logins = controller.management.pull_secret().await?;
        let release = pool.spec.release.image.clone();
        let arch = pool.spec.arch.clone().unwrap_or_else(|| "amd64".to_owned());
        let found = blocking(move || {
            let found = releases.daemon_image(&release, &arch, &logins);
            found.map_err(|why| HostedError::Release { image: release, why })
        });
        found.await.map(Some)
    }

    pub(super) fn upgrade_api<K>(&self, node_pool: &str) -> Api<K>
    where
        K: kube::Resource<Scope = k8s_openapi::NamespaceResourceScope, DynamicType = ()>,
    {
        Api::namespaced(self.controller.hosted.clone(), &names::upgrade(node_pool))
    }
}
