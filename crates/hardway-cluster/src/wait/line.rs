//! What is said while waiting.

use crate::objects::{ClusterOperator, Condition, Truth};

/// One line for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// How much it matters.
    pub level: Level,
    /// The words.
    pub text: String,
    /// What is waited for from now on, where this line says so: "waiting for" goes before it.
    pub awaits: Option<String>,
    /// Says only that the wait goes on. Whoever shows that anyway can leave it out.
    pub is_sign_of_life: bool,
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
        Self::of(Level::Debug, text)
    }

    /// Worth knowing.
    pub fn info(text: impl Into<String>) -> Self {
        Self::of(Level::Info, text)
    }

    /// Worth a second look.
    pub fn warn(text: impl Into<String>) -> Self {
        Self::of(Level::Warn, text)
    }

    /// From here on, this is waited for.
    pub fn awaiting(mut self, what: impl Into<String>) -> Self {
        self.awaits = Some(what.into());
        self
    }

    /// The wait goes on.
    pub(super) fn sign_of_life(text: impl Into<String>) -> Self {
        Self { is_sign_of_life: true, ..Self::info(text) }
    }

    fn of(level: Level, text: impl Into<String>) -> Self {
        Self { level, text: text.into(), awaits: None, is_sign_of_life: false }
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
    let line = |condition: &Condition| {
        let level = match condition.r#type.as_str() {
            "Available" | "Degraded" => Level::Error,
            _ => Level::Info,
        };
        let text = format!(
            "Cluster operator {name} {} is {} with {}: {}",
            condition.r#type,
            condition.status,
            condition.reason.as_deref().unwrap_or_default(),
            condition.message.as_deref().unwrap_or_default(),
        );
        Line::of(level, text)
    };
    operator.conditions().iter().filter(is_bad).map(line).collect()
}
