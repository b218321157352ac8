//! The loop: look, plan, act, until told to stop.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use hardway_cluster::leader_election::{Election, Standing};
use hardway_journal::Journal;
use kube::api::Api;
use tokio::time::{Instant, interval, sleep_until};

use super::csr_approver::{CsrApprover, approver_folder};
use super::executor::{StepExecutor, Task};
use super::journal_news::JournalNews;
use super::metrics::counted;
use super::ovn_keeper::OvnKeeper;
use super::pool_resize::PoolWish;
use super::snapshot::{Memory, Snapshot};
use super::tasks::{Done, Tasks};
use super::watches::{Change, Watches};
use super::{Controller, ControllerEvent, Duty};
use crate::error::HostedError;
use crate::expected::expected;
use crate::gates::first_held;
use crate::pool_hosts::PoolHosts;
use crate::pool_size::{PoolSize, pool_size};
use crate::reconcile::{Hand, PoolView, StepKind, plan};
use crate::scaling::present;
use crate::worker::Worker;

/// Changes that come together are looked at together.
const TOGETHER: Duration = Duration::from_millis(100);
/// How often everything is looked at, whatever changed: time does, too.
const AGAIN: Duration = Duration::from_secs(5);
/// A step that failed is not tried again sooner.
const PAUSE: Duration = Duration::from_secs(5);

/// When to end without being told: asked after each look, with every worker there is.
pub type Until = Box<dyn FnMut(&[Worker]) -> bool + Send>;

impl Controller {
    /// Runs until `stop` is done, or until `until` says so; then ends what has begun.
    ///
    /// # Errors
    /// When what happens cannot be recorded. Clusters that do not answer are waited for.
    pub async fn run(&self, stop: impl Future<Output = ()>, until: Until) -> Result<(), HostedError> {
        let journal = Arc::new(Journal::open(&self.folder.join(hardway_journal::FILE_NAME))?);
        let mut counting = self.clone();
        counting.management.client = counted(counting.management.client, "management", &self.metrics);
        counting.hosted = counted(counting.hosted, "hosted", &self.metrics);
        let controller = Arc::new(counting);
        let mut run = Run {
            executor: StepExecutor { controller: Arc::clone(&controller), journal },
            cluster: Lease::stand(&controller, Duty::Cluster),
            machines: self.machines.as_ref().map(|_| Lease::stand(&controller, Duty::Machines)),
            approver: None,
            ovn: None,
            news: JournalNews::new(&self.folder, &approver_folder(&self.folder, &self.management)),
            memory: Memory::default(),
            tasks: Tasks::default(),
            pausing: BTreeMap::new(),
            until,
            controller,
        };
        let ended = run.follow(stop).await;
        run.end().await;
        ended
    }
}

struct Run {
    controller: Arc<Controller>,
    executor: StepExecutor,
    cluster: Lease,
    machines: Option<Lease>,
    approver: Option<CsrApprover>,
    ovn: Option<OvnKeeper>,
    news: JournalNews,
    memory: Memory,
    tasks: Tasks,
    /// Workers whose last step failed, and until when they are left alone.
    pausing: BTreeMap<String, Instant>,
    until: Until,
}

impl Run {
    async fn follow(&mut self, stop: impl Future<Output = ()>) -> Result<(), HostedError> {
        let (watches, mut changes) = Watches::begin(&self.controller);
        let mut stop = std::pin::pin!(stop);
        let mut again = interval(AGAIN);
        let (mut is_complete, mut look_at) = (false, None::<Instant>);
        let complete = watches.complete();
        let mut complete = std::pin::pin!(complete);
        let mut trouble = None;
        loop {
            let due = look_at;
            tokio::select! {
                () = &mut stop => return Ok(()),
                () = &mut complete, if !is_complete => is_complete = true,
                Some(change) = changes.next() => self.changed(change, &mut trouble),
                Some(done) = self.tasks.done(), if !self.tasks.is_empty() => self.done(done),
                () = Lease::any_changed(&mut self.cluster, &mut self.machines) => self.elected(),
                _ = again.tick() => self.revive(),
                () = until(due), if due.is_some() => {
                    look_at = None;
                    if is_complete && self.look(&watches)? {
                        return Ok(());
                    }
                    continue;
                }
            }
            look_at.get_or_insert_with(|| Instant::now() + TOGETHER);
        }
    }

