//! Leader election by a Lease: of several replicas, one acts.
//!
//! ```text
//! Election     an elector in a task of its own, until it is ended
//! Leadership   what the elector last learned, for whoever has to ask before acting
//! Elector      reads and writes the Lease in the cluster, as the candidate decides
//! Candidate    pure: the Lease as it is → write it, or wait for its holder
//! ```
//!
//! A Lease is taken when its holder released it, or has not renewed it for its whole duration. Whether the holder is alive is judged
//! by how long the Lease has not changed, on a monotonic clock of our own: the clocks of two hosts need not agree (as kubernetes
//! `client-go/tools/leaderelection` does).

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use kube::api::{Api, ObjectMeta, PostParams};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

use crate::clock::Now;

/// How long a silent holder keeps the Lease.
pub const DURATION: Duration = Duration::from_secs(15);
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
    pub fn join(leases: Api<Lease>, name: &str, identity: &str, now: Now) -> Self {
        let (elector, leadership) = Elector::new(leases, name, identity, now);
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
}

impl Leadership {
    /// Of a replica that does not campaign: it never leads, and learns nothing.
    pub fn of_nobody() -> Self {
        Self { holder: watch::channel(Holder::Theirs(None)).1 }
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
    fn new(leases: Api<Lease>, name: &str, identity: &str, now: Now) -> (Self, Leadership) {
        let (sender, holder) = watch::channel(Holder::Theirs(None));
        let (candidate, name) = (Candidate::new(identity), name.to_owned());
        let elector = Self { leases, name, candidate, began: Instant::now(), now, holder: sender };
        (elector, Leadership { holder })
    }

    /// Campaigns until `stop` is done, then releases the Lease.
    async fn run(mut self, stop: impl Future<Output = ()>) {
        let mut stop = std::pin::pin!(stop);
        loop {
            self.renew().await;
            tokio::select! {
                () = sleep(PERIOD) => {}
                () = &mut stop => break,
            }
        }
        self.release().await;
    }

    /// One try. An API server that does not answer changes nothing; the deadline runs on.
    async fn renew(&mut self) {
        let asked = Instant::now();
        let Some(Ok(found)) = timeout(REQUEST_LIMIT, self.leases.get_opt(&self.name)).await.ok() else {
            return;
        };
        let spec = found.as_ref().and_then(|lease| lease.spec.as_ref());
        match self.candidate.step(spec, asked - self.began, (self.now)()) {
            Step::Wait { holder } => self.set(Holder::Theirs(Some(holder))),
            Step::Write(spec) => {
                if self.write(found, *spec).await {
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
        let free = found.spec.as_ref().and_then(|spec| self.candidate.release(spec, (self.now)()));
        if let Some(spec) = free {
            self.write(Some(found), spec).await;
        }
        self.set(Holder::Theirs(None));
    }

    /// Whether it was written. The resource version makes one of two concurrent writers fail.
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

    fn set(&self, holder: Holder) {
        self.holder.send_replace(holder);
    }
}

/// Decides what to do about a Lease.
#[derive(Clone, Debug)]
struct Candidate {
    identity: String,
    seen: Option<(LeaseSpec, Duration)>,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq)]
enum Step {
    /// Write this lease: to take it, or to keep it.
    Write(Box<LeaseSpec>),
    /// Somebody else holds it.
    Wait {
        /// Who.
        holder: String,
    },
}

impl Candidate {
    /// Under a name that nobody else has.
    fn new(identity: impl Into<String>) -> Self {
        Self { identity: identity.into(), seen: None }
    }

    /// The Lease as it was just read, `elapsed` after some fixed moment.
    fn step(&mut self, lease: Option<&LeaseSpec>, elapsed: Duration, now: Timestamp) -> Step {
        let Some(lease) = lease else { return self.write(None, now) };
        let since = match &self.seen {
            Some((seen, since)) if seen == lease => *since,
            _ => {
                self.seen = Some((lease.clone(), elapsed));
                elapsed
            }
        };
        let holder = lease.holder_identity.clone().unwrap_or_default();
        let duration = lease.lease_duration_seconds.and_then(|seconds| u64::try_from(seconds).ok());
        let duration = duration.map_or(DURATION, Duration::from_secs);
        let is_free =
            holder.is_empty() || holder == self.identity || elapsed.saturating_sub(since) >= duration;
        if is_free { self.write(Some(lease), now) } else { Step::Wait { holder } }
    }

    /// The Lease without a holder, if it is ours to give up.
    fn release(&self, lease: &LeaseSpec, now: Timestamp) -> Option<LeaseSpec> {
        (lease.holder_identity.as_deref() == Some(&self.identity)).then(|| LeaseSpec {
            holder_identity: Some(String::new()),
            lease_duration_seconds: Some(1),
            renew_time: Some(MicroTime(now)),
            ..lease.clone()
        })
    }

    fn write(&self, lease: Option<&LeaseSpec>, now: Timestamp) -> Step {
        let is_mine = lease.is_some_and(|lease| lease.holder_identity.as_deref() == Some(&self.identity));
        let transitions = lease.and_then(|lease| lease.lease_transitions).unwrap_or_default();
        let acquired = lease.and_then(|lease| lease.acquire_time.clone()).filter(|_| is_mine);
        Step::Write(Box::new(LeaseSpec {
            holder_identity: Some(self.identity.clone()),
            lease_duration_seconds: i32::try_from(DURATION.as_secs()).ok(),
            acquire_time: acquired.or(Some(MicroTime(now))),
            renew_time: Some(MicroTime(now)),
            lease_transitions: Some(if is_mine || lease.is_none() { transitions } else { transitions + 1 }),
            ..LeaseSpec::default()
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + seconds).unwrap()
    }

    fn written(step: Step) -> LeaseSpec {
        match step {
            Step::Write(lease) => *lease,
            Step::Wait { holder } => panic!("{holder} holds it"),
        }
    }

    const fn after(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn the_first_takes_it_and_the_second_waits_while_it_is_renewed() {
        let (mut a, mut b) = (Candidate::new("a"), Candidate::new("b"));
        let mut lease = written(a.step(None, after(0), at(0)));
        for second in (0..120).step_by(2) {
            assert_eq!(b.step(Some(&lease), after(second), at(0)), Step::Wait { holder: "a".into() });
            lease = written(a.step(Some(&lease), after(second), at(i64::try_from(second).unwrap())));
            assert_eq!((lease.holder_identity.as_deref(), lease.lease_transitions), (Some("a"), Some(0)));
        }
        assert_eq!(lease.acquire_time, Some(MicroTime(at(0))));
    }

    /// B's clock is an hour behind; only what it sees counts.
    #[test]
    fn a_killed_holder_is_followed_after_the_duration_whatever_the_clocks_say() {
        let (mut a, mut b) = (Candidate::new("a"), Candidate::new("b"));
        let lease = written(a.step(None, after(0), at(0)));
        assert_eq!(b.step(Some(&lease), after(100), at(-3600)), Step::Wait { holder: "a".into() });
        assert_eq!(b.step(Some(&lease), after(114), at(-3586)), Step::Wait { holder: "a".into() });
        let taken = written(b.step(Some(&lease), after(115), at(-3585)));
        assert_eq!((taken.holder_identity.as_deref(), taken.lease_transitions), (Some("b"), Some(1)));
        assert_eq!(a.step(Some(&taken), after(16), at(16)), Step::Wait { holder: "b".into() });
    }

    #[test]
    fn a_released_one_is_taken_at_once() {
        let (mut a, mut b) = (Candidate::new("a"), Candidate::new("b"));
        let lease = written(a.step(None, after(0), at(0)));
        assert_eq!(b.release(&lease, at(1)), None, "only the holder can let go");
        let free = a.release(&lease, at(1)).unwrap();
        assert_eq!(written(b.step(Some(&free), after(1), at(1))).holder_identity.as_deref(), Some("b"));
    }

    #[test]
    fn nobody_acts_longer_than_others_wait() {
        assert!(DEADLINE + PERIOD < DURATION);
    }
}
