//! Leader election by a Lease: of several replicas, one acts.
//!
//! ```text
//! Election     an elector in a task of its own, until it is ended
//! Leadership   what the elector last learned, for whoever has to ask before acting
//! Elector      reads and writes the Lease in the cluster, as the candidate decides
//! Candidate    pure: the Lease as it is → write it, ask for it, hand it over, or wait for its holder   candidate.rs
//! ```
//!
//! A Lease is taken when its holder released it, or has not renewed it for its whole duration. Whether the holder is alive is judged
//! by how long the Lease has not changed, on a monotonic clock of our own: the clocks of two hosts need not agree (as kubernetes
//! `client-go/tools/leaderelection` does).
//!
//! Candidates need not be equal: a principal goes before a deputy. It never takes the Lease from one that is alive, because the two
//! would act at once for a while; it writes into the Lease that it wants it, and the deputy lets go at its next look.
//! (Kubernetes' own field for this, `preferredHolder`, is dropped by API servers without a feature gate.)

mod candidate;

use std::time::Duration;

use hardway_journal::Now;
use k8s_openapi::api::coordination::v1::Lease;
use kube::api::{Api, PostParams};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

use candidate::{Candidate, ElectionStep};
pub use candidate::{DURATION, Standing};

/// How long a holder goes on acting when it cannot renew.
const DEADLINE: Duration = Duration::from_secs(10);
/// How often the Lease is read.
pub const PERIOD: Duration = Duration::from_secs(2);
/// How long one answer of the API server may take.
const REQUEST_LIMIT: Duration = Duration::from_secs(10);

/// An elector in a task of its own.
pub struct Election {
    leadership: Leadership,
    stop: oneshot::Sender<()>,
    elector: JoinHandle<()>,
}

impl Election {
    /// Joins the election for the Lease of that name. Must run inside an async runtime.
    pub fn join(leases: Api<Lease>, name: &str, identity: &str, standing: Standing, now: Now) -> Self {
        let (elector, leadership) = Elector::new(leases, name, Candidate::new(identity, standing), now);
        let (stop, stopped) = oneshot::channel::<()>();
        let stopped = async {
            let _ = stopped.await;
        };
        Self { leadership, stop, elector: tokio::spawn(elector.run(stopped)) }
    }

    /// Who leads, as far as is known.
    pub fn leadership(&self) -> &Leadership {
        &self.leadership
    }

    /// The same, to wait for changes.
    pub fn leadership_mut(&mut self) -> &mut Leadership {
        &mut self.leadership
    }

    /// Withdraws, and releases the Lease if it is held.
    pub async fn end(self) {
        drop(self.stop);
        let _ = self.elector.await;
    }
}

/// Whether this replica leads.
#[derive(Clone, Debug)]
pub struct Leadership {
    holder: watch::Receiver<Holder>,
}

/// Who holds the Lease.
#[derive(Clone, Debug)]
enum Holder {
    /// Ours until then, unless renewed.
    Ours(Instant),
    /// Somebody else's, as far as is known.
    Theirs(Option<String>),
}

/// Keeps standing for election until it is told to stop.
struct Elector {
    leases: Api<Lease>,
    name: String,
    candidate: Candidate,
    began: Instant,
    now: Now,
    holder: watch::Sender<Holder>,
    /// Whether it was ever tried: a write that was cut off may have come through.
    wrote: bool,
}

impl Leadership {
    /// Of a replica that does not campaign: it never leads, and learns nothing.
    pub fn of_nobody() -> Self {
        Self { holder: watch::channel(Holder::Theirs(None)).1 }
    }

    /// Of a replica that leads without asking anybody.
    #[cfg(test)]
    pub(crate) fn of_us() -> Self {
        Self { holder: watch::channel(Holder::Ours(Instant::now() + Duration::from_secs(3600))).1 }
    }

    /// Whether this replica may act now.
    pub fn is_ours(&self) -> bool {
        matches!(&*self.holder.borrow(), Holder::Ours(until) if Instant::now() < *until)
    }

    /// Who else leads.
    pub fn holder(&self) -> Option<String> {
        match &*self.holder.borrow() {
            Holder::Theirs(holder) => holder.clone(),
            Holder::Ours(_) => None,
        }
    }

    /// Waits for the next change; for ever once the elector has ended.
    pub async fn changed(&mut self) {
        if self.holder.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

impl Elector {
    /// A candidate for the Lease of that name.
    fn new(leases: Api<Lease>, name: &str, candidate: Candidate, now: Now) -> (Self, Leadership) {
        let (sender, holder) = watch::channel(Holder::Theirs(None));
        let name = name.to_owned();
        let elector =
            Self { leases, name, candidate, began: Instant::now(), now, holder: sender, wrote: false };
        (elector, Leadership { holder })
    }

    /// Campaigns until `stop` is done, then releases the Lease.
    async fn run(mut self, stop: impl Future<Output = ()>) {
        let mut stop = std::pin::pin!(stop);
        loop {
            let round = async {
                self.renew().await;
                sleep(PERIOD).await;
            };
            tokio::select! {
                () = round => {}
                () = &mut stop => break,
            }
        }
        // Whoever never wrote has nothing to let go: an API server that is silent is not asked once more.
        if self.wrote {
            self.release().await;
        }
    }

    /// One try. An API server that does not answer changes nothing; the deadline runs on.
    async fn renew(&mut self) {
        let asked = Instant::now();
        let Some(Ok(found)) = timeout(REQUEST_LIMIT, self.leases.get_opt(&self.name)).await.ok() else {
            return;
        };
        match self.candidate.step(found.as_ref(), asked - self.began, (self.now)()) {
            ElectionStep::Wait { holder } => self.set(Holder::Theirs(holder)),
            ElectionStep::Ask(lease) => {
                self.set(Holder::Theirs(None));
                self.write(*lease).await;
            }
            ElectionStep::HandOver(lease) => {
                // First nothing new is begun here; then the other may begin.
                self.set(Holder::Theirs(None));
                self.write(*lease).await;
            }
            ElectionStep::Hold(lease) => {
                if self.write(*lease).await {
                    self.set(Holder::Ours(asked + DEADLINE));
                }
            }
        }
    }

    /// Gives the Lease up, so that the next leader need not wait.
    async fn release(&mut self) {
        let Some(Ok(Some(found))) = timeout(REQUEST_LIMIT, self.leases.get_opt(&self.name)).await.ok() else {
            return;
        };
        if let Some(free) = self.candidate.release(&found, (self.now)()) {
            self.write(free).await;
        }
        self.set(Holder::Theirs(None));
    }

    /// Whether it was written. The resource version makes one of two concurrent writers fail.
    async fn write(&mut self, mut lease: Lease) -> bool {
        self.wrote = true;
        let params = PostParams::default();
        let request = async {
            match lease.metadata.resource_version {
                Some(_) => self.leases.replace(&self.name, &params, &lease).await,
                None => {
                    lease.metadata.name = Some(self.name.clone());
                    self.leases.create(&params, &lease).await
                }
            }
        };
        matches!(timeout(REQUEST_LIMIT, request).await, Ok(Ok(_)))
    }

    fn set(&self, holder: Holder) {
        self.holder.send_replace(holder);
    }
}
