//! One worker: what is wanted of it, and what has become of it so far.
//!
//! A worker's record is a ConfigMap of its own beside the HostedCluster: small, so that hundreds can change at once; in the
//! cluster, so that whichever controller leads knows all of it; and versioned by the API server, so that two can never write over
//! each other. There is no secret in it.

use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;

use hardway_assets::node_name;
use hardway_journal::WorkerStep as StepKind;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::ObjectMeta;
use serde::{Deserialize, Serialize};

use crate::gates::GateName;

/// On every record: which HostedCluster.
pub const CLUSTER_LABEL: &str = "hardway.dev/hosted-cluster";
/// On every record: which pool.
pub const POOL_LABEL: &str = "hardway.dev/node-pool";
const KEY: &str = "worker";

/// A record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Worker {
    /// Its name: the machine's, the hostname's and the node's.
    pub name: String,
    /// Its pool.
    pub node_pool: String,
    /// All it may ask from and serve at.
    pub addresses: Vec<IpAddr>,
    /// What is wanted.
    pub wanted: Wanted,
    /// Counted from one; each new machine under the name is another.
    pub incarnation: u32,
    /// When it was asked for.
    pub planned: Timestamp,
    /// What has become of this incarnation.
    #[serde(default)]
    pub history: WorkerHistory,
    /// Times it was replaced because it was unwell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<Timestamp>,
}

/// What is wanted of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wanted {
    /// A node that works.
    Present,
    /// Gone, in good order.
    Absent,
    /// Gone, in good order, and then a new machine under its name.
    Replaced,
}

/// When what happened to an incarnation; the moments between are what every worker is measured by.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct WorkerHistory {
    /// The machine was switched on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub booted: Option<Timestamp>,
    /// With this config.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config_hash: Option<String>,
    /// Until then its pointer surely opens something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pointer_good_until: Option<Timestamp>,
    /// It fetched its config.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fetched: Option<Timestamp>,
    /// Its first certificate request was decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<Timestamp>,
    /// Its node was registered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub joined: Option<Timestamp>,
    /// The node's uid; another one is another node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_uid: Option<String>,
    /// Its node was Ready for the first time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready: Option<Timestamp>,
    /// Labels and taints of the pool were put on the node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labelled: Option<Timestamp>,
    /// What only its first boot needed is gone: medium, token, pointer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settled: Option<Timestamp>,
    /// The machine-config-daemon was first asked to apply another config.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upgrading: Option<Timestamp>,
    /// Its pods were first asked to leave.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draining: Option<Timestamp>,
    /// They have left, or their time was over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drained: Option<Timestamp>,
    /// The machine is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed: Option<Timestamp>,
    /// Why it does not come on, while it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trouble: Option<Trouble>,
}

/// Why a worker does not come on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Trouble {
    /// Which it is.
    pub reason: TroubleReason,
    /// In sentences.
    pub message: String,
    /// Since when.
    pub since: Timestamp,
}

/// What kind of trouble. In records, metrics and output it is one word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum TroubleReason {
    /// A person has to switch the machine on.
    ByHand,
    /// A step failed; it is tried again.
    Failed(StepKind),
    /// A gate of the pool is closed.
    Held(GateName),
    /// A node of that name is there already.
    NameTaken,
    /// The node was there and is gone.
    NodeMissing,
    /// Which image upgrades nodes is not known.
    NoDaemonImage,
    /// Its certificate request is not approved.
    NotApproved,
    /// It has not asked for a certificate.
    NotAsked,
    /// It has not fetched its config.
    NotFetched,
    /// Its node has not been ready for too long.
    NotReady,
    /// It has a certificate and no node.
    NotRegistered,
    /// It would be replaced, but something speaks against replacing anybody.
    RepairsPaused,
    /// The machine-config-daemon gave up.
    UpgradeDegraded,
    /// An upgrade does not end.
    UpgradeStuck,
    /// Draining would lose pods that nobody starts again.
    WouldLosePods,
    /// Written by another version of hardway.
    Other(String),
}

impl TroubleReason {
    const PLAIN: [Self; 13] = [
        Self::ByHand,
        Self::NameTaken,
        Self::NodeMissing,
        Self::NoDaemonImage,
        Self::NotApproved,
        Self::NotAsked,
        Self::NotFetched,
        Self::NotReady,
        Self::NotRegistered,
        Self::RepairsPaused,
        Self::UpgradeDegraded,
        Self::UpgradeStuck,
        Self::WouldLosePods,
    ];

