//! A pool gets as many workers as its NodePool says.

use std::collections::BTreeMap;
use std::sync::Arc;

use hardway_cluster::node_change::{Fate, fate};
use hardway_cluster::objects::Truth;
use hardway_journal::{Entry, HostedStep};
use k8s_openapi::api::core::v1::Pod;
use kube::api::{Api, DynamicObject, ListParams, Patch, PatchParams};
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::{Value, json};

use super::executor::{StepExecutor, blocking};
use crate::error::HostedError;
use crate::objects::NodePool;
use crate::pool_hosts::PlacedHost;
use crate::pool_size::{CONDITION, PoolCondition, PoolSize, pool_condition, pool_size};
use crate::reconcile::{PoolView, StepKind};
use crate::scaling::{RemovalCost, Scaling, present, scaling};
use crate::worker::{WantedState, Worker};

/// Pods are asked for in pages: a cluster may have many.
const PAGE: u32 = 500;

/// A pool at one moment, and the hosts that it has.
pub(super) struct PoolWish {
    pub(super) view: PoolView,
    /// Of every pool: a name is taken once.
    pub(super) workers: Vec<Worker>,
    pub(super) hosts: Vec<PlacedHost>,
}

impl PoolWish {
    /// Whether there is anything to do or to tell.
    pub(super) fn is_due(&self) -> bool {
        matches!(pool_size(&self.view), PoolSize::Grow(_) | PoolSize::Shrink(_)) && self.is_possible()
            || !is_told(&self.view.pool, &self.condition())
    }

    /// Wanting more machines than there are is told, and not tried again and again.
    fn is_possible(&self) -> bool {
        let is_free = |host: &PlacedHost| self.workers.iter().all(|worker| worker.name != host.name);
        !matches!(pool_size(&self.view), PoolSize::Grow(_)) || self.hosts.iter().any(is_free)
    }

    fn condition(&self) -> PoolCondition {
        pool_condition(&self.view, &self.hosts)
    }

    fn name(&self) -> &str {
        self.view.pool.metadata.name.as_deref().unwrap_or_default()
    }
}

impl StepExecutor {
    /// One round for a pool: workers are asked for or let go, and the NodePool is told how it stands. Both are read anew: a watch may be
    /// behind what the round before has written, and a worker too many would be let go.
    pub(super) async fn resize(&self, mut wish: PoolWish) -> Result<(), HostedError> {
        let name = wish.name().to_owned();
        let pool = name.as_str();
        let management = &self.controller.management;
        wish.view.pool = management.node_pool(pool).await?;
        (wish.workers, _) = management.workers().await?;
        wish.view.workers = wish.workers.iter().filter(|worker| worker.node_pool == pool).cloned().collect();
        let scaling = match pool_size(&wish.view) {
            PoolSize::Grow(wanted) => {
                // As many as there are hosts for; the condition says that they are too few.
                let most = present(&wish.workers, pool).len()
                    + wish
                        .hosts
                        .iter()
                        .filter(|host| wish.workers.iter().all(|one| one.name != host.name))
                        .count();
                scaling(&wish.workers, pool, &wish.hosts, wanted.min(most), &BTreeMap::new())
            }
            PoolSize::Shrink(wanted) => {
                let costs = self.costs(&wish.view).await?;
                scaling(&wish.workers, pool, &wish.hosts, wanted, &costs)
            }
            PoolSize::Left(_) | PoolSize::Right => Ok(Scaling::default()),
        };
        let Scaling { add, remove } = scaling.unwrap_or_default();
        for host in &add {
            let worker = Worker::on(host, pool, (self.controller.now)());
            let asked = self.controller.management.plan_worker(&worker).await;
            self.written(&host.name, StepKind::Request, asked).await?;
        }
        for name in &remove {
            let asked = self.controller.management.want_worker(name, WantedState::Absent).await;
            self.written(name, StepKind::Retire, asked.map(drop)).await?;
        }
        let condition = wish.condition();
        match add.is_empty() && remove.is_empty() && !is_told(&wish.view.pool, &condition) {
            true => self.tell(pool, &condition).await,
            // The next look sees the new records, and tells of them.
            false => Ok(()),
        }
    }

