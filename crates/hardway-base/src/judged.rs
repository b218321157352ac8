//! A verdict on something that was looked at, with what was seen and what to do about it.

use std::fmt;

use serde::Serialize;

/// A verdict with its reasons.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Judged {
    /// The verdict.
    pub verdict: Verdict,
    /// What was seen, the worst first.
    pub seen: Vec<String>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

/// The verdict, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// As it should be.
    Passed,
    /// There is nothing to ask here, or not yet.
    NotApplicable,
    /// Not asked, because of a wish or because nobody can be asked.
    Skipped,
    /// It may work, and a person should know something.
    Warned,
    /// Not as it should be.
    Failed,
}

impl Judged {
    /// As it should be.
    pub fn passed(seen: impl Into<String>) -> Self {
        Self { verdict: Verdict::Passed, seen: vec![seen.into()], fix: None }
    }

    /// Nothing to ask.
    pub fn not_applicable(why: impl Into<String>) -> Self {
        Self { verdict: Verdict::NotApplicable, seen: vec![why.into()], fix: None }
    }

    /// Not asked.
    pub fn skipped(why: impl Into<String>) -> Self {
        Self { verdict: Verdict::Skipped, seen: vec![why.into()], fix: None }
    }

    /// Works, but.
    pub fn warned(seen: Vec<String>, fix: impl Into<String>) -> Self {
        Self { verdict: Verdict::Warned, seen, fix: Some(fix.into()) }
    }

    /// Not as it should be.
    pub fn failed(seen: Vec<String>, fix: impl Into<String>) -> Self {
        Self { verdict: Verdict::Failed, seen, fix: Some(fix.into()) }
    }

    /// Failed with one sentence.
    pub fn refused(seen: impl Into<String>, fix: impl Into<String>) -> Self {
        Self::failed(vec![seen.into()], fix)
    }

    /// Failed if anything is wrong, warned if anything is odd, else passed. What is odd is told in both cases.
    pub fn of(mut wrong: Vec<String>, odd: Vec<String>, fix: impl Into<String>, good: String) -> Self {
        let is_wrong = !wrong.is_empty();
        wrong.extend(odd);
        match (wrong.is_empty(), is_wrong) {
            (true, _) => Self::passed(good),
            (_, true) => Self::failed(wrong, fix),
            (_, false) => Self::warned(wrong, fix),
        }
    }
}

impl Verdict {
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

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