    /// Told once, not with every try.
    fn changed(&self, change: Change, trouble: &mut Option<String>) {
        match change.map_err(|error| error.to_string()) {
            Ok(()) => *trouble = None,
            Err(what) if trouble.as_ref() == Some(&what) => {}
            Err(what) => {
                (self.controller.tell)(&ControllerEvent::Trouble(what.clone()));
                *trouble = Some(what);
            }
        }
    }

    /// Plans, and starts what can be started. Whether it is time to end.
    fn look(&mut self, watches: &Watches) -> Result<bool, HostedError> {
        self.news.read()?;
        let now = (self.controller.now)();
        let snapshot = Snapshot::take(watches, &self.news, &mut self.memory, &self.controller, now);
        let held = snapshot
            .pools
            .iter()
            .filter_map(|pool| Some((pool.pool.metadata.name.clone()?, first_held(&pool.gates)?.name)));
        self.controller.metrics.see(&snapshot.workers, held.collect());
        let wanted = snapshot.pools.iter().filter_map(|view| {
            let name = view.pool.metadata.name.clone()?;
            let there = present(&view.workers, &name).len();
            Some((name, view.pool.wanted_workers(there)?))
        });
        self.controller.metrics.see_wanted(wanted.collect());
        if let Some(approver) = &self.approver {
            approver.expect(expected(
                &snapshot.workers,
                &self.controller.management.namespace,
                &snapshot.surroundings,
                &self.controller.policy,
                self.controller.witness,
                now,
            ));
        }
        for pool in &snapshot.pools {
            for step in plan(pool, &self.controller.settings, now) {
                self.begin(step, pool, &snapshot);
            }
        }
        if self.machines.as_ref().is_some_and(Lease::is_ours) {
            self.resize(&snapshot);
        }
        Ok((self.until)(&snapshot.workers) && self.tasks.is_empty())
    }

    /// As many workers as each NodePool says, and what has become of that in its condition. Whoever makes machines does this: only they
    /// know the hosts.
    fn resize(&mut self, snapshot: &Snapshot) {
        let PoolHosts::ByPool(hosts) = &self.controller.hosts else { return };
        let hosts = hosts.clone();
        for view in &snapshot.pools {
            let name = view.pool.metadata.name.clone().unwrap_or_default();
            let Some(hosts) = hosts.get(&name) else { continue };
            let step = match pool_size(view) {
                PoolSize::Grow(_) => StepKind::Request,
                PoolSize::Shrink(_) => StepKind::Retire,
                PoolSize::Left(_) | PoolSize::Right => StepKind::Record,
            };
            let wish =
                PoolWish { view: view.clone(), workers: snapshot.workers.clone(), hosts: hosts.clone() };
            // A pool is no worker, and has a name that no worker has.
            let key = format!("nodepool/{name}");
            let is_pausing = self.pausing.get(&key).is_some_and(|until| Instant::now() < *until);
            if is_pausing || !self.tasks.have_room_for(&key) || !wish.is_due() {
                continue;
            }
            let executor = self.executor.clone();
            self.tasks.begin(key, step, async move { executor.resize(wish).await });
        }
    }

