//! `status.conditions[]`, the same shape everywhere.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// One condition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Condition {
    /// `Available`, `EtcdRunningInCluster`, …
    pub r#type: String,
    /// True, False or Unknown.
    pub status: Truth,
    /// One word for machines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// For people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// By the writer's clock, which need not be ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_transition_time: Option<Timestamp>,
}

/// `status.conditions[].status`. Anything that is no word of the API counts as unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "String")]
pub enum Truth {
    /// `False`
    False,
    /// `True`
    True,
    /// `Unknown`
    #[default]
    Unknown,
}

/// The condition of this type.
pub fn find<'c>(conditions: &'c [Condition], r#type: &str) -> Option<&'c Condition> {
    conditions.iter().find(|condition| condition.r#type == r#type)
}

impl Condition {
    /// `Degraded=True NodeController_MasterNodesReady: The master nodes not ready: …`
    pub fn sentence(&self) -> String {
        let mut text = format!("{}={}", self.r#type, self.status);
        for (before, part) in [(" ", &self.reason), (": ", &self.message)] {
            if let Some(part) = part.as_deref().filter(|part| !part.is_empty()) {
                text += before;
                text += part;
            }
        }
        text
    }
}

impl Truth {
    /// The API's word.
    pub fn name(self) -> &'static str {
        match self {
            Self::False => "False",
            Self::True => "True",
            Self::Unknown => "Unknown",
        }
    }
}

impl From<String> for Truth {
    fn from(word: String) -> Self {
        match word.as_str() {
            "True" => Self::True,
            "False" => Self::False,
            _ => Self::Unknown,
        }
    }
}

impl fmt::Display for Truth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
