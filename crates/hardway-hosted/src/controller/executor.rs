//! Executing steps.

use std::sync::Arc;

use hardway_cluster::node_change::{Drain, DrainError, DrainRound};
use hardway_journal::{Entry, HostedStep, Journal};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{ConfigMap, Node, Pod};
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams, Preconditions};
use serde_json::json;

use super::{Controller, ControllerEvent};
use crate::error::{HostedError, unless_gone};
use crate::machine_maker::{MachineOf, SwitchedOn};
use crate::names;
use crate::objects::{NodePool, Taint};
use crate::pointer::{OwnConfig, Pointer, SMALLEST_LIMIT};
use crate::reconcile::{ReconcileStep, node_labels};
use crate::token::TokenSecret;
use crate::upgrade;
use crate::worker::{Trouble, TroubleReason, Worker};
use crate::worker_identity::WorkerIdentities;

/// Executes the steps of a controller.
#[derive(Clone)]
pub(super) struct StepExecutor {
    pub(super) controller: Arc<Controller>,
    pub(super) journal: Arc<Journal>,
}

/// A step, with what it was judged by.
pub(super) struct Task {
    pub(super) step: ReconcileStep,
    /// The worker as its record says.
    pub(super) worker: Worker,
    /// The version of that record.
    pub(super) version: String,
    pub(super) pool: NodePool,
}

impl StepExecutor {
    /// Executes one step. Every step can be repeated.
    pub(super) async fn execute(&self, task: &Task) -> Result<(), HostedError> {
        let result = self.step(task).await;
        // A step that fails for the same reason again and again is told once: a tenant's record could fill the disk otherwise.
        let is_known = result.as_ref().is_err_and(|error| self.is_known(task, error));
        if let Err(error) = &result
            && !error.is_conflict()
        {
            self.note_failure(task, error).await;
        }
        // Writing what was seen is no decision, and not recorded.
        if !is_known && !matches!(task.step, ReconcileStep::Observe(_) | ReconcileStep::Record(_)) {
            let fact = HostedStep {
                cluster: self.controller.management.cluster.clone(),
                worker: task.worker.name.clone(),
                step: task.step.kind(),
                error: result.as_ref().err().map(ToString::to_string),
            };
            let entry = Entry::of((self.controller.now)(), &fact);
            let journal = Arc::clone(&self.journal);
            blocking(move || Ok(journal.append(&[entry]).map(drop)?)).await?;
        }
        result
    }

    /// Whoever looks at the worker sees why it does not come on. Should this fail too, the step is retried all the same.
    async fn note_failure(&self, task: &Task, error: &HostedError) {
        if !self.is_known(task, error) {
            let (reason, message) = (TroubleReason::Failed(task.step.kind()), error.to_string());
            let mut worker = task.worker.clone();
            worker.history.trouble = Some(Trouble { reason, message, since: (self.controller.now)() });
            let _ = self.replace(task, &worker).await;
        }
    }

    /// Whether the worker's record says so already.
    fn is_known(&self, task: &Task, error: &HostedError) -> bool {
        let (reason, message) = (TroubleReason::Failed(task.step.kind()), error.to_string());
        let known = task.worker.history.trouble.as_ref();
        known.is_some_and(|known| (&known.reason, &known.message) == (&reason, &message))
    }

    async fn step(&self, task: &Task) -> Result<(), HostedError> {
        match &task.step {
            ReconcileStep::Observe(worker) | ReconcileStep::Record(worker) => self.write(task, worker).await,
            ReconcileStep::Settle { .. } => {
                // First: a drive that cannot be emptied must not keep the identity alive.
                self.end_identity(&task.worker).await?;
                if let Some(maker) = self.controller.machines.clone() {
                    let machine = self.machine_of(task);
                    blocking(move || maker.settle(&machine)).await?;
                }
                self.change(task, |worker, now| worker.history.settled = Some(now)).await
            }
            ReconcileStep::Boot { config_hash, .. } => self.boot(task, config_hash).await,
            ReconcileStep::Label { .. } => self.label(task).await,
            ReconcileStep::Cordon { node } => {
                let patch = json!({"spec": {"unschedulable": true}});
                self.patch_node(node, &patch).await
            }
            ReconcileStep::Drain { .. } => self.drain(task).await,
            ReconcileStep::RemoveMachine { .. } => {
                self.end_identity(&task.worker).await?;
                if let Some(maker) = self.controller.machines.clone() {
                    let machine = self.machine_of(task);
                    blocking(move || maker.remove(&machine)).await?;
                }
                self.change(task, |worker, now| worker.history.removed = Some(now)).await
            }
            ReconcileStep::DeleteNode { node, uid } => {
                let only = Preconditions { uid: Some(uid.clone()), resource_version: None };
                let params = DeleteParams { preconditions: Some(only), ..DeleteParams::default() };
                unless_gone(self.nodes().delete(node, &params).await, format!("Node {node}"))
            }
            ReconcileStep::Forget { .. } => {
                let name = task.worker.record_name();
                let api = self.controller.management.api::<ConfigMap>();
                let only = Preconditions { uid: None, resource_version: Some(task.version.clone()) };
                let params = DeleteParams { preconditions: Some(only), ..DeleteParams::default() };
                unless_gone(api.delete(&name, &params).await, format!("ConfigMap {name}"))
            }
            ReconcileStep::Upgrade { worker, config_hash } => self.upgrade(task, worker, config_hash).await,
            ReconcileStep::EndUpgrade { worker } => {
                let pods: Api<Pod> = self.upgrade_api(&worker.node_pool);
                let name = upgrade::daemon_pod_name(&worker.name);
                unless_gone(pods.delete(&name, &DeleteParams::default()).await, format!("Pod {name}"))?;
                self.write(task, worker).await
            }
        }
    }

