//! How a check ended.

use std::fmt;

use serde::Serialize;

use super::CheckName;

/// One check and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckResult {
    /// Which.
    pub check: CheckName,
    /// What it is about.
    pub group: Group,
    /// The verdict.
    pub verdict: PreflightVerdict,
    /// What was seen, the worst first.
    pub seen: Vec<String>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

/// What checks are about, in the order in which they are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    /// Programs and rights on this host.
    Host,
    /// DNS.
    Names,
    /// What stands in front of the API and the routers.
    Balancer,
    /// Addresses and ports.
    Network,
    /// Where the release comes from.
    Registry,
    /// Whether the machines fit.
    Capacity,
    /// What lies in the working folder already.
    Certificates,
}

/// The verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PreflightVerdict {
    /// As it should be.
    Passed,
    /// There is nothing to ask here, or not yet.
    NotApplicable,
    /// Left out by name.
    Skipped,
    /// An install may work, and a person should know something.
    Warned,
    /// An install will not work.
    Failed,
}

/// A verdict with its reasons, before it is known whose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Judged {
    pub(crate) verdict: PreflightVerdict,
    pub(crate) seen: Vec<String>,
    pub(crate) fix: Option<String>,
}

impl Judged {
    pub(crate) fn passed(seen: impl Into<String>) -> Self {
        Self { verdict: PreflightVerdict::Passed, seen: vec![seen.into()], fix: None }
    }

    pub(crate) fn not_applicable(why: impl Into<String>) -> Self {
        Self { verdict: PreflightVerdict::NotApplicable, seen: vec![why.into()], fix: None }
    }

    pub(crate) fn skipped(why: impl Into<String>) -> Self {
        Self { verdict: PreflightVerdict::Skipped, seen: vec![why.into()], fix: None }
    }

    pub(crate) fn warned(seen: Vec<String>, fix: impl Into<String>) -> Self {
        Self { verdict: PreflightVerdict::Warned, seen, fix: Some(fix.into()) }
    }

    pub(crate) fn failed(seen: Vec<String>, fix: impl Into<String>) -> Self {
        Self { verdict: PreflightVerdict::Failed, seen, fix: Some(fix.into()) }
    }

    /// Failed with one sentence.
    pub(crate) fn refused(seen: impl Into<String>, fix: impl Into<String>) -> Self {
        Self::failed(vec![seen.into()], fix)
    }

    /// Failed if anything is wrong, warned if anything is odd, else passed. What is odd is told in both cases.
    pub(crate) fn of(mut wrong: Vec<String>, odd: Vec<String>, fix: impl Into<String>, good: String) -> Self {
        let is_wrong = !wrong.is_empty();
        wrong.extend(odd);
        match (wrong.is_empty(), is_wrong) {
            (true, _) => Self::passed(good),
            (_, true) => Self::failed(wrong, fix),
            (_, false) => Self::warned(wrong, fix),
        }
    }
}

impl Group {
    /// In output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Balancer => "balancer",
            Self::Capacity => "capacity",
            Self::Certificates => "certificates",
            Self::Host => "host",
            Self::Names => "names",
            Self::Network => "network",
            Self::Registry => "registry",
        }
    }
}

impl PreflightVerdict {
    /// In output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::NotApplicable => "not-applicable",
            Self::Passed => "passed",
            Self::Skipped => "skipped",
            Self::Warned => "warned",
        }
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for PreflightVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
