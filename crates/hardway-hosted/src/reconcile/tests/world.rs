//! A small world that steps are taken in, and that does what they say.

use std::collections::{BTreeMap, BTreeSet};

use hardway_cluster::objects::Truth;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::super::*;
use crate::gates::{GateName, first_held};
use crate::token::TokenSecret;
use crate::worker::{Trouble, TroubleReason, WorkerStage};

pub(super) struct World {
    pub(super) view: PoolView,
    pub(super) settings: RoundSettings,
    pub(super) now: Timestamp,
    /// Machines that are on, with the config they were given.
    pub(super) machines: BTreeMap<String, String>,
    /// Whether machines that are on become nodes.
    pub(super) boots: bool,
    pub(super) drains: bool,
    /// Whether nodes have pods that nobody would start again.
    pub(super) unmanaged: bool,
    pub(super) upgrades: bool,
    /// Whether what a first boot needed can be taken away.
    pub(super) settles: bool,
    pub(super) taken: Vec<(String, &'static str)>,
    pub(super) most_away: usize,
    pub(super) rebooted: usize,
    born: usize,
}

pub(super) fn minutes(count: i64) -> SignedDuration {
    SignedDuration::from_mins(count)
}

impl World {
    pub(super) fn with_workers(count: usize) -> Self {
        let pool = json!({"metadata": {"name": "demo", "namespace": "clusters", "annotations":
            {"hypershift.openshift.io/nodePoolCurrentConfigVersion": "11111111"}}, "spec": {"platform": {"type": "None"}}});
        let view = PoolView {
            pool: serde_json::from_value(pool).unwrap(),
            gates: Vec::new(),
            tokens: Vec::new(),
            workers: Vec::new(),
            nodes: BTreeMap::new(),
            news: BTreeMap::new(),
        };
        let mut world = Self {
            view,
            settings: RoundSettings::default(),
            now: "2026-11-15T00:00:00Z".parse().unwrap(),
            machines: BTreeMap::new(),
            boots: true,
            drains: true,
            unmanaged: false,
            upgrades: true,
            settles: true,
            taken: Vec::new(),
            most_away: 0,
            rebooted: 0,
            born: 0,
        };
        world.new_config("11111111", true);
        (0..count).for_each(|n| world.add(&format!("w-{n}")));
        world
    }

    pub(super) fn add(&mut self, name: &str) {
        if !self.view.workers.iter().any(|worker| worker.name == name) {
            let worker = Worker::planned(name, "demo", &[], self.now);
            self.view.workers.push(worker);
            self.view.workers.sort_by(|a, b| a.name.cmp(&b.name));
        }
    }

    pub(super) fn want(&mut self, name: &str, wanted: WantedState) {
        for worker in self.view.workers.iter_mut().filter(|worker| worker.name == name) {
            worker.wanted = wanted;
        }
    }

    pub(super) fn repair(&mut self, wanted: bool) {
        self.view.pool.spec.management.auto_repair = Some(wanted);
    }

    /// Outdated token Secrets are removed at once: the hardest case.
    pub(super) fn new_config(&mut self, hash: &str, is_in_place: bool) {
        let annotations = self.view.pool.metadata.annotations.get_or_insert_default();
        annotations.insert("hypershift.openshift.io/nodePoolCurrentConfigVersion".into(), hash.into());
        let object = json!({"metadata": {"name": format!("token-demo-{hash}"), "annotations": {
            "hypershift.openshift.io/ignition-config": "true", "hypershift.openshift.io/nodePool": "clusters/demo",
            "hypershift.openshift.io/last-token-generation-time": self.now.to_string(),
            "hypershift.openshift.io/node-pool-upgrade-type": if is_in_place { "InPlace" } else { "Replace" }}},
            "data": {"token": "YQ==", "payload": "YQ==", "reason": "QXNFeHBlY3RlZA=="}});
        self.view.tokens = vec![TokenSecret::read(&serde_json::from_value(object).unwrap()).unwrap()];
        self.most_away = 0;
        self.rebooted = 0;
    }

    pub(super) fn draw_token(&mut self) {
        let hash = self.view.pool.config_hash().unwrap().to_owned();
        self.new_config(&hash, true);
    }

    pub(super) fn hold_gate(&mut self, is_held: bool) {
        self.view.gates =
            vec![Gate { name: GateName::Payload, is_open: !is_held, seen: "so".into(), fix: None }];
    }

    pub(super) fn break_nodes(&mut self, names: &[&str]) {
        self.set_ready(names, Truth::Unknown);
    }

    pub(super) fn mend_nodes(&mut self, names: &[&str]) {
        self.set_ready(names, Truth::True);
    }

    fn set_ready(&mut self, names: &[&str], ready: Truth) {
        for node in self
            .view
            .nodes
            .values_mut()
            .filter(|node| names.contains(&node.name.as_str()) && node.ready != ready)
        {
            (node.ready, node.ready_since) = (ready, self.now);
        }
    }

    pub(super) fn pass(&mut self, time: SignedDuration) {
        self.now += time;
    }

    /// As a person who looked at it, so that it is judged anew.
    pub(super) fn forgive(&mut self, name: &str) {
        self.view
            .workers
            .iter_mut()
            .filter(|worker| worker.name == name)
            .for_each(|worker| worker.history.trouble = None);
    }

    pub(super) fn forgive_all(&mut self) {
        self.view.workers.iter_mut().for_each(|worker| worker.history.trouble = None);
    }

    pub(super) fn worker(&self, name: &str) -> &Worker {
        self.view.workers.iter().find(|worker| worker.name == name).unwrap()
    }

