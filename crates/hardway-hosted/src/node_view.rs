//! A Node of the hosted cluster, as far as it matters here.

use std::collections::BTreeMap;

use hardway_cluster::objects::{Truth, created};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Node;

use crate::objects::Taint;

/// What the machine-config-daemon and the drainer write (openshift/machine-config-operator `pkg/daemon/constants/constants.go`).
pub const DESIRED_CONFIG: &str = "machineconfiguration.openshift.io/desiredConfig";
/// Written once a config is applied.
pub const CURRENT_CONFIG: &str = "machineconfiguration.openshift.io/currentConfig";
const STATE: &str = "machineconfiguration.openshift.io/state";
const REASON: &str = "machineconfiguration.openshift.io/reason";
const DESIRED_DRAIN: &str = "machineconfiguration.openshift.io/desiredDrain";
const LAST_APPLIED_DRAIN: &str = "machineconfiguration.openshift.io/lastAppliedDrain";

/// A node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeView {
    /// Its name.
    pub name: String,
    /// Another node under the same name has another.
    pub uid: String,
    /// When it was registered.
    pub created: Timestamp,
    /// Whether it is Ready.
    pub ready: Truth,
    /// Since when.
    pub ready_since: Timestamp,
    /// What it says about not being ready.
    pub ready_message: String,
    /// No new pods come.
    pub is_unschedulable: bool,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Its taints.
    pub taints: Vec<Taint>,
    /// The config it is to have.
    pub desired_config: Option<String>,
    /// The config it has; none on a node that was never upgraded.
    pub current_config: Option<String>,
    /// `Working`, `Done`, `Degraded`.
    pub daemon_state: Option<String>,
    /// Why it is degraded.
    pub daemon_reason: Option<String>,
    /// Whether the drainer has done what the daemon asked it for last.
    pub is_drain_settled: bool,
}

impl NodeView {
    /// Of the object.
    pub fn of(node: &Node) -> Self {
        let annotations = node.metadata.annotations.clone().unwrap_or_default();
        let annotation = |key: &str| annotations.get(key).cloned().filter(|value| !value.is_empty());
        let created = created(&node.metadata);
        let conditions =
            node.status.as_ref().and_then(|status| status.conditions.as_deref()).unwrap_or_default();
        let ready = conditions.iter().find(|condition| condition.type_ == "Ready");
        let spec = node.spec.clone().unwrap_or_default();
        let taints = spec.taints.unwrap_or_default().into_iter();
        Self {
            name: node.metadata.name.clone().unwrap_or_default(),
            uid: node.metadata.uid.clone().unwrap_or_default(),
            created,
            ready: ready.map_or(Truth::Unknown, |condition| Truth::from(condition.status.clone())),
            ready_since: ready
                .and_then(|condition| condition.last_transition_time.as_ref())
                .map_or(created, |time| time.0),
            ready_message: ready.and_then(|condition| condition.message.clone()).unwrap_or_default(),
            is_unschedulable: spec.unschedulable.unwrap_or_default(),
            labels: node.metadata.labels.clone().unwrap_or_default(),
            taints: taints
                .map(|taint| Taint { key: taint.key, value: taint.value, effect: taint.effect })
                .collect(),
            desired_config: annotation(DESIRED_CONFIG),
            current_config: annotation(CURRENT_CONFIG),
            daemon_state: annotation(STATE),
            daemon_reason: annotation(REASON),
            is_drain_settled: annotation(DESIRED_DRAIN) == annotation(LAST_APPLIED_DRAIN),
        }
    }

    /// Whether it can run pods.
    pub fn is_ready(&self) -> bool {
        self.ready == Truth::True
    }
}
