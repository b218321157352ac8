//! Progress is a fact that was never true before.
//!
//! Comparing one look with the next is not enough: an operator that flaps would look busy for ever. So everything that was
//! reached once is remembered, and only something new moves the clock of a stall. Falling back and getting up again does
//! not.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};

use super::VersionProgress;
use crate::objects::Truth;
use crate::state::ClusterState;

/// Everything that was reached so far, and when the last of it was.
#[derive(Clone, Debug)]
pub struct OperatorProgress {
    reached: BTreeSet<String>,
    /// Manifests applied in the best pass so far.
    applied: u64,
    /// When something was new, by the clock of whoever watches.
    pub last: Timestamp,
    /// What was new.
    pub last_fact: String,
}

impl OperatorProgress {
    /// Watching begins.
    pub fn new(now: Timestamp) -> Self {
        Self { reached: BTreeSet::new(), applied: 0, last: now, last_fact: "watching began".to_owned() }
    }

    /// Looks for anything new. True if there was.
    pub fn look(&mut self, state: &ClusterState, now: Timestamp) -> bool {
        let mut is_new = false;
        for fact in facts(state) {
            is_new |= self.note(fact, now);
        }
        let applied = VersionProgress::of(state.version.as_ref()).done.unwrap_or_default();
        if applied > self.applied {
            self.applied = applied;
            self.set(format!("{applied} manifests of the release are applied"), now);
            is_new = true;
        }
        is_new
    }

    /// Something that is not in the API was reached: a stage of the bootstrap host, say.
    pub fn note(&mut self, fact: String, now: Timestamp) -> bool {
        let is_new = self.reached.insert(fact.clone());
        if is_new {
            self.set(fact, now);
        }
        is_new
    }

    /// How long nothing was new.
    pub fn idle(&self, now: Timestamp) -> SignedDuration {
        now.duration_since(self.last)
    }

    fn set(&mut self, fact: String, now: Timestamp) {
        self.last = now;
        self.last_fact = fact;
    }
}

/// What holds at this moment, a sentence each.
fn facts(state: &ClusterState) -> Vec<String> {
    let mut facts = Vec::new();
    if state.api_version.is_some() {
        facts.push("the API answers".to_owned());
    }
    for (name, operator) in &state.operators {
        facts.push(format!("{name} reports"));
        for (kind, good) in
            [("Available", Truth::True), ("Degraded", Truth::False), ("Progressing", Truth::False)]
        {
            if operator.truth(kind) == good {
                facts.push(format!("{name} is {kind}={good}"));
            }
        }
        facts.extend(operator.version().map(|version| format!("{name} is at {version}")));
    }
    for (name, node) in &state.nodes {
        facts.push(format!("node {name} is registered"));
        if node.is_ready() {
            facts.push(format!("node {name} is Ready"));
        }
    }
    for (kind, status) in &state.control_plane {
        for master in status.masters() {
            facts.push(format!("{kind} is at revision {} on {}", master.current_revision, master.node_name));
        }
        for condition in ["EtcdRunningInCluster", "EtcdBootstrapMemberRemoved"] {
            if status.is_true(condition) {
                facts.push(format!("{condition} is True"));
            }
        }
    }
    if state.is_bootstrap_complete() {
        facts.push("kube-system/bootstrap reports complete".to_owned());
    }
    if let Some(version) = &state.version {
        facts.push("the ClusterVersion exists".to_owned());
        if version.is("Available", Truth::True) {
            facts.push("the ClusterVersion is Available".to_owned());
        }
        if version.is_initialized() {
            facts.push("the cluster is initialized".to_owned());
        }
    }
    facts
}