    fn begin(&mut self, step: crate::reconcile::ReconcileStep, pool: &PoolView, snapshot: &Snapshot) {
        let has_machines = || self.machines.as_ref().is_some_and(Lease::is_ours);
        let may = match step.hand() {
            Hand::Machines => has_machines(),
            Hand::Cluster => self.cluster.is_ours(),
            Hand::Either => self.cluster.is_ours() || has_machines(),
        };
        let name = step.worker().to_owned();
        let is_pausing = self.pausing.get(&name).is_some_and(|until| Instant::now() < *until);
        let worker = pool.workers.iter().find(|worker| worker.name == name);
        let (Some(worker), Some(version)) = (worker, snapshot.versions.get(&name)) else { return };
        if !may || is_pausing || !self.tasks.have_room_for(&name) {
            return;
        }
        let task = Task { worker: worker.clone(), version: version.clone(), pool: pool.pool.clone(), step };
        let (executor, step) = (self.executor.clone(), task.step.kind());
        self.tasks.begin(name, step, async move { executor.execute(&task).await });
    }

    fn done(&mut self, Done { worker, step, result }: Done) {
        match result {
            Ok(()) => {
                self.controller.metrics.count(step, "done");
                self.pausing.remove(&worker);
                (self.controller.tell)(&ControllerEvent::Took { worker, step });
            }
            // Somebody else wrote in between: the next look sees it.
            Err(error) if error.is_conflict() => self.controller.metrics.count(step, "conflict"),
            Err(error) => {
                self.controller.metrics.count(step, "failed");
                self.pausing.insert(worker.clone(), Instant::now() + PAUSE);
                (self.controller.tell)(&ControllerEvent::Failed { worker, step, why: error.to_string() });
            }
        }
    }

    fn elected(&mut self) {
        for lease in std::iter::once(&mut self.cluster).chain(&mut self.machines) {
            let is_ours = lease.is_ours();
            self.controller.metrics.lead(lease.duty, is_ours);
            if is_ours && !lease.was_ours {
                (self.controller.tell)(&ControllerEvent::Leading(lease.duty));
            }
            lease.was_ours = is_ours;
        }
        let keeps = self.machines.as_ref().is_some_and(Lease::is_ours)
            && matches!(self.controller.hosts, PoolHosts::ByPool(_));
        match (keeps, self.ovn.is_some()) {
            (true, false) => self.ovn = Some(OvnKeeper::begin(&self.controller)),
            (false, true) => drop(self.ovn.take()),
            _ => {}
        }
        match (self.cluster.is_ours(), self.approver.is_some()) {
            (true, false) => self.approver = Some(CsrApprover::begin(&self.controller)),
            (false, true) => drop(self.approver.take()),
            _ => {}
        }
    }

    /// An approver that gave up is followed by another: as long as this one leads, nobody else approves.
    fn revive(&mut self) {
        if self.approver.as_ref().is_some_and(CsrApprover::has_ended) {
            self.approver = Some(CsrApprover::begin(&self.controller));
        }
    }

    async fn end(mut self) {
        while let Some(done) = self.tasks.done().await {
            self.done(done);
        }
        if let Some(approver) = self.approver.take() {
            approver.end().await;
        }
        self.cluster.election.end().await;
        if let Some(machines) = self.machines {
            machines.election.end().await;
        }
    }
}

/// The election for one duty.
struct Lease {
    duty: Duty,
    election: Election,
    was_ours: bool,
}

impl Lease {
    fn stand(controller: &Controller, duty: Duty) -> Self {
        let management = &controller.management;
        let leases = Api::namespaced(management.client.clone(), &management.namespace);
        let name = format!("hardway-{duty}-{}", management.cluster);
        let (identity, now) = (&controller.identity, controller.now.clone());
        let election = Election::join(leases, &name, identity, Standing::Principal, now);
        Self { duty, election, was_ours: false }
    }

    fn is_ours(&self) -> bool {
        self.election.leadership().is_ours()
    }

    async fn any_changed(one: &mut Self, other: &mut Option<Self>) {
        match other {
            Some(other) => tokio::select! {
                () = one.election.leadership_mut().changed() => {}
                () = other.election.leadership_mut().changed() => {}
            },
            None => one.election.leadership_mut().changed().await,
        }
    }
}

async fn until(due: Option<Instant>) {
    match due {
        Some(due) => sleep_until(due).await,
        None => std::future::pending().await,
    }
}
