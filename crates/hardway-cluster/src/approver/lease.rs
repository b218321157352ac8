//! Who of several approvers writes: a Lease, taken when its holder let it go or has not renewed it for its whole duration.
//!
//! The step is a pure function. Whether the holder is alive is judged by how long the lease has not changed, on a clock of our
//! own that only goes forward: the clocks of two hosts need not agree (as kubernetes `client-go/tools/leaderelection` does).

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::LeaseSpec;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;

/// How long a holder that says nothing is still believed.
pub const DURATION: Duration = Duration::from_secs(15);
/// How long a holder acts without having been able to renew.
pub const DEADLINE: Duration = Duration::from_secs(10);
/// How often everybody looks.
pub const PERIOD: Duration = Duration::from_secs(2);

/// One that stands for election.
#[derive(Clone, Debug)]
pub struct Candidate {
    identity: String,
    seen: Option<(LeaseSpec, Duration)>,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
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
    pub fn new(identity: impl Into<String>) -> Self {
        Self { identity: identity.into(), seen: None }
    }

    /// Its name.
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// Looks at the lease, `elapsed` after some fixed moment.
    pub fn step(&mut self, lease: Option<&LeaseSpec>, elapsed: Duration, now: Timestamp) -> Step {
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

    /// The lease as it is when nobody holds it any more: the next one need not wait.
    pub fn release(&self, lease: &LeaseSpec, now: Timestamp) -> Option<LeaseSpec> {
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
