//! A candidate: the Lease as it is → write it, ask for it, hand it over, or wait for its holder. Pure.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;

/// How long a silent holder keeps the Lease.
pub const DURATION: Duration = Duration::from_secs(15);
/// How long a deputy may take to hand over before its principal says that it waits.
const HAND_OVER: Duration = Duration::from_secs(6);

/// On a Lease: its holder is a deputy.
const DEPUTY: &str = "hardway.dev/deputy";
/// On a Lease whose holder is a deputy, or was until just now: the principal that wants it.
const WANTED_BY: &str = "hardway.dev/wanted-by";

/// Who goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Acts unless another principal does.
    Principal,
    /// Acts while no principal is there.
    Deputy,
}

/// Decides what to do about a Lease.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    identity: String,
    standing: Standing,
    /// The Lease as it last was, and since when.
    seen: Option<(LeaseSpec, Duration)>,
    /// When it was first asked for.
    asked: Option<Duration>,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ElectionStep {
    /// Write this Lease: to take it, or to keep it.
    Hold(Box<Lease>),
    /// Write this Lease: its holder, a deputy, is asked for it.
    Ask(Box<Lease>),
    /// Write this Lease: a principal asked for it.
    HandOver(Box<Lease>),
    /// Somebody else holds it, or is about to.
    Wait {
        /// Who, where that is worth telling.
        holder: Option<String>,
    },
}

impl Candidate {
    /// Under a name that nobody else has.
    pub(super) fn new(identity: impl Into<String>, standing: Standing) -> Self {
        Self { identity: identity.into(), standing, seen: None, asked: None }
    }

    /// The Lease as it was just read, `elapsed` after some fixed moment.
    pub(super) fn step(&mut self, found: Option<&Lease>, elapsed: Duration, now: Timestamp) -> ElectionStep {
        let Some((lease, spec)) = found.and_then(|lease| Some((lease, lease.spec.as_ref()?))) else {
            return self.hold(found, now);
        };
        let unchanged = elapsed.saturating_sub(self.since(spec, elapsed));
        let holder = spec.holder_identity.clone().unwrap_or_default();
        let wanted_by = annotation(lease, WANTED_BY).filter(|name| *name != self.identity);
        let yields = self.standing == Standing::Deputy && wanted_by.is_some();
        match holder.as_str() {
            // The principal that asked for it takes it, unless it is dead.
            "" if yields && unchanged < DURATION => ElectionStep::Wait { holder: None },
            "" => self.hold(found, now),
            own if own == self.identity && yields => {
                ElectionStep::HandOver(Box::new(self.freed(lease, spec, now)))
            }
            own if own == self.identity => self.hold(found, now),
            _ if unchanged >= duration(spec) => self.hold(found, now),
            _ if self.standing == Standing::Principal && annotation(lease, DEPUTY).is_some() => {
                self.ask(lease, holder, elapsed)
            }
            _ => ElectionStep::Wait { holder: Some(holder) },
        }
    }

    /// The Lease without us: without a holder, if it is ours to give up; else without our wish for it.
    pub(super) fn release(&self, lease: &Lease, now: Timestamp) -> Option<Lease> {
        let spec = lease.spec.as_ref()?;
        if spec.holder_identity.as_deref() == Some(&self.identity) {
            return Some(self.freed(lease, spec, now));
        }
        (annotation(lease, WANTED_BY) == Some(&self.identity)).then(|| {
            let mut lease = lease.clone();
            annotate(&mut lease, WANTED_BY, None);
            lease
        })
    }

    /// Since when the Lease is as it is. What is written beside it does not count: that is not its holder's.
    fn since(&mut self, spec: &LeaseSpec, elapsed: Duration) -> Duration {
        match &self.seen {
            Some((seen, since)) if seen == spec => *since,
            _ => {
                self.seen = Some((spec.clone(), elapsed));
                elapsed
            }
        }
    }

    /// Asks a deputy, once; and says who is waited for if that takes long.
    fn ask(&mut self, lease: &Lease, holder: String, elapsed: Duration) -> ElectionStep {
        let asked = *self.asked.get_or_insert(elapsed);
        if annotation(lease, WANTED_BY).is_none() {
            let mut lease = lease.clone();
            annotate(&mut lease, WANTED_BY, Some(&self.identity));
            return ElectionStep::Ask(Box::new(lease));
        }
        ElectionStep::Wait { holder: (elapsed.saturating_sub(asked) >= HAND_OVER).then_some(holder) }
    }