    /// Whether it is over once the node is Ready.
    pub fn ends_with_ready(&self) -> bool {
        matches!(
            self,
            Self::ByHand
                | Self::NotApproved
                | Self::NotAsked
                | Self::NotFetched
                | Self::NotReady
                | Self::NotRegistered
                | Self::RepairsPaused
        )
    }

    /// Whether it is over once an upgrade has ended.
    pub fn is_of_upgrade(&self) -> bool {
        matches!(self, Self::UpgradeDegraded | Self::UpgradeStuck | Self::Failed(StepKind::Upgrade))
    }
}

impl fmt::Display for TroubleReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::ByHand => "by-hand",
            Self::Failed(step) => return f.pad(&format!("{step}-failed")),
            Self::Held(gate) => gate.name(),
            Self::NameTaken => "name-taken",
            Self::NodeMissing => "node-missing",
            Self::NoDaemonImage => "no-daemon-image",
            Self::NotApproved => "not-approved",
            Self::NotAsked => "not-asked",
            Self::NotFetched => "not-fetched",
            Self::NotReady => "not-ready",
            Self::NotRegistered => "not-registered",
            Self::RepairsPaused => "repairs-paused",
            Self::UpgradeDegraded => "upgrade-degraded",
            Self::UpgradeStuck => "upgrade-stuck",
            Self::WouldLosePods => "would-lose-pods",
            Self::Other(word) => word,
        })
    }
}

impl From<TroubleReason> for String {
    fn from(reason: TroubleReason) -> Self {
        reason.to_string()
    }
}

impl From<String> for TroubleReason {
    fn from(word: String) -> Self {
        let plain = Self::PLAIN.into_iter();
        let failed = StepKind::ALL.into_iter().map(Self::Failed);
        let held = GateName::ALL.into_iter().map(Self::Held);
        let known = plain.chain(failed).chain(held).find(|reason| reason.to_string() == word);
        known.unwrap_or(Self::Other(word))
    }
}

/// A record that cannot be read.
#[derive(Clone, Debug, thiserror::Error)]
#[error("ConfigMap {name} is no record of a worker: {why}")]
pub struct RecordError {
    /// Of the ConfigMap.
    pub name: String,
    /// What is wrong with it.
    pub why: String,
}

impl Worker {
    /// One that was just asked for.
    pub fn planned(name: &str, node_pool: &str, addresses: &[IpAddr], now: Timestamp) -> Self {
        Self {
            name: name.to_owned(),
            node_pool: node_pool.to_owned(),
            addresses: addresses.to_vec(),
            wanted: Wanted::Present,
            incarnation: 1,
            planned: now,
            history: WorkerHistory::default(),
            repairs: Vec::new(),
        }
    }

    /// The name of its record.
    pub fn record_name(&self) -> String {
        format!("hardway-worker-{}", self.name)
    }

    /// As an object.
    pub fn to_config_map(&self, namespace: &str, cluster: &str) -> ConfigMap {
        let labels = [(CLUSTER_LABEL, cluster), (POOL_LABEL, self.node_pool.as_str())];
        let text = serde_json::to_string(self).unwrap_or_default();
        ConfigMap {
            metadata: ObjectMeta {
                name: Some(self.record_name()),
                namespace: Some(namespace.to_owned()),
                labels: Some(labels.map(|(key, value)| (key.to_owned(), value.to_owned())).into()),
                ..ObjectMeta::default()
            },
            data: Some(BTreeMap::from([(KEY.to_owned(), text)])),
            ..ConfigMap::default()
        }
    }

    /// From its object.
    ///
    /// # Errors
    /// When something else was written into it.
    pub fn from_config_map(map: &ConfigMap) -> Result<Self, RecordError> {
        let name = map.metadata.name.clone().unwrap_or_default();
        let error = |why: String| RecordError { name: name.clone(), why };
        let text = map
            .data
            .as_ref()
            .and_then(|data| data.get(KEY))
            .ok_or_else(|| error(format!("it has no key {KEY}")))?;
        let worker: Self = serde_json::from_str(text).map_err(|parse| error(parse.to_string()))?;
        if worker.record_name() != name {
            return Err(error(format!("it is about {:?}", worker.name)));
        }
        // Names become paths, commands and names of other objects.
        if !node_name::is_node_name(&worker.name) {
            return Err(error(format!("no machine can be called {:?}", worker.name)));
        }
        if !node_name::is_label(&worker.node_pool) {
            return Err(error(format!("no pool can be called {:?}", worker.node_pool)));
        }
        let label = map.metadata.labels.as_ref().and_then(|labels| labels.get(POOL_LABEL));
        if label != Some(&worker.node_pool) {
            return Err(error(format!("its label {POOL_LABEL} is not {:?}", worker.node_pool)));
        }
        Ok(worker)
    }

