//! One request: read it again, decide, write, tell.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hardway_journal::Follower;
use jiff::Timestamp;
use k8s_openapi::api::certificates::v1::CertificateSigningRequest;
use tokio::time::Instant;

use super::audit::Audit;
use super::leadership::Leadership;
use super::queue::Taken;
use super::record::{self, Outcome, Written};
use super::writing::{Cluster, Ours, Trouble};
use super::{Approver, ApproverError, View};
use crate::csr_policy::{Decision, Examined, State, Verdict};

/// How often a request is read again because somebody changed it meanwhile.
const ATTEMPTS: usize = 5;

/// What all that is going on shares.
pub(crate) struct Shared {
    pub(crate) approver: Approver,
    pub(crate) cluster: Cluster,
    pub(crate) leadership: Leadership,
    /// Without one nothing is written down.
    audit: Option<Audit>,
    view: Mutex<View>,
    journal: Mutex<Follower>,
}

impl Shared {
    pub(crate) fn new(approver: &Approver, leadership: Leadership, audit: Option<Audit>) -> Arc<Self> {
        let view = View::new(approver.declared.clone(), approver.settings.clone());
        let journal = Follower::new(&approver.folder.join(hardway_journal::FILE_NAME));
        Arc::new(Self {
            approver: approver.clone(),
            cluster: Cluster::new(&approver.client),
            leadership,
            audit,
            view: Mutex::new(view),
            journal: Mutex::new(journal),
        })
    }

    /// What is known.
    pub(crate) fn view(&self) -> MutexGuard<'_, View> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes in what others have written into the journal.
    pub(crate) fn read_journal(&self) -> Result<(), ApproverError> {
        let news = self.journal.lock().unwrap_or_else(PoisonError::into_inner).news()?;
        let mut view = self.view();
        news.iter().for_each(|record| view.read(record));
        Ok(())
    }

    /// Decides about one request. `None` when there is nothing to decide any more.
    pub(crate) async fn handle(&self, taken: &Taken) -> Result<Option<Outcome>, Trouble> {
        let began = Instant::now();
        let mut last = Trouble::Changed;
        for _ in 0..ATTEMPTS {
            match self.attempt(&taken.name).await {
                Ok(decided) => {
                    return Ok(decided.map(|(examined, decision, written)| {
                        self.outcome(&examined, decision, written, (taken.since, began))
                    }));
                }
                Err(Trouble::Changed) => {}
                Err(Trouble::Gone) => {
                    self.view().forget_request(&taken.name);
                    return Ok(None);
                }
                Err(trouble) => {
                    last = trouble;
                    break;
                }
            }
        }
        Err(last)
    }

    async fn attempt(&self, name: &str) -> Result<Option<(Examined, Decision, Written)>, Trouble> {
        let object = self.cluster.request(name).await?;
        let examined = self.view().examine(&object);
        let Some(examined) = examined.filter(|examined| examined.request.state == State::Pending) else {
            return Ok(None);
        };
        let declared = examined.node().filter(|node| self.view().is_declared(node)).map(str::to_owned);
        let node = match &declared {
            Some(node) => self.cluster.node(node).await?,
            None => None,
        };
        let now = (self.approver.now)();
        let decision = {
            let view = self.view();
            // Expected only since a moment ago: whether there is such a node was not asked, and counts.
            if declared.is_none() && examined.node().is_some_and(|node| view.is_declared(node)) {
                return Err(Trouble::Changed);
            }
            view.decide(&examined, node.as_ref(), now)
        };
        let written = match decision.verdict {
            Verdict::Leave => return Ok(None),
            Verdict::Hold => Written::Nothing,
            _ if self.approver.dry_run => Written::DryRun,
            _ if !self.leadership.is_ours() => Written::NotOurs,
            Verdict::Approve | Verdict::Deny => {
                self.write(object, &examined, &decision, now).await?;
                Written::Yes
            }
        };
        Ok(Some((examined, decision, written)))
    }

    /// What is intended is in the journal before it is written. Until it is known whether it was, it counts as recorded:
    /// the watch may tell about it before the answer comes.
    async fn write(
        &self,
        object: CertificateSigningRequest,
        examined: &Examined,
        decision: &Decision,
        now: Timestamp,
    ) -> Result<(), Trouble> {
        if let Some(audit) = &self.audit {
            let decided = record::decided(examined, decision);
            self.view().intend(decided.clone());
            if !audit.intended(now, decided).await {
                return Err(Trouble::NotRecorded);
            }
        }
        self.view().note_recorded(&examined.request.uid, true);
        let written = match self.cluster.write(object, decision, now).await {
            Err(trouble @ (Trouble::Api(_) | Trouble::TooSlow)) => {
                self.confirm(examined, decision, trouble).await
            }
            written => written,
        };
        match written {
            Ok(()) => {
                self.view().note_written(examined, decision.verdict, now);
                Ok(())
            }
            Err(trouble) => {
                // If it stands there after all, the watch will tell, and what was intended is then recorded.
                self.view().note_recorded(&examined.request.uid, false);
                Err(trouble)
            }
        }
    }

    /// Reads the request again after an answer that did not come: it may have been written nevertheless.
    async fn confirm(
        &self,
        examined: &Examined,
        decision: &Decision,
        trouble: Trouble,
    ) -> Result<(), Trouble> {
        match self.cluster.request(&examined.request.name).await {
            Ok(object) => {
                let is_same = object.metadata.uid.as_deref() == Some(examined.request.uid.as_str());
                let ours = Ours::of(&object).filter(|ours| is_same && ours.verdict == decision.verdict);
                ours.map(drop).ok_or(trouble)
            }
            Err(Trouble::Gone) => Err(Trouble::Gone),
            Err(_) => Err(trouble),
        }
    }

    fn outcome(
        &self,
        examined: &Examined,
        decision: Decision,
        written: Written,
        (since, began): (Instant, Instant),
    ) -> Outcome {
        let milliseconds =
            |from: Instant, to: Instant| u64::try_from((to - from).as_millis()).unwrap_or(u64::MAX);
        Outcome {
            time: (self.approver.now)(),
            decided: record::decided(examined, &decision),
            username: examined.request.username.clone(),
            fix: decision.fix(&examined.request.name, examined.node()),
            written,
            waited_milliseconds: milliseconds(since, began),
            took_milliseconds: milliseconds(began, Instant::now()),
            findings: decision.findings,
        }
    }
}