    fn freed(&self, lease: &Lease, spec: &LeaseSpec, now: Timestamp) -> Lease {
        let spec = LeaseSpec {
            holder_identity: Some(String::new()),
            lease_duration_seconds: Some(1),
            renew_time: Some(MicroTime(now)),
            ..spec.clone()
        };
        let mut lease = Lease { spec: Some(spec), ..lease.clone() };
        annotate(&mut lease, DEPUTY, None);
        lease
    }

    fn hold(&mut self, found: Option<&Lease>, now: Timestamp) -> ElectionStep {
        self.asked = None;
        let spec = found.and_then(|lease| lease.spec.as_ref());
        let is_mine = spec.is_some_and(|spec| spec.holder_identity.as_deref() == Some(&self.identity));
        let transitions = spec.and_then(|spec| spec.lease_transitions).unwrap_or_default();
        let acquired = spec.and_then(|spec| spec.acquire_time.clone()).filter(|_| is_mine);
        let spec = LeaseSpec {
            holder_identity: Some(self.identity.clone()),
            lease_duration_seconds: i32::try_from(DURATION.as_secs()).ok(),
            acquire_time: acquired.or(Some(MicroTime(now))),
            renew_time: Some(MicroTime(now)),
            lease_transitions: Some(if is_mine || spec.is_none() { transitions } else { transitions + 1 }),
            ..LeaseSpec::default()
        };
        let mut lease = Lease { spec: Some(spec), ..found.cloned().unwrap_or_default() };
        annotate(&mut lease, WANTED_BY, None);
        annotate(&mut lease, DEPUTY, (self.standing == Standing::Deputy).then_some("true"));
        ElectionStep::Hold(Box::new(lease))
    }
}

/// How long a silent holder keeps it.
fn duration(spec: &LeaseSpec) -> Duration {
    let seconds = spec.lease_duration_seconds.and_then(|seconds| u64::try_from(seconds).ok());
    seconds.map_or(DURATION, Duration::from_secs)
}

fn annotation<'l>(lease: &'l Lease, key: &str) -> Option<&'l str> {
    lease.metadata.annotations.as_ref()?.get(key).map(String::as_str)
}

