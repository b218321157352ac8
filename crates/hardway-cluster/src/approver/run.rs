//! Running: what is pending now, or whatever comes.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use kube::ResourceExt as _;
use kube::api::ListParams;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, interval, sleep};

use super::audit::{Audit, Auditors};
use super::handling::Shared;
use super::leadership::{Elector, Leadership};
use super::lease::{DURATION, PERIOD};
use super::watching::{Seen, watch_all};
use super::working::Work;
use super::writing::{Trouble, limited};
use super::{Approver, ApproverError, Expected, News, Summary};
use crate::silence::Silence;

/// How often what time may have changed is asked again.
const AGAIN: Duration = Duration::from_secs(5);

/// How often it is looked whether something has to be recorded that is not a decision.
const NEWS: Duration = Duration::from_millis(500);

impl Approver {
    /// Decides about what is pending now, or as much of it as can be begun until `stop` is done.
    ///
    /// # Errors
    /// When the API server does not answer, or decisions cannot be recorded.
    pub async fn once(&self, stop: impl Future<Output = ()>) -> Result<Summary, ApproverError> {
        let mut stop = std::pin::pin!(stop);
        // Before anybody is waited for: an API server that is not there elects nobody.
        tokio::select! {
            answered = limited(self.client.apiserver_version()) => { answered.map_err(fatal)?; }
            () = &mut stop => return Ok(Summary::default()),
        }
        let (audit, auditors) = self.audit()?;
        let (election, leadership) = Election::begin(self);
        let shared = Shared::new(self, leadership.clone(), audit.clone());
        let mut work = Work::new(shared.clone(), audit);
        let ended = tokio::select! {
            ended = self.decide_pending(&shared, &mut work, leadership) => ended,
            () = &mut stop => Ok(()),
        };
        let drained = work.drain().await;
        let (summary, trouble) = (work.summary(), work.trouble());
        // What is written down ends with the last who could write more.
        drop((work, shared));
        let written = finish(auditors).await;
        election.end().await;
        ended.and(drained).and(written)?;
        trouble.map_or(Ok(summary), |trouble| Err(fatal(trouble)))
    }

    async fn decide_pending(
        &self,
        shared: &Arc<Shared>,
        work: &mut Work,
        leadership: Leadership,
    ) -> Result<(), ApproverError> {
        if !self.dry_run {
            self.until_known(leadership).await;
        }
        let all = ListParams::default();
        let listed = limited(shared.cluster.requests.list(&all)).await.map_err(fatal)?;
        let nodes = limited(shared.cluster.nodes.list_metadata(&all)).await.map_err(fatal)?;
        listed.items.iter().for_each(|request| shared.view().see_request(request));
        nodes.items.iter().for_each(|node| {
            shared.view().see_node(&node.name_any());
        });
        work.push_pending();
        shared.read_journal()?;
        work.record_news()?;
        while !work.is_idle() {
            work.begin()?;
            work.done().await?;
        }
        Ok(())
    }

    /// Decides about whatever comes, until `stop` is done; then ends what has begun.
    ///
    /// # Errors
    /// When decisions cannot be recorded. An API server that does not answer is waited for.
    pub async fn watch(&self, stop: impl Future<Output = ()>) -> Result<Summary, ApproverError> {
        let rejoin = self.settings.rejoin.clone();
        let (_sender, expected) = watch::channel(Expected { declared: self.declared.clone(), rejoin });
        self.watch_expected(expected, stop).await
    }

    /// The same, where who is expected changes meanwhile.
    ///
    /// # Errors
    /// When decisions cannot be recorded. An API server that does not answer is waited for.
    pub async fn watch_expected(
        &self,
        expected: watch::Receiver<Expected>,
        stop: impl Future<Output = ()>,
    ) -> Result<Summary, ApproverError> {
        let (audit, mut auditors) = self.audit()?;
        let (election, leadership) = Election::begin(self);
        let shared = Shared::new(self, leadership.clone(), audit.clone());
        let mut work = Work::new(shared, audit);
        work.expect(&expected.borrow());
        let ended = self.follow(&mut work, leadership, &mut auditors, expected, stop).await;
        let drained = work.drain().await.and_then(|()| work.record_news());
        let summary = work.summary();
        drop(work);
        let written = finish(auditors).await;
        election.end().await;
        ended.and(drained).and(written).map(|()| summary)
    }

