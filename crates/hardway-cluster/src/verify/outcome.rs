//! The checks, and how each ended.

use std::fmt;

use serde::Serialize;

/// Every check, in the order in which they are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// Does the API answer?
    Api,
    /// Do api, api-int and names below apps resolve to the declared addresses?
    Names,
    /// Do api and api-int present certificates that auth/kubeconfig trusts, and which end soon?
    Certificates,
    /// Is every host of the inventory a Ready node with its name, role, address and version?
    Nodes,
    /// Are the ClusterVersion and every ClusterOperator available and not degraded?
    Operators,
    /// Do all masters run etcd, API server, controller manager and scheduler at the newest revision?
    ControlPlane,
    /// Is every master a healthy voting member, and nobody else?
    Etcd,
    /// Does the console answer at its route, with a certificate of the routers' CA?
    Console,
    /// Does the image registry have storage?
    ImageRegistry,
    /// Is a pod scheduled and started?
    Workload,
    /// Can the logs of a pod be read?
    Logs,
    /// Can a command be run in a pod?
    Exec,
}

impl Check {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::Api,
        Self::Names,
        Self::Certificates,
        Self::Nodes,
        Self::Operators,
        Self::ControlPlane,
        Self::Etcd,
        Self::Console,
        Self::ImageRegistry,
        Self::Workload,
        Self::Logs,
        Self::Exec,
    ];

    /// On the command line and in output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Api => "api",
            Self::Names => "names",
            Self::Certificates => "certificates",
            Self::Nodes => "nodes",
            Self::Operators => "operators",
            Self::ControlPlane => "control-plane",
            Self::Etcd => "etcd",
            Self::Console => "console",
            Self::ImageRegistry => "image-registry",
            Self::Workload => "workload",
            Self::Logs => "logs",
            Self::Exec => "exec",
        }
    }

    /// The check of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|check| check.name() == name)
    }

    /// What it asks.
    pub fn asks(self) -> &'static str {
        match self {
            Self::Api => "does the API answer?",
            Self::Names => "do api, api-int and names below apps resolve to the declared addresses?",
            Self::Certificates => {
                "do api and api-int present certificates that auth/kubeconfig trusts, and which end soon?"
            }
            Self::Nodes => {
                "is every host of the inventory a Ready node with its name, role, address and version?"
            }
            Self::Operators => "are the ClusterVersion and every ClusterOperator available and not degraded?",
            Self::ControlPlane => {
                "do all masters run etcd, API server, controller manager and scheduler at the newest revision?"
            }
            Self::Etcd => "is every master a healthy voting member, and nobody else?",
            Self::Console => "does the console answer at its route, with a certificate of the routers' CA?",
            Self::ImageRegistry => "does the image registry have storage?",
            Self::Workload => "is a pod scheduled and started?",
            Self::Logs => "can the logs of a pod be read?",
            Self::Exec => "can a command be run in a pod?",
        }
    }

    /// Whether it asks the API alone, and nothing else.
    pub(super) fn needs_api(self) -> bool {
        match self {
            Self::Api | Self::Names | Self::Certificates | Self::Etcd => false,
            Self::Nodes
            | Self::Operators
            | Self::ControlPlane
            | Self::Console
            | Self::ImageRegistry
            | Self::Workload
            | Self::Logs
            | Self::Exec => true,
        }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// How a check ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VerifyOutcome {
    /// Of which.
    pub check: Check,
    /// The verdict.
    pub verdict: VerifyVerdict,
    /// What was seen, the worst first.
    pub seen: Vec<String>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

/// The verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum VerifyVerdict {
    /// As it should be.
    Passed,
    /// Not asked, because of a wish or because there is nothing to ask.
    Skipped,
    /// Works, and a person should know something.
    Warned,
    /// Not as it should be.
    Failed,
}

impl VerifyOutcome {
    /// As it should be.
    pub fn passed(check: Check, seen: impl Into<String>) -> Self {
        Self { check, verdict: VerifyVerdict::Passed, seen: vec![seen.into()], fix: None }
    }

    /// Not asked.
    pub fn skipped(check: Check, why: impl Into<String>) -> Self {
        Self { check, verdict: VerifyVerdict::Skipped, seen: vec![why.into()], fix: None }
    }

    /// Works, but.
    pub fn warned(check: Check, seen: Vec<String>, fix: &str) -> Self {
        Self { check, verdict: VerifyVerdict::Warned, seen, fix: Some(fix.to_owned()) }
    }

    /// Not as it should be.
    pub fn failed(check: Check, seen: Vec<String>, fix: &str) -> Self {
        Self { check, verdict: VerifyVerdict::Failed, seen, fix: Some(fix.to_owned()) }
    }

    /// Failed if there is anything to complain about, else passed.
    pub(super) fn of(check: Check, wrong: Vec<String>, fix: &str, good: String) -> Self {
        if wrong.is_empty() { Self::passed(check, good) } else { Self::failed(check, wrong, fix) }
    }
}

impl VerifyVerdict {
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

impl fmt::Display for VerifyVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