    /// The next machine under this name.
    pub fn next_incarnation(&mut self) {
        self.incarnation += 1;
        self.history = WorkerHistory::default();
        self.wanted = Wanted::Present;
    }

    /// Where it stands, in a word.
    pub fn stage(&self) -> Stage {
        let history = &self.history;
        let is_leaving = self.wanted != Wanted::Present;
        match () {
            () if history.removed.is_some() => Stage::Gone,
            () if is_leaving && history.drained.is_some() => Stage::Removing,
            () if is_leaving => Stage::Draining,
            () if history.ready.is_some() => Stage::Ready,
            () if history.joined.is_some() => Stage::Joined,
            () if history.asked.is_some() => Stage::Asked,
            () if history.fetched.is_some() => Stage::Fetched,
            () if history.booted.is_some() => Stage::Booted,
            () => Stage::Planned,
        }
    }
}

/// The stages of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Asked for; its machine is off.
    Planned,
    /// Its machine is on.
    Booted,
    /// It has its config.
    Fetched,
    /// It asked for a certificate.
    Asked,
    /// Its node is there.
    Joined,
    /// Its node was Ready.
    Ready,
    /// Its pods are leaving.
    Draining,
    /// Its machine goes next, then its node.
    Removing,
    /// Only the record is left.
    Gone,
}

impl Stage {
    /// In output and metrics.
    pub fn name(self) -> &'static str {
        match self {
            Self::Planned => "planned",
            Self::Booted => "booted",
            Self::Fetched => "fetched",
            Self::Asked => "asked",
            Self::Joined => "joined",
            Self::Ready => "ready",
            Self::Draining => "draining",
            Self::Removing => "removing",
            Self::Gone => "gone",
        }
    }

    /// All of them, in order.
    pub const ALL: [Self; 9] = [
        Self::Planned,
        Self::Booted,
        Self::Fetched,
        Self::Asked,
        Self::Joined,
        Self::Ready,
        Self::Draining,
        Self::Removing,
        Self::Gone,
    ];
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_is_read_as_it_was_written() {
        let reasons = TroubleReason::PLAIN.into_iter();
        let reasons = reasons
            .chain(StepKind::ALL.map(TroubleReason::Failed))
            .chain(GateName::ALL.map(TroubleReason::Held));
        for reason in reasons {
            assert_eq!(TroubleReason::from(reason.to_string()), reason);
        }
        let other = TroubleReason::from("of-tomorrow".to_owned());
        assert_eq!(
            (other.to_string().as_str(), &other),
            ("of-tomorrow", &TroubleReason::Other("of-tomorrow".into()))
        );
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let mut worker = Worker::planned("w-0", "demo", &[[10, 0, 0, 7].into()], Timestamp::UNIX_EPOCH);
        worker.history.booted = Some(Timestamp::UNIX_EPOCH);
        let map = worker.to_config_map("clusters", "demo");
        assert_eq!(Worker::from_config_map(&map).unwrap(), worker);
        assert_eq!(worker.stage(), Stage::Booted);
        let mut other = map.clone();
        other.metadata.name = Some("hardway-worker-w-1".to_owned());
        assert!(Worker::from_config_map(&other).is_err(), "a copy under another name is no record");
        other.data = None;
        assert!(Worker::from_config_map(&other).is_err());
        let mut other = map.clone();
        other.metadata.labels.as_mut().unwrap().insert(POOL_LABEL.to_owned(), "another".to_owned());
        assert!(Worker::from_config_map(&other).is_err(), "two pools are one too many");
        for name in ["../../etc/passwd", "..", "a/b", "a b", "-v", "A", "a..b", "", "a\n", "%2e%2e"] {
            let hostile =
                Worker { name: name.to_owned(), ..worker.clone() }.to_config_map("clusters", "demo");
            assert!(Worker::from_config_map(&hostile).is_err(), "{name:?}");
            let hostile =
                Worker { node_pool: name.to_owned(), ..worker.clone() }.to_config_map("clusters", "demo");
            assert!(Worker::from_config_map(&hostile).is_err(), "{name:?}");
        }
        worker.next_incarnation();
        assert_eq!((worker.incarnation, worker.stage()), (2, Stage::Planned));
    }
}
