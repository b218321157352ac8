//! One worker: what is wanted of it, and what has become of it so far.
//!
//! A worker's record is a ConfigMap of its own beside the HostedCluster: small, so that hundreds can change at once; in the
//! cluster, so that whichever controller leads knows all of it; and versioned by the API server, so that two can never write over
//! each other. There is no secret in it.

mod stage;
mod trouble;

use std::collections::BTreeMap;
use std::net::IpAddr;

use hardway_assets::node_name;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::ObjectMeta;
use serde::{Deserialize, Serialize};

use crate::pool_hosts::PlacedHost;
pub use stage::WorkerStage;
pub use trouble::{Trouble, TroubleReason};

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
    /// Where its machine is, for the node's labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// The same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// What is wanted.
    pub wanted: WantedState,
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
pub enum WantedState {
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
    /// Of the identity that its machine boots with and asks as; written before anybody has it. Later ones are larger, whatever became of
    /// the record before, so no two machines under the name ever have the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generation: Option<u32>,
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

/// A record that cannot be read.
#[derive(Clone, Debug, thiserror::Error)]
#[error("ConfigMap {name} is not a valid worker record: {why}")]
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
            zone: None,
            region: None,
            wanted: WantedState::Present,
            incarnation: 1,
            planned: now,
            history: WorkerHistory::default(),
            repairs: Vec::new(),
        }
    }

    /// The same on a host of an inventory.
    pub fn on(host: &PlacedHost, node_pool: &str, now: Timestamp) -> Self {
        Self {
            zone: host.zone.clone(),
            region: host.region.clone(),
            ..Self::planned(&host.name, node_pool, &host.addresses, now)
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
            return Err(error(format!("{:?} is not a valid machine name", worker.name)));
        }
        if !node_name::is_label(&worker.node_pool) {
            return Err(error(format!("{:?} is not a valid pool name", worker.node_pool)));
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
        self.wanted = WantedState::Present;
    }

    /// Where it stands, in a word.
    pub fn stage(&self) -> WorkerStage {
        let history = &self.history;
        let is_leaving = self.wanted != WantedState::Present;
        match () {
            () if history.removed.is_some() => WorkerStage::Gone,
            () if is_leaving && history.drained.is_some() => WorkerStage::Removing,
            () if is_leaving => WorkerStage::Draining,
            () if history.ready.is_some() => WorkerStage::Ready,
            () if history.joined.is_some() => WorkerStage::Joined,
            () if history.asked.is_some() => WorkerStage::Asked,
            () if history.fetched.is_some() => WorkerStage::Fetched,
            () if history.booted.is_some() => WorkerStage::Booted,
            () => WorkerStage::Planned,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let mut worker = Worker::planned("w-0", "demo", &[[10, 0, 0, 7].into()], Timestamp::UNIX_EPOCH);
        worker.history.booted = Some(Timestamp::UNIX_EPOCH);
        let map = worker.to_config_map("clusters", "demo");
        assert_eq!(Worker::from_config_map(&map).unwrap(), worker);
        assert_eq!(worker.stage(), WorkerStage::Booted);
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
        assert_eq!((worker.incarnation, worker.stage()), (2, WorkerStage::Planned));
    }
}
