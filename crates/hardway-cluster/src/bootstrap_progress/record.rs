//! The record that every service of the bootstrap host keeps of itself
//! (crates/hardway-assets/templates/bootstrap/usr/local/bin/bootstrap-service-record.sh).

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// One line of `SERVICE.stream.jsonl`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ServiceRecord {
    /// `bootkube`, `release-image`, …
    pub service: String,
    /// By the host's clock.
    pub timestamp: Option<Timestamp>,
    /// `service start`, `stage end`, `pre-command start`, …
    pub phase: String,
    /// Of entries about a stage.
    pub stage: Option<String>,
    /// `success` or `failure`, of ends.
    pub result: Option<String>,
    /// Script and line of a failure.
    pub error_line: Option<String>,
    /// The last lines the service printed before it failed.
    pub error_message: Option<String>,
}

/// The entries of a stream. A line that a power cut tore is skipped: the service writes on after it.
pub fn entries(stream: &str) -> Vec<ServiceRecord> {
    stream.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

impl ServiceRecord {
    /// Ended badly.
    pub fn is_failure(&self) -> bool {
        self.result.as_deref() == Some("failure")
    }

    /// Where and what, in one line.
    pub fn error(&self) -> Option<String> {
        let message = self.error_message.as_deref()?.lines().map(str::trim).collect::<Vec<_>>().join(" | ");
        Some(match self.error_line.as_deref() {
            Some(line) => format!("{line}: {message}"),
            None => message,
        })
    }
}
