//! What is said while waiting.

use crate::objects::{ClusterOperator, Condition, Truth};

/// One line for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// How much it matters.
    pub level: Level,
    /// The words.
    pub text: String,
}

/// openshift-install's levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// For the curious.
    Debug,
    /// Worth knowing.
    Info,
    /// Worth a second look.
    Warn,
    /// Part of why it failed.
    Error,
}

impl Line {
    /// For the curious.
    pub fn debug(text: impl Into<String>) -> Self {
        Self { level: Level::Debug, text: text.into() }
    }

    /// Worth knowing.
    pub fn info(text: impl Into<String>) -> Self {
        Self { level: Level::Info, text: text.into() }
    }

    /// Worth a second look.
    pub fn warn(text: impl Into<String>) -> Self {
        Self { level: Level::Warn, text: text.into() }
    }
}

/// What an operator has to complain about, in openshift-install's words (cmd/openshift-install/gather.go).
pub(super) fn complaints(name: &str, operator: &ClusterOperator) -> Vec<Line> {
    let is_bad = |condition: &&Condition| match condition.r#type.as_str() {
        "Upgradeable" => false,
        "Available" => condition.status != Truth::True,
        "Degraded" | "Progressing" => condition.status != Truth::False,
        _ => true,
    };
    let line = |condition: &Condition| Line {
        level: match condition.r#type.as_str() {
            "Available" | "Degraded" => Level::Error,
            _ => Level::Info,
        },
        text: format!(
            "Cluster operator {name} {} is {} with {}: {}",
            condition.r#type,
            condition.status,
            condition.reason.as_deref().unwrap_or_default(),
            condition.message.as_deref().unwrap_or_default(),
        ),
    };
    operator.conditions().iter().filter(is_bad).map(line).collect()
}
