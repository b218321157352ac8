//! What a person or a program is shown.

use jiff::Timestamp;
use serde::Serialize;

use super::chain::Prerequisite;
use crate::objects::{ClusterOperator, Truth};

/// An operator at this moment.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OperatorView {
    /// Its name.
    pub name: String,
    /// The version it reports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Works for users.
    pub available: Truth,
    /// Rolls something out.
    pub progressing: Truth,
    /// Is not as it should be.
    pub degraded: Truth,
    /// Since when it has been like this, by the clock of whoever watches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seen: Option<Timestamp>,
    /// The same by its own clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<Timestamp>,
    /// From itself to the first broken link; empty if it is Available.
    pub waits_for: Vec<Prerequisite>,
}

/// Nothing new for too long.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Stall {
    /// When something was new for the last time.
    pub since: Timestamp,
    /// What that was.
    pub last_progress: String,
    /// What is broken.
    pub broken: Option<Prerequisite>,
}

impl OperatorView {
    pub(super) fn new(
        name: &str,
        operator: &ClusterOperator,
        seen: impl Fn(&str) -> Option<Timestamp>,
        waits_for: Vec<Prerequisite>,
    ) -> Self {
        const THREE: [&str; 3] = ["Available", "Progressing", "Degraded"];
        let written = |kind: &str| operator.condition(kind)?.last_transition_time;
        Self {
            name: name.to_owned(),
            version: operator.version().map(str::to_owned),
            available: operator.truth("Available"),
            progressing: operator.truth("Progressing"),
            degraded: operator.truth("Degraded"),
            seen: THREE.iter().filter_map(|kind| seen(kind)).max(),
            written: THREE.iter().filter_map(|kind| written(kind)).max(),
            waits_for,
        }
    }
}
