//! Running an approver: once over what is pending, or for as long as the cluster lives.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use kube::ResourceExt as _;
use kube::api::{Api, ListParams};
use tokio::sync::watch;
use tokio::time::{Instant, interval, sleep};

use super::audit::{Audit, Auditors};
use super::events::{ApproverEvent, watch_all};
use super::reconciler::{Reconciler, Trouble, limited};
use super::work_queue::Work;
use super::{Approver, ApproverError, Expected, LEASE_NAME, LEASE_NAMESPACE, News, Summary};
use crate::leader_election::{DURATION, Election, Leadership, PERIOD};
use crate::silence::Silence;

/// How often failed and time-dependent decisions are retried.
const RETRY: Duration = Duration::from_secs(5);

/// How often the journal is brought up to date with joined nodes and verdicts found in the cluster.
const RECORD: Duration = Duration::from_millis(500);

/// How often a silent API server is looked for.
const SILENCE: Duration = Duration::from_millis(500);

impl Approver {
    /// Decides about what is pending now, or as much of it as can be started before `stop` is done.
    ///
    /// # Errors
    /// When the API server does not answer, or decisions cannot be recorded.
    pub async fn once(&self, stop: impl Future<Output = ()>) -> Result<Summary, ApproverError> {
        let mut stop = std::pin::pin!(stop);
        // Before waiting for an election: an API server that is not there elects nobody.
        tokio::select! {
            answered = limited(self.client.apiserver_version()) => { answered.map_err(fatal)?; }
            () = &mut stop => return Ok(Summary::default()),
        }
        let (audit, auditors) = self.audit()?;
        let (election, leadership) = self.election();
        let reconciler = Reconciler::new(self, leadership.clone(), audit.clone());
        let mut work = Work::new(reconciler.clone(), audit);
        let ended = tokio::select! {
            ended = self.decide_pending(&reconciler, &mut work, leadership) => ended,
            () = &mut stop => Ok(()),
        };
        let finished = work.finish().await;
        let (summary, trouble) = (work.summary(), work.trouble());
        // The auditors end once the last of their senders is gone.
        drop((work, reconciler));
        let written = finish(auditors).await;
        if let Some(election) = election {
            election.end().await;
        }
        ended.and(finished).and(written)?;
        trouble.map_or(Ok(summary), |trouble| Err(fatal(trouble)))
    }

    async fn decide_pending(
        &self,
        reconciler: &Arc<Reconciler>,
        work: &mut Work,
        leadership: Leadership,
    ) -> Result<(), ApproverError> {
        if !self.dry_run {
            self.until_known(leadership).await;
        }
        let all = ListParams::default();
        let listed = limited(reconciler.cluster.requests.list(&all)).await.map_err(fatal)?;
        let nodes = limited(reconciler.cluster.nodes.list_metadata(&all)).await.map_err(fatal)?;
        listed.items.iter().for_each(|request| reconciler.view().see_request(request));
        nodes.items.iter().for_each(|node| {
            reconciler.view().see_node(&node.name_any());
        });
        work.push_pending();
        reconciler.read_journal()?;
        work.record_news()?;
        while !work.is_idle() {
            work.begin()?;
            work.done().await?;
        }
        // Who became a node by that has joined, and the next run may come after the cluster has forgotten these requests.
        if !self.dry_run {
            let decided = limited(reconciler.cluster.requests.list(&all)).await.map_err(fatal)?;
            decided.items.iter().for_each(|request| reconciler.view().see_request(request));
            work.record_news()?;
        }
        Ok(())
    }

    /// Decides about whatever comes until `stop` is done, and finishes what is in flight.
    ///
    /// # Errors
    /// When decisions cannot be recorded. An API server that does not answer is waited for.
    pub async fn watch(&self, stop: impl Future<Output = ()>) -> Result<Summary, ApproverError> {
        let rejoin = self.settings.rejoin.clone();
        let (_sender, expected) =
            watch::channel(Expected { declared: self.declared.clone(), rejoin, ..Expected::default() });
        self.watch_expected(expected, stop).await
    }

    /// The same, with a list of expected nodes that changes meanwhile.
    ///
    /// # Errors
    /// When decisions cannot be recorded. An API server that does not answer is waited for.
    pub async fn watch_expected(
        &self,
        expected: watch::Receiver<Expected>,
        stop: impl Future<Output = ()>,
    ) -> Result<Summary, ApproverError> {
        let (audit, mut auditors) = self.audit()?;
        let (election, leadership) = self.election();
        let reconciler = Reconciler::new(self, leadership.clone(), audit.clone());
        let mut work = Work::new(reconciler, audit);
        work.expect(&expected.borrow());
        let ended = self.follow(&mut work, leadership, &mut auditors, expected, stop).await;
        let finished = work.finish().await.and_then(|()| work.record_news());
        let summary = work.summary();
        drop(work);
        let written = finish(auditors).await;
        if let Some(election) = election {
            election.end().await;
        }
        ended.and(finished).and(written).map(|()| summary)
    }