    async fn follow(
        &self,
        work: &mut Work,
        mut leadership: Leadership,
        auditors: &mut Option<Auditors>,
        mut expected: watch::Receiver<Expected>,
        stop: impl Future<Output = ()>,
    ) -> Result<(), ApproverError> {
        let mut seen = watch_all(&self.client);
        let mut stop = std::pin::pin!(stop);
        let (mut again, mut news) = (interval(AGAIN), interval(NEWS));
        let (mut alive, mut silence) = (interval(NEWS), Silence::begin());
        let mut known = Known::default();
        loop {
            tokio::select! {
                () = &mut stop => return Ok(()),
                Some(seen) = seen.next() => known.take_in(seen, work, self),
                done = work.done() => done?,
                () = leadership.changed() => known.elected(&leadership, work, self),
                () = changed(&mut expected) => work.expect(&expected.borrow_and_update().clone()),
                _ = again.tick() => work.again(),
                _ = alive.tick() => {
                    if let Some(line) = silence.line(known.is_complete() && known.trouble.is_none(), known.trouble.as_deref()) {
                        (self.tell)(News::Trouble(&line));
                    }
                }
                _ = news.tick(), if known.is_complete() => work.record_news()?,
                failed = broken(auditors) => return failed,
            }
            // Before both lists are complete, others of the same node may not be known yet. Who does not write only watches.
            if known.is_complete() && (self.dry_run || leadership.is_ours()) {
                work.begin()?;
            }
        }
    }

    /// Waits until it is clear who writes: a holder that was killed is believed for a while.
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
    /// `None` until it is known, and after a lease that ran out.
    is_leading: Option<bool>,
    trouble: Option<String>,
}

impl Known {
    fn is_complete(&self) -> bool {
        self.requests && self.nodes
    }

    fn take_in(&mut self, seen: Seen, work: &mut Work, approver: &Approver) {
        let trouble = match &seen {
            Seen::Trouble(trouble) => Some(trouble.clone()),
            _ => None,
        };
        // Told once, not with every try; and then now and again, see Silence.
        if let Some(trouble) = trouble.as_ref().filter(|_| self.trouble.is_none()) {
            (approver.tell)(News::Trouble(trouble));
        }
        self.trouble = trouble;
        self.requests |= matches!(seen, Seen::Requests(_));
        self.nodes |= matches!(seen, Seen::Nodes(_));
        work.take_in(seen);
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
            // What was taken up meanwhile was left undone.
            (false, None) => self.is_leading = None,
            _ => {}
        }
    }
}

/// Standing for election in the background.
struct Election {
    stop: Option<oneshot::Sender<()>>,
    elector: Option<JoinHandle<()>>,
}

impl Election {
    /// In a dry run nobody stands.
    fn begin(approver: &Approver) -> (Self, Leadership) {
        let (elector, leadership) =
            Elector::new(approver.client.clone(), &approver.identity, approver.now.clone());
        if approver.dry_run {
            return (Self { stop: None, elector: None }, leadership);
        }
        let (stop, stopped) = oneshot::channel::<()>();
        let stopped = async {
            let _ = stopped.await;
        };
        (Self { stop: Some(stop), elector: Some(tokio::spawn(elector.stand(stopped))) }, leadership)
    }

    /// Lets go.
    async fn end(self) {
        drop(self.stop);
        if let Some(elector) = self.elector {
            let _ = elector.await;
        }
    }
}

/// Waits for a change; for ever when nobody changes it any more.
async fn changed(expected: &mut watch::Receiver<Expected>) {
    if expected.changed().await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Why nothing more can be written down. For ever, while it can.
async fn broken(auditors: &mut Option<Auditors>) -> Result<(), ApproverError> {
    let Some(writing) = auditors else { return std::future::pending().await };
    let ended = (&mut writing.writer).await;
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
