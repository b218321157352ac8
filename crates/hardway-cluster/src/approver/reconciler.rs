//! One request: read it again, decide, write the verdict into it.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hardway_journal::Follower;
use jiff::Timestamp;
use k8s_openapi::api::certificates::v1::CertificateSigningRequest;
use k8s_openapi::api::core::v1::Node;
use kube::api::{Api, PostParams};
use tokio::time::{Instant, timeout};

use super::audit::Audit;
use super::our_condition::OurCondition;
use super::record::{self, CsrOutcome, Written};
use super::work_queue::Queued;
use super::{Approver, ApproverError, ClusterView, REQUEST_LIMIT};
use crate::api_error::sentence;
use crate::csr_policy::{CsrVerdict, Decision, Examined, RequestState};
use crate::leader_election::Leadership;

/// Tries, when somebody else changes the request between reading and writing.
const ATTEMPTS: usize = 5;

/// Reconciles requests; shared by all that are being decided about.
pub(crate) struct Reconciler {
    pub(crate) approver: Approver,
    pub(crate) cluster: Cluster,
    pub(crate) leadership: Leadership,
    /// None in a dry run: nothing is recorded.
    audit: Option<Audit>,
    view: Mutex<ClusterView>,
    journal: Mutex<Follower>,
    /// Of whoever serves configs, where that is another.
    fetches: Option<Mutex<Follower>>,
}

impl Reconciler {
    pub(crate) fn new(approver: &Approver, leadership: Leadership, audit: Option<Audit>) -> Arc<Self> {
        let view = ClusterView::new(approver.declared.clone(), approver.settings.clone());
        let follower = |folder: &Path| Mutex::new(Follower::new(&folder.join(hardway_journal::FILE_NAME)));
        Arc::new(Self {
            approver: approver.clone(),
            cluster: Cluster::new(&approver.client),
            leadership,
            audit,
            view: Mutex::new(view),
            journal: follower(&approver.folder),
            fetches: approver.fetches.as_deref().map(follower),
        })
    }

    /// What is known.
    pub(crate) fn view(&self) -> MutexGuard<'_, ClusterView> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Applies what others have appended to the journal.
    pub(crate) fn read_journal(&self) -> Result<(), ApproverError> {
        let news = |journal: &Mutex<Follower>| journal.lock().unwrap_or_else(PoisonError::into_inner).news();
        let own = news(&self.journal)?;
        let fetches = self.fetches.as_ref().map(news).transpose()?.unwrap_or_default();
        let mut view = self.view();
        view.follow(&own);
        view.follow_fetches(&fetches);
        Ok(())
    }