    async fn follow(
        &self,
        work: &mut Work,
        mut leadership: Leadership,
        auditors: &mut Option<Auditors>,
        mut expected: watch::Receiver<Expected>,
        stop: impl Future<Output = ()>,
    ) -> Result<(), ApproverError> {
        let mut events = watch_all(&self.client);
        let mut stop = std::pin::pin!(stop);
        let (mut retry, mut record) = (interval(RETRY), interval(RECORD));
        let (mut alive, mut silence) = (interval(SILENCE), Silence::begin());
        let mut known = Known::default();
        loop {
            tokio::select! {
                () = &mut stop => return Ok(()),
                Some(event) = events.next() => known.apply(event, work, self),
                done = work.done() => done?,
                () = leadership.changed() => known.elected(&leadership, work, self),
                () = changed(&mut expected) => work.expect(&expected.borrow_and_update().clone()),
                _ = retry.tick() => work.requeue(),
                _ = alive.tick() => {
                    if let Some(line) = silence.line(known.is_complete() && known.trouble.is_none(), known.trouble.as_deref()) {
                        (self.tell)(News::Trouble(&line));
                    }
                }
                _ = record.tick(), if known.is_complete() => work.record_news()?,
                failed = broken(auditors) => return failed,
            }
            // Until both lists are complete, rivals of a request may be unknown. Only the leader decides.
            if known.is_complete() && (self.dry_run || leadership.is_ours()) {
                work.begin()?;
            }
        }
    }

    /// Waits until this one leads, or for as long as a leader that was killed keeps the Lease.
    async fn until_known(&self, mut leadership: Leadership) {
        let late = Instant::now() + DURATION + PERIOD;
        let mut told = false;
        while !leadership.is_ours() && Instant::now() < late {
            if let Some(holder) = leadership.holder().filter(|_| !told) {
                (self.tell)(News::Following(&holder));
                told = true;
            }
            tokio::select! {
                () = leadership.changed() => {}
                () = sleep(PERIOD) => {}
            }
        }
    }

    /// In a dry run nobody stands for election.
    fn election(&self) -> (Option<Election>, Leadership) {
        if self.dry_run {
            return (None, Leadership::of_nobody());
        }
        let leases = Api::namespaced(self.client.clone(), LEASE_NAMESPACE);
        let election = Election::join(leases, LEASE_NAME, &self.identity, self.standing, self.now.clone());
        let leadership = election.leadership().clone();
        (Some(election), leadership)
    }

    fn audit(&self) -> Result<(Option<Audit>, Option<Auditors>), ApproverError> {
        if self.dry_run {
            return Ok((None, None));
        }
        let (audit, auditors) = Audit::begin(&self.folder, &self.client, &self.identity)?;
        Ok((Some(audit), Some(auditors)))
    }
}

/// How complete the picture is.
#[derive(Debug, Default)]
struct Known {
    requests: bool,
    nodes: bool,
    /// `None` until it is known, and after the Lease ran out.
    is_leading: Option<bool>,
    trouble: Option<String>,
}

impl Known {
    fn is_complete(&self) -> bool {
        self.requests && self.nodes
    }

    fn apply(&mut self, event: ApproverEvent, work: &mut Work, approver: &Approver) {
        let trouble = match &event {
            ApproverEvent::Trouble(trouble) => Some(trouble.clone()),
            _ => None,
        };
        // Reported once, not with every try; Silence repeats it now and again.
        if let Some(trouble) = trouble.as_ref().filter(|_| self.trouble.is_none()) {
            (approver.tell)(News::Trouble(trouble));
        }
        self.trouble = trouble;
        self.requests |= matches!(event, ApproverEvent::Requests(_));
        self.nodes |= matches!(event, ApproverEvent::Nodes(_));
        work.apply(event);
    }

    fn elected(&mut self, leadership: &Leadership, work: &mut Work, approver: &Approver) {
        match (leadership.is_ours(), leadership.holder()) {
            (true, _) if self.is_leading != Some(true) => {
                (approver.tell)(News::Leading);
                work.push_pending();
                self.is_leading = Some(true);
            }
            (false, Some(holder)) if self.is_leading != Some(false) => {
                (approver.tell)(News::Following(&holder));
                self.is_leading = Some(false);
            }
            // Nobody leads: whoever comes next is news again.
            (false, None) => self.is_leading = None,
            _ => {}
        }
    }
}

/// Waits for a change; for ever once the sender is gone.
async fn changed(expected: &mut watch::Receiver<Expected>) {
    if expected.changed().await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Waits for the auditors to fail; for ever while they work.
async fn broken(auditors: &mut Option<Auditors>) -> Result<(), ApproverError> {
    let Some(running) = auditors else { return std::future::pending().await };
    let ended = (&mut running.writer).await;
    *auditors = None;
    ended.map_err(|error| ApproverError::Bug(error.to_string()))?
}

async fn finish(auditors: Option<Auditors>) -> Result<(), ApproverError> {
    match auditors {
        Some(auditors) => auditors.finish().await,
        None => Ok(()),
    }
}

fn fatal(trouble: Trouble) -> ApproverError {
    match trouble {
        Trouble::Api(error) => ApproverError::Api(error),
        Trouble::TooSlow => ApproverError::TooSlow(super::REQUEST_LIMIT.as_secs()),
        Trouble::Changed | Trouble::Gone | Trouble::NotRecorded => ApproverError::Bug(trouble.to_string()),
    }
}
