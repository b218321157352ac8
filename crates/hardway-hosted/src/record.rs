//! What is written into the journal about hosted workers.

use hardway_journal::Fact;
use serde::{Deserialize, Serialize};

/// A step that was taken for a worker, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HostedStep {
    /// The hosted cluster.
    pub cluster: String,
    /// The worker.
    pub worker: String,
    /// In a word.
    pub step: String,
    /// Nothing when it went well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Fact for HostedStep {
    const KIND: &'static str = "hosted-step";
}
