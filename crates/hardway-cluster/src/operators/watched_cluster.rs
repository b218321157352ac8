//! Everything that watching a cluster has told so far, folded from events. Pure: time comes with each event, by the clock
//! of whoever watches. The cluster's own times are shown and never reckoned with: its clock may be wrong.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use kube::ResourceExt as _;

use super::chain::{self, Prerequisite, chain};
use super::progress::OperatorProgress;
use super::timeline::{Moment, Timeline};
use super::version_progress::VersionProgress;
use super::view::{OperatorView, Stall};
use crate::declared::Declared;
use crate::objects::{ClusterOperator, Truth};
use crate::state::ClusterState;
use crate::watch::{ClusterEvent, Observed, WatchedKind};

/// How long an operator must not be Progressing to count as stable (installer `coStabilityThreshold`).
pub const STABLE_FOR: SignedDuration = SignedDuration::from_secs(30);

/// The fold.
#[derive(Clone, Debug)]
pub struct WatchedCluster {
    declared: Declared,
    state: ClusterState,
    contact: BTreeMap<WatchedKind, Contact>,
    /// When a condition of an operator was first seen as it is.
    since: BTreeMap<(String, String), Since>,
    timeline: Timeline,
    progress: OperatorProgress,
    stable_for: SignedDuration,
}

/// When a kind was last heard of.
#[derive(Clone, Debug, Default)]
struct Contact {
    last: Option<Timestamp>,
    lost: Option<(Timestamp, String)>,
}

/// A status, with the writer's own time as part of its identity: a change and back between two looks is a change.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Since {
    status: Truth,
    written: Option<Timestamp>,
    seen: Timestamp,
}

impl WatchedCluster {
    /// Watching begins.
    pub fn new(declared: Declared, now: Timestamp) -> Self {
        Self {
            declared,
            state: ClusterState::default(),
            contact: BTreeMap::new(),
            since: BTreeMap::new(),
            timeline: Timeline::default(),
            progress: OperatorProgress::new(now),
            stable_for: STABLE_FOR,
        }
    }

    /// Another time for operators to be stable.
    pub fn stable_for(self, stable_for: SignedDuration) -> Self {
        Self { stable_for, ..self }
    }

    /// Takes in one event.
    pub fn apply(&mut self, event: &ClusterEvent, now: Timestamp) {
        let before = self.state.operators.clone();
        let nodes = self.state.nodes.iter().map(|(name, node)| (name.clone(), node.is_ready())).collect();
        self.hear(event, now);
        self.state.apply(event);
        if matches!(event, ClusterEvent::Tick | ClusterEvent::Lost(..)) {
            return;
        }
        self.note_operators(&before, now);
        self.note_nodes(&nodes, now);
        self.progress.look(&self.state, now);
    }

    /// Something that is not in the API was reached.
    pub fn note(&mut self, fact: String, now: Timestamp) {
        self.progress.note(fact, now);
    }

    /// The objects.
    pub fn state(&self) -> &ClusterState {
        &self.state
    }

    /// The nodes that should be there.
    pub fn declared(&self) -> &Declared {
        &self.declared
    }

    /// What happened.
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// The version operator's work.
    pub fn version(&self) -> VersionProgress {
        VersionProgress::of(self.state.version.as_ref())
    }

    /// Every operator, with what it waits for.
    pub fn operators(&self) -> Vec<OperatorView> {
        let view = |(name, operator): (&String, &ClusterOperator)| {
            let seen = |kind: &str| self.since.get(&(name.clone(), kind.to_owned())).map(|since| since.seen);
            OperatorView::new(name, operator, seen, chain(name, &self.state, &self.declared))
        };
        self.state.operators.iter().map(view).collect()
    }

    /// Why the connection is considered lost, and since when. None while at least one kind is kept up to date.
    pub fn lost(&self) -> Option<(Timestamp, &str)> {
        let mut lost = None;
        for contact in self.contact.values() {
            match &contact.lost {
                None => return None,
                Some((when, why)) => lost = Some((*when, why.as_str())),
            }
        }
        lost
    }

