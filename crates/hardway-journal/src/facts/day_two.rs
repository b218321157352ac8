//! What was done to a cluster after its install, and what it was like before.

use serde::{Deserialize, Serialize};

/// A step of day two is about to change objects. Written before the first; what was there before lies in files of the folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DayTwoBegun {
    /// The step's name.
    pub step: String,
    /// What it is about to change, and whether it was there.
    pub objects: Vec<DayTwoObject>,
}

/// An object of the cluster, before a step touched it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DayTwoObject {
    /// `v1/Secret openshift-config/pull-secret`.
    pub object: String,
    /// Whether somebody else had made it.
    pub was: Former,
}

/// What was there before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Former {
    /// Nothing: the way back is to delete it.
    Absent,
    /// An object: the way back is to give it its former values.
    Present,
}

/// Every object of the step is as it wants it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DayTwoApplied {
    /// The step's name.
    pub step: String,
}

/// Everything of the step was taken back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DayTwoUndone {
    /// The step's name.
    pub step: String,
}