    pub(super) fn stages(&self) -> Vec<WorkerStage> {
        self.view.workers.iter().map(Worker::stage).collect()
    }

    pub(super) fn plan(&self) -> Vec<ReconcileStep> {
        plan(&self.view, &self.settings, self.now)
    }

    /// Rounds until nothing happens any more.
    pub(super) fn settle(&mut self) {
        for _ in 0..400 {
            let before = format!("{:?}", (&self.view, &self.machines));
            self.rounds(1);
            if before == format!("{:?}", (&self.view, &self.machines)) {
                return;
            }
        }
        panic!("it never comes to rest: {:?}", self.plan());
    }

    pub(super) fn rounds(&mut self, count: usize) {
        for _ in 0..count {
            let steps = self.plan();
            let first = |step: &&ReconcileStep| !matches!(step, ReconcileStep::Settle { .. });
            let names: BTreeSet<&str> = steps.iter().filter(first).map(ReconcileStep::worker).collect();
            assert_eq!(names.len(), steps.iter().filter(first).count(), "one step a worker: {steps:?}");
            let mut busy = BTreeSet::new();
            // The second of two waits.
            for step in steps.into_iter().filter(|step| busy.insert(step.worker().to_owned())) {
                self.taken.push((step.worker().to_owned(), step.kind().name()));
                self.take(step);
            }
            self.live();
        }
    }

    fn take(&mut self, step: ReconcileStep) {
        match step {
            ReconcileStep::Boot { worker, config_hash } => {
                assert!(first_held(&self.view.gates).is_none() && !self.view.nodes.contains_key(&worker));
                assert!(
                    self.machines.insert(worker.clone(), config_hash.clone()).is_none(),
                    "{worker} booted twice"
                );
                let good = self.view.tokens[0].copy_is_good_until();
                let now = self.now;
                self.record(&worker, |worker| {
                    worker.history.booted = Some(now);
                    worker.history.config_hash = Some(config_hash);
                    worker.history.pointer_good_until = good;
                    worker.history.trouble = None;
                });
            }
            ReconcileStep::Observe(worker) | ReconcileStep::Record(worker) => self.replace(*worker),
            ReconcileStep::Settle { worker } => {
                let now = self.now;
                if self.settles {
                    self.record(&worker, |worker| worker.history.settled = Some(now));
                }
            }
            ReconcileStep::Label { worker } => {
                let now = self.now;
                self.record(&worker.name, |worker| worker.history.labelled = Some(now));
            }
            ReconcileStep::Cordon { node } => self.view.nodes.get_mut(&node).unwrap().is_unschedulable = true,
            ReconcileStep::Drain { worker } if self.unmanaged => {
                let (reason, message, since) = (TroubleReason::WouldLosePods, "so".to_owned(), self.now);
                self.record(&worker.name, |worker| {
                    worker.history.trouble.get_or_insert(Trouble { reason, message, since });
                });
            }
            ReconcileStep::Drain { worker } => {
                let now = self.now;
                if self.drains {
                    self.record(&worker.name, |worker| worker.history.drained = Some(now));
                }
            }
            ReconcileStep::RemoveMachine { worker } => {
                self.machines.remove(&worker.name);
                let now = self.now;
                self.record(&worker.name, |worker| worker.history.removed = Some(now));
            }
            ReconcileStep::DeleteNode { node, .. } => drop(self.view.nodes.remove(&node)),
            ReconcileStep::Forget { worker } => self.view.workers.retain(|one| one.name != worker),
            ReconcileStep::Upgrade { worker, config_hash } => {
                self.view.nodes.get_mut(&worker.name).unwrap().desired_config = Some(config_hash);
                self.replace(*worker);
                let away =
                    self.view.workers.iter().filter(|worker| worker.history.upgrading.is_some()).count();
                self.most_away = self.most_away.max(away);
            }
            ReconcileStep::EndUpgrade { worker } => self.replace(*worker),
        }
    }

    /// Machines boot, and daemons work.
    fn live(&mut self) {
        for name in self.machines.keys().filter(|_| self.boots) {
            if !self.view.nodes.contains_key(name) {
                self.born += 1;
                let node = json!({"metadata": {"name": name, "uid": format!("uid-{}", self.born), "creationTimestamp": self.now.to_string()},
                    "status": {"conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": self.now.to_string()}]}});
                self.view.nodes.insert(name.clone(), NodeView::of(&serde_json::from_value(node).unwrap()));
            }
        }
        for node in self.view.nodes.values_mut().filter(|_| self.upgrades) {
            if node.desired_config.is_some() && node.desired_config != node.current_config {
                self.rebooted += 1;
                node.current_config.clone_from(&node.desired_config);
                node.daemon_state = Some("Done".to_owned());
            }
        }
        let leaving =
            self.view.workers.iter().filter(|worker| {
                worker.wanted != WantedState::Present || worker.stage() < WorkerStage::Joined
            });
        if self.view.workers.iter().all(|worker| worker.history.upgrading.is_none())
            && self.machines.len() > 1
        {
            self.most_away = self.most_away.max(leaving.count());
        }
    }

    fn record(&mut self, name: &str, change: impl FnOnce(&mut Worker)) {
        change(self.view.workers.iter_mut().find(|worker| worker.name == name).unwrap());
    }

    fn replace(&mut self, worker: Worker) {
        if let Some(found) = self.view.workers.iter_mut().find(|one| one.name == worker.name) {
            *found = worker;
        }
    }
}