    /// Whether what is known of a kind is kept up to date.
    pub fn is_fresh(&self, kind: WatchedKind) -> bool {
        self.contact.get(&kind).is_some_and(|contact| contact.last.is_some() && contact.lost.is_none())
    }

    /// What keeps the ClusterVersion from being initialized, a sentence each. Empty: it is.
    pub fn uninitialized(&self) -> Vec<String> {
        let mut missing = self.stale(&[WatchedKind::Version]);
        let version = self.version();
        if !version.is_initialized {
            let word = version.last_word().unwrap_or("the version operator has not reported yet");
            missing.push(word.to_owned());
        }
        missing
    }

    /// Operators that have been Progressing within the last 30 s (or `stable_for`), by name.
    pub fn unstable(&self, now: Timestamp) -> Vec<String> {
        self.state.operators.keys().filter(|name| !self.is_stable(name, now)).cloned().collect()
    }

    /// Operators that are waited for to come to rest, and what the first that says so is at, in a phrase.
    pub fn restless(&self, names: &[String]) -> String {
        let at_work = names.iter().find_map(|name| {
            let progressing = self.state.operators.get(name)?.condition("Progressing")?;
            let message = progressing.message.as_deref().filter(|message| !message.is_empty());
            (progressing.status == Truth::True)
                .then(|| format!("; {name}: {}", message.unwrap_or("progressing")))
        });
        format!("operators to become stable: {}{}", names.join(", "), at_work.unwrap_or_default())
    }

    /// What keeps the cluster from being settled, a sentence each. Empty: it is. An API that answers with nothing, or no
    /// longer answers, is not settled: none of none operators would be content.
    pub fn unsettled(&self, now: Timestamp) -> Vec<String> {
        let mut missing = self.stale(&[WatchedKind::Version, WatchedKind::Operators, WatchedKind::Nodes]);
        missing.extend(self.uninitialized());
        missing.dedup();
        if self.state.operators.is_empty() {
            missing.push("no ClusterOperator has reported".to_owned());
        }
        for (name, operator) in &self.state.operators {
            if operator.truth("Available") != Truth::True || operator.truth("Degraded") == Truth::True {
                missing
                    .extend(chain(name, &self.state, &self.declared).first().map(|link| link.what.clone()));
                if operator.truth("Available") == Truth::True {
                    missing.push(format!("{name} is Degraded"));
                }
            } else if !self.is_stable(name, now) {
                missing.push(format!(
                    "{name} has been Progressing within the last {} s",
                    self.stable_for.as_secs()
                ));
            }
        }
        missing.extend(self.missing_nodes().into_iter().map(|link| link.what));
        missing
    }

    /// Declared nodes that are not Ready.
    pub fn missing_nodes(&self) -> Vec<Prerequisite> {
        self.declared.nodes.iter().filter_map(|node| chain::broken_node(node, &self.state)).collect()
    }

    /// Whether nothing was new for that long, and what is broken then.
    pub fn stall(&self, now: Timestamp, after: SignedDuration) -> Option<Stall> {
        let idle = self.progress.idle(now);
        (idle >= after).then(|| Stall {
            since: self.progress.last,
            last_progress: self.progress.last_fact.clone(),
            broken: self.blocking(),
        })
    }

    /// What most of the cluster waits for at this moment. Read from the operators alone: what is wrong, and why, is for
    /// [`first_broken`](crate::diagnosis::first_broken).
    pub fn blocking(&self) -> Option<Prerequisite> {
        if let Some((_, why)) = self.lost() {
            return Some(Prerequisite {
                subject: "api".to_owned(),
                what: format!("the API does not answer: {why}"),
                fix: Some(
                    "check that the name api resolves, the load balancer, and /readyz of each master"
                        .to_owned(),
                ),
            });
        }
        let broken = chain::blocking(&self.state, &self.declared).map(|(link, _)| link);
        broken.or_else(|| {
            let what = self.uninitialized().into_iter().next()?;
            Some(Prerequisite {
                subject: "clusterversion".to_owned(),
                what,
                fix: Some("oc describe clusterversion".to_owned()),
            })
        })
    }

