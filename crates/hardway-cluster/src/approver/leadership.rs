//! Standing for election, in the cluster.

use std::sync::Arc;

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use kube::api::{Api, ObjectMeta, PostParams};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use super::lease::{Candidate, DEADLINE, PERIOD, Step};
use super::{Now, REQUEST_LIMIT};

/// Where the lease is. The namespace is in every cluster from the first second on.
pub const NAMESPACE: &str = "kube-system";
/// Its name.
pub const NAME: &str = "hardway-approver";

/// Whether this one writes.
#[derive(Clone, Debug)]
pub struct Leadership {
    standing: watch::Receiver<Standing>,
}

/// How the election stands.
#[derive(Clone, Debug)]
enum Standing {
    /// Ours until then, unless renewed.
    Ours(Instant),
    /// Somebody else's, as far as is known.
    Theirs(Option<String>),
}

/// One that stands for election until it is told to stop.
pub struct Elector {
    leases: Api<Lease>,
    name: String,
    candidate: Candidate,
    began: Instant,
    now: Now,
    standing: Arc<watch::Sender<Standing>>,
}

impl Leadership {
    /// Whether this one may write now.
    pub fn is_ours(&self) -> bool {
        matches!(&*self.standing.borrow(), Standing::Ours(until) if Instant::now() < *until)
    }

    /// Who else may.
    pub fn holder(&self) -> Option<String> {
        match &*self.standing.borrow() {
            Standing::Theirs(holder) => holder.clone(),
            Standing::Ours(_) => None,
        }
    }

    /// Waits until something about it has changed. For ever when nobody stands any more.
    pub async fn changed(&mut self) {
        if self.standing.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

impl Elector {
    /// For the approvers' lease.
    pub(crate) fn new(client: kube::Client, identity: &str, now: Now) -> (Self, Leadership) {
        Self::on(Api::namespaced(client, NAMESPACE), NAME, identity, now)
    }

    /// For a lease of that name.
    pub fn on(leases: Api<Lease>, name: &str, identity: &str, now: Now) -> (Self, Leadership) {
        let (sender, standing) = watch::channel(Standing::Theirs(None));
        let (candidate, name) = (Candidate::new(identity), name.to_owned());
        let elector =
            Self { leases, name, candidate, began: Instant::now(), now, standing: Arc::new(sender) };
        (elector, Leadership { standing })
    }

    /// Stands until `stop` is done, then lets go.
    pub async fn stand(mut self, stop: impl Future<Output = ()>) {
        let mut stop = std::pin::pin!(stop);
        loop {
            self.look().await;
            tokio::select! {
                () = sleep(PERIOD) => {}
                () = &mut stop => break,
            }
        }
        self.let_go().await;
    }

    /// Looks once. An API server that does not answer changes nothing; the deadline runs.
    pub(crate) async fn look(&mut self) {
        let asked = Instant::now();
        let Some(Ok(found)) = timeout(REQUEST_LIMIT, self.leases.get_opt(&self.name)).await.ok() else {
            return;
        };
        let spec = found.as_ref().and_then(|lease| lease.spec.as_ref());
        match self.candidate.step(spec, asked - self.began, (self.now)()) {
            Step::Wait { holder } => self.tell(Standing::Theirs(Some(holder))),
            Step::Write(spec) => {
                if self.write(found, *spec).await {
                    self.tell(Standing::Ours(asked + DEADLINE));
                }
            }
        }
    }

    /// Lets go, so that the next one need not wait.
    pub(crate) async fn let_go(&mut self) {
        let Some(Ok(Some(found))) = timeout(REQUEST_LIMIT, self.leases.get_opt(&self.name)).await.ok() else {
            return;
        };
        let free = found.spec.as_ref().and_then(|spec| self.candidate.release(spec, (self.now)()));
        if let Some(spec) = free {
            self.write(Some(found), spec).await;
        }
        self.tell(Standing::Theirs(None));
    }

    /// Whether it was written. Its resource version sees to it that only one of two who try at once succeeds.
    async fn write(&self, found: Option<Lease>, spec: LeaseSpec) -> bool {
        let params = PostParams::default();
        let request = async {
            match found {
                Some(lease) => {
                    self.leases.replace(&self.name, &params, &Lease { spec: Some(spec), ..lease }).await
                }
                None => {
                    let metadata = ObjectMeta { name: Some(self.name.clone()), ..ObjectMeta::default() };
                    self.leases.create(&params, &Lease { metadata, spec: Some(spec) }).await
                }
            }
        };
        matches!(timeout(REQUEST_LIMIT, request).await, Ok(Ok(_)))
    }

    fn tell(&self, standing: Standing) {
        self.standing.send_replace(standing);
    }
}