fn annotate(lease: &mut Lease, key: &str, value: Option<&str>) {
    let annotations = lease.metadata.annotations.get_or_insert_default();
    match value {
        Some(value) => _ = annotations.insert(key.to_owned(), value.to_owned()),
        None => _ = annotations.remove(key),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::leader_election::{DEADLINE, PERIOD};

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + seconds).unwrap()
    }

    const fn after(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn principal(name: &str) -> Candidate {
        Candidate::new(name, Standing::Principal)
    }

    fn deputy(name: &str) -> Candidate {
        Candidate::new(name, Standing::Deputy)
    }

    fn held(step: ElectionStep) -> Lease {
        match step {
            ElectionStep::Hold(lease) => *lease,
            other => panic!("{other:?}"),
        }
    }

    fn holder(lease: &Lease) -> &str {
        lease.spec.as_ref().unwrap().holder_identity.as_deref().unwrap()
    }

    fn transitions(lease: &Lease) -> i32 {
        lease.spec.as_ref().unwrap().lease_transitions.unwrap()
    }

    fn waits_for(name: &str) -> ElectionStep {
        ElectionStep::Wait { holder: Some(name.to_owned()) }
    }

    #[test]
    fn the_first_takes_it_and_the_second_waits_while_it_is_renewed() {
        let (mut a, mut b) = (principal("a"), principal("b"));
        let mut lease = held(a.step(None, after(0), at(0)));
        for second in (0..120).step_by(2) {
            assert_eq!(b.step(Some(&lease), after(second), at(0)), waits_for("a"));
            lease = held(a.step(Some(&lease), after(second), at(i64::try_from(second).unwrap())));
            assert_eq!((holder(&lease), transitions(&lease)), ("a", 0));
        }
        assert_eq!(lease.spec.unwrap().acquire_time, Some(MicroTime(at(0))));
    }

    /// B's clock is an hour behind; only what it sees counts.
    #[test]
    fn a_killed_holder_is_followed_after_the_duration_whatever_the_clocks_say() {
        let (mut a, mut b) = (principal("a"), principal("b"));
        let lease = held(a.step(None, after(0), at(0)));
        assert_eq!(b.step(Some(&lease), after(100), at(-3600)), waits_for("a"));
        assert_eq!(b.step(Some(&lease), after(114), at(-3586)), waits_for("a"));
        let taken = held(b.step(Some(&lease), after(115), at(-3585)));
        assert_eq!((holder(&taken), transitions(&taken)), ("b", 1));
        assert_eq!(a.step(Some(&taken), after(16), at(16)), waits_for("b"));
    }

    #[test]
    fn a_released_one_is_taken_at_once() {
        let (mut a, mut b) = (principal("a"), deputy("b"));
        let lease = held(a.step(None, after(0), at(0)));
        assert_eq!(b.release(&lease, at(1)), None, "only the holder can let go");
        let free = a.release(&lease, at(1)).unwrap();
        assert_eq!(holder(&held(b.step(Some(&free), after(1), at(1)))), "b");
    }

    #[test]
    fn nobody_acts_longer_than_others_wait() {
        assert!(DEADLINE + PERIOD < DURATION);
    }

    /// Two deputies and a principal that comes later.
    #[test]
    fn a_deputy_hands_over_to_the_principal_that_asks_and_to_nobody_else() {
        let (mut one, mut two, mut chief) = (deputy("one"), deputy("two"), principal("chief"));
        let lease = held(one.step(None, after(0), at(0)));
        assert_eq!(two.step(Some(&lease), after(1), at(1)), waits_for("one"), "deputies are equal");
        let ElectionStep::Ask(asked) = chief.step(Some(&lease), after(2), at(2)) else {
            panic!("it does not ask")
        };
        assert_eq!(holder(&asked), "one", "it takes nothing from one that is alive");
        assert_eq!(chief.step(Some(&asked), after(4), at(4)), ElectionStep::Wait { holder: None });
        assert_eq!(chief.release(&asked, at(4)), Some(lease), "a wish can be withdrawn");
        assert_eq!(two.step(Some(&asked), after(4), at(4)), waits_for("one"));
        let ElectionStep::HandOver(free) = one.step(Some(&asked), after(4), at(4)) else {
            panic!("it does not yield")
        };
        assert_eq!(holder(&free), "");
        for deputy in [&mut one, &mut two] {
            assert_eq!(deputy.step(Some(&free), after(5), at(5)), ElectionStep::Wait { holder: None });
        }
        let taken = held(chief.step(Some(&free), after(6), at(6)));
        assert_eq!((holder(&taken), transitions(&taken)), ("chief", 1));
        assert!(taken.metadata.annotations.as_ref().unwrap().is_empty(), "{taken:?}");
        for deputy in [&mut one, &mut two] {
            assert_eq!(deputy.step(Some(&taken), after(7), at(7)), waits_for("chief"));
        }
        assert_eq!(principal("other").step(Some(&taken), after(7), at(7)), waits_for("chief"), "equals wait");
    }

    #[test]
    fn a_principal_that_dies_before_it_takes_what_it_asked_for_keeps_nobody() {
        let (mut deputy, mut chief) = (deputy("deputy"), principal("chief"));
        let lease = held(deputy.step(None, after(0), at(0)));
        let ElectionStep::Ask(asked) = chief.step(Some(&lease), after(2), at(2)) else {
            panic!("it does not ask")
        };
        let ElectionStep::HandOver(free) = deputy.step(Some(&asked), after(4), at(4)) else {
            panic!("it does not yield")
        };
        assert_eq!(deputy.step(Some(&free), after(6), at(6)), ElectionStep::Wait { holder: None });
        assert_eq!(deputy.step(Some(&free), after(20), at(20)), ElectionStep::Wait { holder: None });
        let again = held(deputy.step(Some(&free), after(21), at(21)));
        assert_eq!(annotation(&again, WANTED_BY), None, "the dead one's wish is gone with it");
        assert!(matches!(principal("next").step(Some(&again), after(22), at(22)), ElectionStep::Ask(_)));
    }

    /// One of an older version, say. Whoever waits is told for whom.
    #[test]
    fn a_deputy_that_does_not_hand_over_is_named() {
        let (mut old, mut chief) = (deputy("old"), principal("chief"));
        let mut lease = held(old.step(None, after(0), at(0)));
        let ElectionStep::Ask(asked) = chief.step(Some(&lease), after(0), at(0)) else {
            panic!("it does not ask")
        };
        lease.metadata.annotations = asked.metadata.annotations.clone();
        for (second, waits) in [
            (2, ElectionStep::Wait { holder: None }),
            (4, ElectionStep::Wait { holder: None }),
            (6, waits_for("old")),
        ] {
            lease.spec.as_mut().unwrap().renew_time = Some(MicroTime(at(second)));
            let elapsed = after(u64::try_from(second).unwrap());
            assert_eq!(chief.step(Some(&lease), elapsed, at(second)), waits);
        }
    }
}
