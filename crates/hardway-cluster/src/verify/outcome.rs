//! A check's verdict.

use std::fmt;

use serde::Serialize;

/// Every check: its name on the command line and in output, and what it asks.
pub const CHECKS: [(&str, &str); 12] = [
    ("api", "does the API answer?"),
    ("names", "do api, api-int and names below apps resolve to the declared addresses?"),
    (
        "certificates",
        "do api and api-int present certificates that auth/kubeconfig trusts, and which end soon?",
    ),
    ("nodes", "is every host of the inventory a Ready node with its name, role, address and version?"),
    ("operators", "are the ClusterVersion and every ClusterOperator available and not degraded?"),
    (
        "control-plane",
        "do all masters run etcd, API server, controller manager and scheduler at the newest revision?",
    ),
    ("etcd", "is every master a healthy voting member, and nobody else?"),
    ("console", "does the console answer at its route, with a certificate of the routers' CA?"),
    ("image-registry", "does the image registry have storage?"),
    ("workload", "is a pod scheduled and started?"),
    ("logs", "can the logs of a pod be read?"),
    ("exec", "can a command be run in a pod?"),
];

/// How a check ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// One of [`CHECKS`].
    pub check: &'static str,
    /// The verdict.
    pub verdict: Verdict,
    /// What was seen, the worst first.
    pub seen: Vec<String>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

/// The verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Verdict {
    /// As it should be.
    Passed,
    /// Not asked, because of a wish or because there is nothing to ask.
    Skipped,
    /// Works, and a person should know something.
    Warned,
    /// Not as it should be.
    Failed,
}

impl Outcome {
    /// As it should be.
    pub fn passed(check: &'static str, seen: impl Into<String>) -> Self {
        Self { check, verdict: Verdict::Passed, seen: vec![seen.into()], fix: None }
    }

    /// Not asked.
    pub fn skipped(check: &'static str, why: impl Into<String>) -> Self {
        Self { check, verdict: Verdict::Skipped, seen: vec![why.into()], fix: None }
    }

    /// Works, but.
    pub fn warned(check: &'static str, seen: Vec<String>, fix: &str) -> Self {
        Self { check, verdict: Verdict::Warned, seen, fix: Some(fix.to_owned()) }
    }

    /// Not as it should be.
    pub fn failed(check: &'static str, seen: Vec<String>, fix: &str) -> Self {
        Self { check, verdict: Verdict::Failed, seen, fix: Some(fix.to_owned()) }
    }

    /// Failed if there is anything to complain about, else passed.
    pub(super) fn of(check: &'static str, wrong: Vec<String>, fix: &str, good: String) -> Self {
        if wrong.is_empty() { Self::passed(check, good) } else { Self::failed(check, wrong, fix) }
    }
}

impl Verdict {
    /// In output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Passed => "passed",
            Self::Skipped => "skipped",
            Self::Warned => "warned",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