    /// In the journal, whatever came of it.
    async fn written(
        &self,
        worker: &str,
        step: StepKind,
        result: Result<(), HostedError>,
    ) -> Result<(), HostedError> {
        let cluster = self.controller.management.cluster.clone();
        let error = result.as_ref().err().map(ToString::to_string);
        let fact = HostedStep { cluster, worker: worker.to_owned(), step, error };
        let entry = Entry::of((self.controller.now)(), &fact);
        let journal = Arc::clone(&self.journal);
        blocking(move || Ok(journal.append(&[entry]).map(drop)?)).await?;
        result
    }

    /// What it would cost to do without each of a pool's workers.
    async fn costs(&self, view: &PoolView) -> Result<BTreeMap<String, RemovalCost>, HostedError> {
        let mut costs: BTreeMap<String, RemovalCost> = view
            .workers
            .iter()
            .filter_map(|worker| view.nodes.get(&worker.name))
            .map(|node| {
                let cost = RemovalCost {
                    is_ready: node.is_ready(),
                    is_schedulable: !node.is_unschedulable,
                    pods: 0,
                };
                (node.name.clone(), cost)
            })
            .collect();
        let pods: Api<Pod> = Api::all(self.controller.hosted.clone());
        let mut page = ListParams::default().limit(PAGE);
        loop {
            let found = pods.list(&page).await.map_err(HostedError::api("pods"))?;
            for pod in &found.items {
                let node = pod.spec.as_ref().and_then(|spec| spec.node_name.as_ref());
                let stays = matches!(fate(pod), Fate::OfDaemonSet | Fate::OfNode | Fate::Over);
                if let Some(cost) = node.filter(|_| !stays).and_then(|node| costs.get_mut(node)) {
                    cost.pods += 1;
                }
            }
            match found.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => page = page.continue_token(&token),
                None => return Ok(costs),
            }
        }
    }

    /// Into the very version of the NodePool that was read, beside whatever others have written there.
    async fn tell(&self, pool: &str, condition: &PoolCondition) -> Result<(), HostedError> {
        let kind = GroupVersionKind::gvk("hypershift.openshift.io", "v1beta1", "NodePool");
        let kind = ApiResource::from_gvk_with_plural(&kind, "nodepools");
        let management = &self.controller.management;
        let api: Api<DynamicObject> =
            Api::namespaced_with(management.client.clone(), &management.namespace, &kind);
        let what = || HostedError::api(format!("status of NodePool {pool}"));
        let object = api.get(pool).await.map_err(what())?;
        let mut conditions = object.data["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let status = if condition.is_true { "True" } else { "False" };
        let old = conditions.iter().position(|one| one["type"] == CONDITION);
        let since = old.map(|i| &conditions[i]).filter(|one| one["status"] == status);
        let since =
            since.map_or_else(|| json!((self.controller.now)()), |one| one["lastTransitionTime"].clone());
        let new = json!({
            "type": CONDITION,
            "status": status,
            "reason": condition.reason,
            "message": condition.message,
            "lastTransitionTime": whole_seconds(&since),
            "observedGeneration": object.metadata.generation.unwrap_or_default(),
        });
        match old {
            Some(i) => conditions[i] = new,
            None => conditions.push(new),
        }
        let patch = Patch::Merge(json!({
            "metadata": {"resourceVersion": object.metadata.resource_version},
            "status": {"conditions": conditions},
        }));
        api.patch_status(pool, &PatchParams::default(), &patch).await.map(drop).map_err(what())
    }
}

/// As Kubernetes writes times.
fn whole_seconds(time: &Value) -> Value {
    let parsed = time.as_str().and_then(|text| text.parse::<jiff::Timestamp>().ok());
    let whole = parsed.and_then(|time| jiff::Timestamp::from_second(time.as_second()).ok());
    whole.map_or_else(|| time.clone(), |whole| json!(whole))
}

/// Whether the NodePool says so already.
fn is_told(pool: &NodePool, condition: &PoolCondition) -> bool {
    let wanted = if condition.is_true { Truth::True } else { Truth::False };
    pool.conditions().iter().any(|told| {
        told.r#type == CONDITION
            && told.status == wanted
            && told.reason.as_deref() == Some(condition.reason)
            && told.message.as_deref() == Some(condition.message.as_str())
    })
}