    /// The pointer is read right before it is used: its token may have been rotated.
    async fn boot(&self, task: &Task, config_hash: &str) -> Result<(), HostedError> {
        let Some(maker) = self.controller.machines.clone() else { return Ok(()) };
        let pool = task.pool.metadata.name.clone().unwrap_or_default();
        let management = &self.controller.management;
        let name = names::user_data_secret(&pool, config_hash);
        let bad = |why: String| HostedError::Secret { name: name.clone(), why };
        let secret =
            management.secret(&name).await?.ok_or_else(|| HostedError::Missing(format!("Secret {name}")))?;
        let value = secret
            .data
            .and_then(|mut data| data.remove("value"))
            .ok_or_else(|| bad("it has no value".to_owned()))?;
        let pointer = Pointer::read(&value.0).map_err(|flaw| bad(flaw.to_string()))?;
        let token_name = names::token_secret(&pool, config_hash);
        let token = management.secret(&token_name).await?.as_ref().and_then(TokenSecret::read);
        let token = token.ok_or_else(|| HostedError::Missing(format!("Secret {token_name}")))?;
        let flaws = pointer.flaws(&token, None);
        if !flaws.is_empty() {
            // In the moment between two writes of the operator they do not fit; the next round reads both again.
            return Err(bad(flaws.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")));
        }
        let worker = &task.worker;
        let generation = worker.history.generation;
        let generation =
            generation.ok_or_else(|| HostedError::Bug(format!("machine {} boots as nobody", worker.name)))?;
        let window = self.controller.policy.join_window;
        let identity = self.identities().give(&worker.name, generation, window).await?;
        let own = OwnConfig {
            hostname: &worker.name,
            kubeconfig: &identity,
            server: self.controller.server.as_ref(),
        };
        let own = pointer
            .for_machine(&own, SMALLEST_LIMIT)
            .map_err(|error| HostedError::Machine { machine: worker.name.clone(), why: error.to_string() })?;
        let machine = self.machine_of(task);
        let SwitchedOn { at: booted, by_hand } = blocking(move || maker.boot(&machine, &own)).await?;
        if !by_hand.is_empty() {
            let event = ControllerEvent::ByHand { worker: task.worker.name.clone(), steps: by_hand.clone() };
            (self.controller.tell)(&event);
        }
        self.change(task, |worker, since| {
            worker.history.booted = Some(booted);
            worker.history.config_hash = Some(config_hash.to_owned());
            worker.history.pointer_good_until = token.copy_is_good_until();
            worker.history.trouble = (!by_hand.is_empty()).then(|| Trouble {
                reason: TroubleReason::ByHand,
                message: by_hand.join(" "),
                since,
            });
        })
        .await
    }

    /// Who the machine was until it became a node, or went.
    async fn end_identity(&self, worker: &Worker) -> Result<(), HostedError> {
        match worker.history.generation {
            Some(generation) => self.identities().end(&worker.name, generation).await,
            None => Ok(()),
        }
    }

    fn identities(&self) -> WorkerIdentities<'_> {
        WorkerIdentities { management: &self.controller.management, hosted: &self.controller.hosted }
    }

    /// Whose machine it would have to be.
    fn machine_of(&self, task: &Task) -> MachineOf {
        let management = &self.controller.management;
        MachineOf {
            machine: task.worker.name.clone(),
            cluster: format!("{}/{}", management.namespace, management.cluster),
            node_pool: task.worker.node_pool.clone(),
        }
    }

    /// Labels and taints, once: later changes are the administrator's.
    async fn label(&self, task: &Task) -> Result<(), HostedError> {
        let name = &task.worker.name;
        let node = self.nodes().get(name).await.map_err(HostedError::api(format!("Node {name}")))?;
        let wanted = task.pool.spec.taints.clone().unwrap_or_default();
        let spec = node.spec.unwrap_or_default();
        let mut taints = spec.taints.unwrap_or_default();
        let mut patch = json!({"metadata": {"labels": node_labels(&task.pool, &task.worker)}});
        let is_there =
            |taint: &Taint| taints.iter().any(|one| one.key == taint.key && one.effect == taint.effect);
        let missing: Vec<Taint> = wanted.into_iter().filter(|taint| !is_there(taint)).collect();
        if !missing.is_empty() {
            let missing = missing.into_iter().map(|taint| k8s_openapi::api::core::v1::Taint {
                key: taint.key,
                value: taint.value,
                effect: taint.effect,
                time_added: None,
            });
            taints.extend(missing);
            patch["spec"]["taints"] = json!(taints);
            // The list is replaced as a whole: only the very one that was read.
            patch["metadata"]["resourceVersion"] = json!(node.metadata.resource_version);
        }
        self.patch_node(name, &patch).await?;
        self.change(task, |worker, now| worker.history.labelled = Some(now)).await
    }

    /// One round of evictions; what may not go yet is asked again in the next.
    async fn drain(&self, task: &Task) -> Result<(), HostedError> {
        let name = &task.worker.name;
        let told = task.worker.history.trouble.as_ref();
        let known = told.filter(|known| known.reason == TroubleReason::WouldLosePods);
        match Drain::new(self.controller.hosted.clone(), name).round().await {
            Ok(round) if round.left.is_empty() => {
                self.change(task, |worker, now| {
                    worker.history.drained = Some(now);
                    worker.history.trouble = None;
                })
                .await
            }
            // Somebody took them away, or gave them an owner.
            Ok(_) if known.is_some() => self.change(task, |worker, _| worker.history.trouble = None).await,
            Ok(round) => self.drain_goes_on(task, &round).await,
            Err(error @ DrainError::WouldBeLost(_)) => {
                let message = format!(
                    "{error}; delete them, or set spec.nodeDrainTimeout of NodePool {}: after that time the machine is removed \
                     anyway",
                    task.worker.node_pool
                );
                if known.is_some_and(|known| known.message == message) {
                    return Ok(());
                }
                self.change(task, |worker, since| {
                    worker.history.trouble =
                        Some(Trouble { reason: TroubleReason::WouldLosePods, message, since });
                })
                .await
            }
            Err(DrainError::List(source)) => Err(HostedError::api(format!("pods of node {name}"))(source)),
            Err(DrainError::Evict { pod, source }) => {
                Err(HostedError::api(format!("eviction of pod {pod}"))(source))
            }
        }
    }

    /// Told once it takes long: a budget is not a mistake.
    async fn drain_goes_on(&self, task: &Task, round: &DrainRound) -> Result<(), HostedError> {
        let now = (self.controller.now)();
        let is_long = |since: Timestamp| now.duration_since(since) >= self.controller.settings.drain;
        let is_told =
            task.worker.history.trouble.as_ref().is_some_and(|told| told.reason == TroubleReason::DrainHeld);
        if is_told || !task.worker.history.draining.is_some_and(is_long) {
            return Ok(());
        }
        let why = round.refusal.as_deref().unwrap_or("they take long to end");
        let message = format!(
            "{} pods have not left: {why}; make room for them, or set spec.nodeDrainTimeout of NodePool {}: after that time the machine \
             is removed anyway",
            round.left.len(),
            task.worker.node_pool
        );
        self.change(task, |worker, since| {
            worker.history.trouble = Some(Trouble { reason: TroubleReason::DrainHeld, message, since });
        })
        .await
    }

    pub(super) async fn change(
        &self,
        task: &Task,
        change: impl FnOnce(&mut Worker, Timestamp),
    ) -> Result<(), HostedError> {
        let mut worker = task.worker.clone();
        change(&mut worker, (self.controller.now)());
        self.write(task, &worker).await
    }

    /// Writes a record; a failure before this success is over.
    pub(super) async fn write(&self, task: &Task, worker: &Worker) -> Result<(), HostedError> {
        let mut worker = worker.clone();
        worker.history.trouble =
            worker.history.trouble.filter(|trouble| !matches!(trouble.reason, TroubleReason::Failed(_)));
        self.replace(task, &worker).await
    }

    /// Into the very version of the record that was judged.
    async fn replace(&self, task: &Task, worker: &Worker) -> Result<(), HostedError> {
        let management = &self.controller.management;
        let mut map = worker.to_config_map(&management.namespace, &management.cluster);
        map.metadata.resource_version = Some(task.version.clone());
        let name = worker.record_name();
        let api = management.api::<ConfigMap>();
        api.replace(&name, &PostParams::default(), &map)
            .await
            .map(drop)
            .map_err(HostedError::api(format!("ConfigMap {name}")))
    }

    pub(super) async fn patch_node(&self, name: &str, patch: &serde_json::Value) -> Result<(), HostedError> {
        let patched = self.nodes().patch(name, &PatchParams::default(), &Patch::Merge(patch)).await;
        patched.map(drop).map_err(HostedError::api(format!("Node {name}")))
    }

    fn nodes(&self) -> Api<Node> {
        Api::all(self.controller.hosted.clone())
    }
}

pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, HostedError> + Send + 'static,
) -> Result<T, HostedError> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
        Err(HostedError::Machine { machine: "of this process".to_owned(), why: error.to_string() })
    })
}
