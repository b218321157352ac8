//! What the bootstrap host told, as sentences.

use std::collections::BTreeMap;
use std::fmt;

use jiff::Timestamp;
use serde::Serialize;

use super::record::ServiceRecord;
use super::stages::{Stage, stages};

/// One look at the host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BootstrapReport {
    /// The host's clock at the look.
    pub clock: Option<Timestamp>,
    /// Everything each service wrote about itself.
    #[serde(skip)]
    pub records: BTreeMap<String, Vec<ServiceRecord>>,
    /// Of bootkube, in order.
    pub stages: Vec<Stage>,
    /// First objects of the cluster.
    pub manifests: Option<Manifests>,
    /// Static pods that the kubelet there is told to run.
    pub static_pods: Vec<String>,
    /// Containers there that do not run, with what their runtime says.
    pub containers: Vec<String>,
}

/// First objects of the cluster: how many of them exist.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifests {
    /// That exist.
    pub created: usize,
    /// That should.
    pub total: usize,
    /// Why the others do not, a sentence each.
    pub errors: Vec<String>,
}

/// Where something stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum State {
    /// Has ended well.
    Done,
    /// Has ended badly; the service tries again by itself.
    Failed,
    /// Is at it.
    Running,
    /// Its turn has not come.
    Waiting,
}

/// A condition in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Sentence {
    /// Such as `the API server of the bootstrap host answers`.
    pub what: String,
    /// Where it stands.
    pub state: State,
    /// Since when, by the host's clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// What went wrong last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// What is true when a stage is done.
const MEANINGS: [(&str, &str); 17] = [
    ("openshift-manifests", "every file that Ignition should write exists"),
    ("etcd-bootstrap", "the etcd pod is started"),
    ("machine-config-render", "machine configs are served to masters"),
    ("resolve-api-url", "the name api resolves on the bootstrap host"),
    ("resolve-api-int-url", "the name api-int resolves on the bootstrap host"),
    ("wait-for-etcd", "etcd is healthy"),
    ("secrets", "certificates are in place for the control plane"),
    ("control-plane-pods", "the temporary control plane is started"),
    ("wait-for-api", "the API server of the bootstrap host answers"),
    ("create-crds", "the first CRDs exist"),
    ("create-manifests", "the cluster's first objects exist"),
    ("required-pods", "one master runs a control plane"),
    ("wait-for-ha", "two masters run a control plane"),
    ("bootstrap-success", "success was reported as an event"),
    ("teardown", "the temporary control plane has ended"),
    ("cvo-overrides", "the version operator manages everything"),
    ("wait-for-ceo", "etcd runs in the cluster"),
];

impl BootstrapReport {
    /// From the records and the rest of what was seen.
    pub fn new(known: &[&str], records: BTreeMap<String, Vec<ServiceRecord>>) -> Self {
        let stages = stages(known, records.get("bootkube").map_or(&[], Vec::as_slice));
        Self { stages, records, ..Self::default() }
    }

    /// Whether the release image could be pulled.
    pub fn release_image(&self) -> Sentence {
        self.service("release-image", "the release image is pulled")
    }

    /// The services before bootkube, then its stages, each as a sentence.
    pub fn sentences(&self) -> Vec<Sentence> {
        let mut sentences = vec![self.release_image()];
        for stage in &self.stages {
            let meaning = MEANINGS.iter().find(|(name, _)| *name == stage.name);
            let mut what = meaning
                .map_or_else(|| format!("stage {} is over", stage.name), |(_, what)| (*what).to_owned());
            if let Some(manifests) = self.manifests.as_ref().filter(|_| stage.name == "create-manifests") {
                what += &format!(" ({} of {})", manifests.created, manifests.total);
            }
            let (state, since, error) = (stage.state, stage.since, stage.error.clone());
            sentences.push(Sentence { what, state, since, error });
        }
        sentences.push(self.service("progress", "the end of bootstrapping is reported to the cluster"));
        sentences
    }

    /// What it is at, or what failed. Once bootkube has ended well, a stage that was not needed or only recorded a
    /// failure is nobody's concern any more.
    pub fn current(&self) -> Option<Sentence> {
        let bootkube = self.records.get("bootkube").and_then(|entries| entries.last());
        let is_over = bootkube.is_some_and(|last| last.phase == "service end" && !last.is_failure());
        let mut sentences = self.sentences();
        if is_over {
            sentences = sentences.split_off(sentences.len() - 1);
        }
        let find = |state| sentences.iter().find(|sentence: &&Sentence| sentence.state == state).cloned();
        find(State::Running).or_else(|| find(State::Failed)).or_else(|| find(State::Waiting))
    }

    /// Everything that was reached, for the clock of a stall.
    pub fn facts(&self) -> Vec<String> {
        let done = self.sentences().into_iter().filter(|sentence| sentence.state == State::Done);
        done.map(|sentence| sentence.what).collect()
    }

    fn service(&self, name: &str, what: &str) -> Sentence {
        let entries = self.records.get(name).map_or(&[][..], Vec::as_slice);
        let last = entries.iter().rfind(|entry| entry.phase.starts_with("service "));
        let state = match last.map(|entry| (entry.phase.as_str(), entry.is_failure())) {
            None => State::Waiting,
            Some(("service end", true)) => State::Failed,
            Some(("service end", false)) => State::Done,
            Some(_) => State::Running,
        };
        let error = entries.iter().rev().find_map(ServiceRecord::error).filter(|_| state != State::Done);
        Sentence { what: what.to_owned(), state, since: last.and_then(|entry| entry.timestamp), error }
    }
}

impl fmt::Display for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self.state {
            State::Done => "done",
            State::Failed => "failed",
            State::Running => "running",
            State::Waiting => "waiting",
        };
        write!(f, "{word:8} {}", self.what)?;
        if let Some(since) = self.since {
            write!(f, ", since {since:.0}")?;
        }
        match &self.error {
            Some(error) => write!(f, ": {error}"),
            None => Ok(()),
        }
    }
}
