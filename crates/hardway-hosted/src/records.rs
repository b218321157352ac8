//! The records of a cluster's workers, for whoever wants something of them.

use hardway_assets::node_name;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{ListParams, Patch, PatchParams, PostParams};
use serde_json::json;

use crate::error::HostedError;
use crate::management::Management;
use crate::objects::NodePool;
use crate::scaling::Scaling;
use crate::worker::{CLUSTER_LABEL, WantedState, Worker};

/// How often a record is read again because somebody changed it meanwhile.
const ATTEMPTS: usize = 10;

impl Management {
    /// Every worker, by name. What cannot be read as a record is reported.
    ///
    /// # Errors
    /// When the API server does not say.
    pub async fn workers(&self) -> Result<(Vec<Worker>, Vec<String>), HostedError> {
        let own = ListParams::default().labels(&format!("{CLUSTER_LABEL}={}", self.cluster));
        let maps =
            self.api::<ConfigMap>().list(&own).await.map_err(HostedError::api("records of workers"))?;
        let (mut workers, mut strange) = (Vec::new(), Vec::new());
        for map in maps.items {
            match Worker::from_config_map(&map) {
                Ok(worker) => workers.push(worker),
                Err(error) => strange.push(error.to_string()),
            }
        }
        workers.sort_by(|a, b| a.name.cmp(&b.name));
        Ok((workers, strange))
    }

    /// Asks for a worker. One that goes under that name must be gone first.
    ///
    /// # Errors
    /// When there is one of that name, in this cluster or another, or the API server refuses.
    pub async fn plan_worker(&self, worker: &Worker) -> Result<(), HostedError> {
        let map = worker.to_config_map(&self.namespace, &self.cluster);
        match self.api::<ConfigMap>().create(&PostParams::default(), &map).await {
            Err(kube::Error::Api(status)) if status.code == 409 => {
                Err(HostedError::AlreadyThere(format!("worker {}", worker.name)))
            }
            made => made.map(drop).map_err(HostedError::api(format!("record of worker {}", worker.name))),
        }
    }

    /// Changes what is wanted of a worker; what kept it so far is looked at anew.
    ///
    /// # Errors
    /// When there is none of that name, or the API server refuses.
    pub async fn want_worker(&self, name: &str, wanted: WantedState) -> Result<Worker, HostedError> {
        let api = self.api::<ConfigMap>();
        let what = format!("record of worker {name}");
        let mut last = None;
        let missing = || HostedError::Missing(format!("worker {name} of cluster {}", self.cluster));
        if !node_name::is_node_name(name) {
            return Err(missing());
        }
        for _ in 0..ATTEMPTS {
            let found =
                api.get_opt(&format!("hardway-worker-{name}")).await.map_err(HostedError::api(&what))?;
            let is_own = |map: &ConfigMap| {
                map.metadata.labels.as_ref().and_then(|labels| labels.get(CLUSTER_LABEL))
                    == Some(&self.cluster)
            };
            let map = found.filter(is_own).ok_or_else(missing)?;
            let mut worker =
                Worker::from_config_map(&map).map_err(|error| HostedError::Missing(error.to_string()))?;
            worker.wanted = wanted;
            worker.history.trouble = None;
            let mut changed = worker.to_config_map(&self.namespace, &self.cluster);
            changed.metadata.resource_version = map.metadata.resource_version;
            match api
                .replace(&worker.record_name(), &PostParams::default(), &changed)
                .await
                .map_err(HostedError::api(&what))
            {
                Ok(_) => return Ok(worker),
                Err(error) if error.is_conflict() => last = Some(error),
                Err(error) => return Err(error),
            }
        }
        Err(last.unwrap_or_else(|| HostedError::Missing(what)))
    }

    /// Gives a pool this many workers: asks for those that it lacks, and lets those go that it has too many of.
    ///
    /// # Errors
    /// When the API server refuses. What was asked for by then stays.
    pub async fn scale(
        &self,
        node_pool: &str,
        wanted: usize,
        scaling: &Scaling,
        now: Timestamp,
    ) -> Result<(), HostedError> {
        for host in &scaling.add {
            self.plan_worker(&Worker::on(host, node_pool, now)).await?;
        }
        for name in &scaling.remove {
            self.want_worker(name, WantedState::Absent).await?;
        }
        self.want_replicas(node_pool, wanted).await
    }

    /// Writes into a NodePool how many workers are wanted; bounds of `autoScaling` go, as an API server takes only one of the two. On platform
    /// None HyperShift does not look at either.
    ///
    /// # Errors
    /// When the API server refuses.
    pub async fn want_replicas(&self, node_pool: &str, wanted: usize) -> Result<(), HostedError> {
        let patch = Patch::Merge(json!({"spec": {"replicas": wanted, "autoScaling": null}}));
        let patched = self.api::<NodePool>().patch(node_pool, &PatchParams::default(), &patch).await;
        patched.map(drop).map_err(HostedError::api(format!("NodePool {node_pool}")))
    }
}
