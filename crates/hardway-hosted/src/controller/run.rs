//! The loop: look, plan, act, until told to stop.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use hardway_journal::Journal;
use tokio::time::{Instant, interval, sleep_until};

use super::approving::Approving;
use super::counted::counted;
use super::news::News;
use super::pools::{Memory, Picture};
use super::seen::Seen;
use super::standing::Standing;
use super::taker::{Taker, Task};
use super::tasks::{Done, Tasks};
use super::{Controller, Told};
use crate::error::HostedError;
use crate::expected::expected;
use crate::gates::first_held;
use crate::reconcile::{Hand, PoolView, plan};
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
            taker: Taker { controller: Arc::clone(&controller), journal },
            cluster: Standing::begin(&controller, "cluster"),
            machines: self.machines.as_ref().map(|_| Standing::begin(&controller, "machines")),
            approving: None,
            news: News::new(&self.folder),
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
    taker: Taker,
    cluster: Standing,
    machines: Option<Standing>,
    approving: Option<Approving>,
    news: News,
    memory: Memory,
    tasks: Tasks,
    /// Workers whose last step failed, and until when they are left alone.
    pausing: BTreeMap<String, Instant>,
    until: Until,
}

impl Run {
    async fn follow(&mut self, stop: impl Future<Output = ()>) -> Result<(), HostedError> {
        let (seen, mut changes) = Seen::begin(&self.controller);
        let mut stop = std::pin::pin!(stop);
        let mut again = interval(AGAIN);
        let (mut is_complete, mut look_at) = (false, None::<Instant>);
        let complete = seen.complete();
        let mut complete = std::pin::pin!(complete);
        let mut trouble = None;
        loop {
            let due = look_at;
            tokio::select! {
                () = &mut stop => return Ok(()),
                () = &mut complete, if !is_complete => is_complete = true,
                Some(change) = changes.next() => self.changed(change, &mut trouble),
                Some(done) = self.tasks.done(), if !self.tasks.is_empty() => self.done(done),
                () = Standing::any_changed(&mut self.cluster, &mut self.machines) => self.elected(),
                _ = again.tick() => self.revive(),
                () = until(due), if due.is_some() => {
                    look_at = None;
                    if is_complete && self.look(&seen)? {
                        return Ok(());
                    }
                    continue;
                }
            }
            look_at.get_or_insert_with(|| Instant::now() + TOGETHER);
        }
    }

    /// Told once, not with every try.
    fn changed(&self, change: Result<(), String>, trouble: &mut Option<String>) {
        match change {
            Ok(()) => *trouble = None,
            Err(what) if trouble.as_ref() == Some(&what) => {}
            Err(what) => {
                (self.controller.tell)(&Told::Trouble(what.clone()));
                *trouble = Some(what);
            }
        }
    }

    /// Plans and begins. Whether it is time to end.
    fn look(&mut self, seen: &Seen) -> Result<bool, HostedError> {
        self.news.read()?;
        let now = (self.controller.now)();
        let picture = Picture::take(seen, &self.news, &mut self.memory, self.controller.rest, now);
        let held = picture.pools.iter().filter_map(|pool| {
            Some((pool.pool.metadata.name.clone()?, first_held(&pool.gates)?.name.to_owned()))
        });
        self.controller.metrics.see(&picture.workers, held.collect());
        if let Some(approving) = &self.approving {
            approving.expect(expected(&picture.workers, &picture.surroundings, &self.controller.policy, now));
        }
        for pool in &picture.pools {
            for step in plan(pool, &self.controller.settings, now) {
                self.begin(step, pool, &picture);
            }
        }
        Ok((self.until)(&picture.workers) && self.tasks.is_empty())
    }

    fn begin(&mut self, step: crate::reconcile::Step, pool: &PoolView, picture: &Picture) {
        let has_machines = || self.machines.as_ref().is_some_and(Standing::is_ours);
        let may = match step.hand() {
            Hand::Machines => has_machines(),
            Hand::Cluster => self.cluster.is_ours(),
            Hand::Either => self.cluster.is_ours() || has_machines(),
        };
        let name = step.worker().to_owned();
        let is_pausing = self.pausing.get(&name).is_some_and(|until| Instant::now() < *until);
        let worker = pool.workers.iter().find(|worker| worker.name == name);
        let (Some(worker), Some(version)) = (worker, picture.versions.get(&name)) else { return };
        if !may || is_pausing || !self.tasks.have_room_for(&name) {
            return;
        }
        let task = Task { worker: worker.clone(), version: version.clone(), pool: pool.pool.clone(), step };
        let (taker, step) = (self.taker.clone(), task.step.name());
        self.tasks.begin(name, step, async move { taker.take(&task).await });
    }

    fn done(&mut self, Done { worker, step, result }: Done) {
        match result {
            Ok(()) => {
                self.controller.metrics.count(step, "done");
                self.pausing.remove(&worker);
                (self.controller.tell)(&Told::Took { worker, step });
            }
            // Somebody else wrote in between: the next look sees it.
            Err(error) if error.is_conflict() => self.controller.metrics.count(step, "conflict"),
            Err(error) => {
                self.controller.metrics.count(step, "failed");
                self.pausing.insert(worker.clone(), Instant::now() + PAUSE);
                (self.controller.tell)(&Told::Failed { worker, step, why: error.to_string() });
            }
        }
    }

    fn elected(&mut self) {
        for standing in std::iter::once(&mut self.cluster).chain(&mut self.machines) {
            let is_ours = standing.is_ours();
            self.controller.metrics.lead(standing.of, is_ours);
            if is_ours && !standing.was_ours {
                (self.controller.tell)(&Told::Leading(standing.of));
            }
            standing.was_ours = is_ours;
        }
        match (self.cluster.is_ours(), self.approving.is_some()) {
            (true, false) => self.approving = Some(Approving::begin(&self.controller)),
            (false, true) => drop(self.approving.take()),
            _ => {}
        }
    }

    /// An approver that gave up is followed by another: as long as this one leads, nobody else approves.
    fn revive(&mut self) {
        if self.approving.as_ref().is_some_and(Approving::has_ended) {
            self.approving = Some(Approving::begin(&self.controller));
        }
    }

    async fn end(mut self) {
        while let Some(done) = self.tasks.done().await {
            self.done(done);
        }
        if let Some(approving) = self.approving.take() {
            approving.end().await;
        }
        self.cluster.end().await;
        if let Some(machines) = self.machines {
            machines.end().await;
        }
    }
}

async fn until(due: Option<Instant>) {
    match due {
        Some(due) => sleep_until(due).await,
        None => std::future::pending().await,
    }
}