    /// Decides about one request; `None` when it is decided already, or gone.
    pub(crate) async fn reconcile(&self, queued: &Queued) -> Result<Option<CsrOutcome>, Trouble> {
        let began = Instant::now();
        let mut last = Trouble::Changed;
        for _ in 0..ATTEMPTS {
            match self.attempt(&queued.name).await {
                Ok(decided) => {
                    return Ok(decided.map(|(examined, decision, written)| {
                        self.outcome(&examined, decision, written, (queued.since, began))
                    }));
                }
                Err(Trouble::Changed) => {}
                Err(Trouble::Gone) => {
                    self.view().forget_request(&queued.name);
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
        let Some(examined) = examined.filter(|examined| examined.request.state == RequestState::Pending)
        else {
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
            // It became expected after the check above, so its node was not read: start over.
            if declared.is_none() && examined.node().is_some_and(|node| view.is_declared(node)) {
                return Err(Trouble::Changed);
            }
            view.decide(&examined, node.as_ref(), now)
        };
        let written = match OurCondition::of_decision(&decision, now) {
            None if decision.verdict() == CsrVerdict::Leave => return Ok(None),
            None => Written::Nothing,
            Some(_) if self.approver.dry_run => Written::DryRun,
            Some(_) if !self.leadership.is_ours() => Written::NotOurs,
            Some(condition) => {
                self.write(object, &examined, &condition, now).await?;
                Written::Yes
            }
        };
        Ok(Some((examined, decision, written)))
    }

    /// That one is to be let in is in the journal before the verdict is written. Until the answer is known it counts as recorded: the
    /// watch may bring the verdict before the answer comes. Who is refused gains nothing by it, and could ask without end: what a
    /// killed approver refused is found in the request itself.
    async fn write(
        &self,
        object: CertificateSigningRequest,
        examined: &Examined,
        condition: &OurCondition,
        now: Timestamp,
    ) -> Result<(), Trouble> {
        if let Some(audit) = self.audit.as_ref().filter(|_| condition.verdict() == CsrVerdict::Approve) {
            let decided = record::found(examined, condition);
            self.view().intend(decided.clone());
            if !audit.intended(now, decided).await {
                return Err(Trouble::NotRecorded);
            }
        }
        self.view().note_recorded(&examined.request.uid, true);
        let written = match self.cluster.write(object, condition).await {
            Err(trouble @ (Trouble::Api(_) | Trouble::TooSlow)) => {
                self.confirm(examined, condition, trouble).await
            }
            written => written,
        };
        match written {
            Ok(()) => {
                self.view().note_written(examined, condition.verdict(), now);
                Ok(())
            }
            Err(trouble) => {
                // If it was written after all, the watch brings it, and the intent is recorded then.
                self.view().note_recorded(&examined.request.uid, false);
                Err(trouble)
            }
        }
    }

    /// Reads the request again after a lost answer: the verdict may have been written nevertheless.
    async fn confirm(
        &self,
        examined: &Examined,
        condition: &OurCondition,
        trouble: Trouble,
    ) -> Result<(), Trouble> {
        match self.cluster.request(&examined.request.name).await {
            Ok(object) => {
                let is_same = object.metadata.uid.as_deref() == Some(examined.request.uid.as_str());
                let ours = OurCondition::of(&object);
                let ours = ours.filter(|ours| is_same && ours.verdict() == condition.verdict());
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
    ) -> CsrOutcome {
        let milliseconds =
            |from: Instant, to: Instant| u64::try_from((to - from).as_millis()).unwrap_or(u64::MAX);
        CsrOutcome {
            time: (self.approver.now)(),
            decided: record::decided(examined, &decision),
            fix: decision.fix(&examined.request.name, examined.node()),
            written,
            waited_milliseconds: milliseconds(since, began),
            took_milliseconds: milliseconds(began, Instant::now()),
            findings: decision.into_findings(),
        }
    }
}

/// Why a request could not be reconciled.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Trouble {
    /// Somebody changed the request since it was read: read it again.
    #[error("a request keeps changing while it is being decided")]
    Changed,
    /// The request is gone.
    #[error("a request is gone")]
    Gone,
    /// The API server does not answer, or not well.
    #[error("{}", sentence(.0))]
    Api(Box<kube::Error>),
    /// It does not answer in time.
    #[error("no answer within {} seconds", REQUEST_LIMIT.as_secs())]
    TooSlow,
    /// The journal cannot be written, and what cannot be recorded is not decided.
    #[error("the journal cannot be written")]
    NotRecorded,
}

/// The requests and nodes of a cluster.
#[derive(Clone)]
pub(crate) struct Cluster {
    pub(crate) requests: Api<CertificateSigningRequest>,
    pub(crate) nodes: Api<Node>,
}

impl Cluster {
    pub(crate) fn new(client: &kube::Client) -> Self {
        Self { requests: Api::all(client.clone()), nodes: Api::all(client.clone()) }
    }

    pub(crate) async fn request(&self, name: &str) -> Result<CertificateSigningRequest, Trouble> {
        limited(self.requests.get_opt(name)).await?.ok_or(Trouble::Gone)
    }

    pub(crate) async fn node(&self, name: &str) -> Result<Option<Node>, Trouble> {
        limited(self.nodes.get_opt(name)).await
    }

    /// Writes a verdict into the very version of the request that was judged.
    #[expect(clippy::disallowed_methods, reason = "the one place: an OurCondition comes from the policy")]
    pub(crate) async fn write(
        &self,
        mut object: CertificateSigningRequest,
        condition: &OurCondition,
    ) -> Result<(), Trouble> {
        let name = object.metadata.name.clone().unwrap_or_default();
        let status = object.status.get_or_insert_default();
        status.conditions.get_or_insert_default().push(condition.to_condition());
        limited(self.requests.replace_subresource("approval", &name, &PostParams::default(), &object))
            .await
            .map(drop)
    }
}

pub(crate) async fn limited<T>(request: impl Future<Output = kube::Result<T>>) -> Result<T, Trouble> {
    match timeout(REQUEST_LIMIT, request).await {
        Err(_) => Err(Trouble::TooSlow),
        Ok(Ok(value)) => Ok(value),
        Ok(Err(kube::Error::Api(status))) if status.code == 409 => Err(Trouble::Changed),
        Ok(Err(kube::Error::Api(status))) if status.code == 404 => Err(Trouble::Gone),
        Ok(Err(error)) => Err(Trouble::Api(Box::new(error))),
    }
}