    fn is_stable(&self, name: &str, now: Timestamp) -> bool {
        let since = self.since.get(&(name.to_owned(), "Progressing".to_owned()));
        since.is_some_and(|since| {
            since.status == Truth::False && now.duration_since(since.seen) >= self.stable_for
        })
    }

    fn stale(&self, kinds: &[WatchedKind]) -> Vec<String> {
        let sentence =
            |kind: &WatchedKind| match self.contact.get(kind).and_then(|contact| contact.lost.as_ref()) {
                Some((_, why)) => format!("{kind}: {why}"),
                None => format!("{kind}: no data yet"),
            };
        kinds.iter().filter(|kind| !self.is_fresh(**kind)).map(sentence).collect()
    }

    fn hear(&mut self, event: &ClusterEvent, now: Timestamp) {
        let (kind, lost) = match event {
            ClusterEvent::Listed(kind, _) | ClusterEvent::Absent(kind) | ClusterEvent::Deleted(kind, _) => {
                (*kind, None)
            }
            ClusterEvent::Changed(object) => (object.kind(), None),
            ClusterEvent::Lost(kind, why) => (*kind, Some(why)),
            ClusterEvent::Up(_) | ClusterEvent::Tick => return,
        };
        let was_lost = self.lost().is_some();
        let contact = self.contact.entry(kind).or_default();
        match lost {
            None => {
                contact.last = Some(now);
                contact.lost = None;
            }
            Some(why) => {
                let since = contact.lost.take().map_or(now, |(since, _)| since);
                contact.lost = Some((since, why.clone()));
            }
        }
        let what = match (was_lost, self.lost()) {
            (false, Some((_, why))) => format!("does not answer: {why}"),
            (true, None) => "answers again".to_owned(),
            _ => return,
        };
        self.timeline.push(Moment { seen: now, written: None, subject: "api".to_owned(), what });
    }

    fn note_operators(&mut self, before: &BTreeMap<String, ClusterOperator>, now: Timestamp) {
        for (name, operator) in &self.state.operators {
            self.timeline.operator(name, before.get(name), operator, now);
            for condition in operator.conditions() {
                let key = (name.clone(), condition.r#type.clone());
                let (status, written) = (condition.status, condition.last_transition_time);
                let is_same =
                    self.since.get(&key).is_some_and(|was| was.status == status && was.written == written);
                if !is_same {
                    self.since.insert(key, Since { status, written, seen: now });
                }
            }
        }
        let operators = &self.state.operators;
        self.since.retain(|(name, kind), _| {
            operators.get(name).is_some_and(|operator| operator.condition(kind).is_some())
        });
        for name in before.keys().filter(|name| !operators.contains_key(*name)) {
            let moment =
                Moment { seen: now, written: None, subject: name.clone(), what: "is gone".to_owned() };
            self.timeline.push(moment);
        }
    }

    fn note_nodes(&mut self, before: &BTreeMap<String, bool>, now: Timestamp) {
        let mut after: BTreeMap<String, bool> = BTreeMap::new();
        for node in self.state.nodes.values() {
            let ready = node.is_ready();
            after.insert(node.name_any(), ready);
            if before.get(&node.name_any()) != Some(&ready) {
                self.timeline.push(Moment {
                    seen: now,
                    written: node.ready().and_then(|ready| ready.last_transition_time),
                    subject: format!("node {}", node.name_any()),
                    what: if ready { "is Ready".to_owned() } else { "is not Ready".to_owned() },
                });
            }
        }
        for name in before.keys().filter(|name| !after.contains_key(*name)) {
            let subject = format!("node {name}");
            self.timeline.push(Moment { seen: now, written: None, subject, what: "is gone".to_owned() });
        }
    }
}

impl From<Observed> for ClusterEvent {
    fn from(object: Observed) -> Self {
        Self::Changed(object)
    }
}
