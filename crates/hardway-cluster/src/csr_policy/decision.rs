//! What the policy says about one request.

use hardway_base::one_line;
use hardway_journal::CsrVerdict;
use serde::Serialize;

use super::ReasonCode;

/// A verdict with its reason, and how it came about. Only the policy makes one, and only one of these can be written into a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// What becomes of it.
    verdict: CsrVerdict,
    /// Why, in a word.
    reason: ReasonCode,
    /// Why, in sentences.
    evidence: Vec<String>,
    /// What each rule found, in order.
    findings: Vec<RuleFinding>,
}

/// What one rule found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RuleFinding {
    /// Which rule.
    pub rule: &'static str,
    /// What it found.
    #[serde(flatten)]
    pub finding: Finding,
}

/// The outcome of a rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum Finding {
    /// Nothing to object, and what was looked at.
    Fits {
        /// A sentence.
        evidence: String,
    },
    /// An objection.
    Objects {
        /// In a word.
        reason: ReasonCode,
        /// A sentence.
        evidence: String,
    },
    /// The rule is about other requests, or cannot look because an earlier one objected.
    DoesNotApply,
}

impl Finding {
    /// Nothing to object.
    pub(crate) fn fits(evidence: impl Into<String>) -> Self {
        Self::Fits { evidence: told(&evidence.into()) }
    }

    /// An objection.
    pub(crate) fn objects(reason: ReasonCode, evidence: impl Into<String>) -> Self {
        Self::Objects { reason, evidence: told(&evidence.into()) }
    }

    /// The objection, if it is one.
    pub fn objection(&self) -> Option<(ReasonCode, &str)> {
        match self {
            Self::Objects { reason, evidence } => Some((*reason, evidence)),
            Self::Fits { .. } | Self::DoesNotApply => None,
        }
    }
}

impl Decision {
    /// From what the rules found: the first that denies counts, then the first that holds.
    pub(super) fn from_findings(findings: Vec<RuleFinding>, approved: ReasonCode) -> Self {
        let objections: Vec<(ReasonCode, &str)> =
            findings.iter().filter_map(|found| found.finding.objection()).collect();
        let order = [CsrVerdict::Leave, CsrVerdict::Deny, CsrVerdict::Hold];
        let worst = order
            .into_iter()
            .find_map(|verdict| objections.iter().find(|(reason, _)| reason.verdict() == verdict))
            .map(|(reason, _)| *reason);
        let evidence = match worst {
            Some(worst) => {
                let weight = |reason: ReasonCode| order.iter().position(|v| *v == reason.verdict());
                let mut objections: Vec<_> =
                    objections.iter().filter(|(r, _)| weight(*r) >= weight(worst)).collect();
                objections.sort_by_key(|(reason, _)| (weight(*reason), *reason != worst));
                objections.iter().map(|(_, evidence)| (*evidence).to_owned()).collect()
            }
            None => findings
                .iter()
                .filter_map(|found| match &found.finding {
                    Finding::Fits { evidence } => Some(evidence.clone()),
                    Finding::Objects { .. } | Finding::DoesNotApply => None,
                })
                .collect(),
        };
        let reason = worst.unwrap_or(approved);
        Self { verdict: reason.verdict(), reason, evidence, findings }
    }

    /// What becomes of it.
    pub fn verdict(&self) -> CsrVerdict {
        self.verdict
    }

    /// Why, in a word.
    pub fn reason(&self) -> ReasonCode {
        self.reason
    }

    /// Why, in sentences.
    pub fn evidence(&self) -> &[String] {
        &self.evidence
    }

    /// What each rule found, in order.
    pub fn findings(&self) -> &[RuleFinding] {
        &self.findings
    }

    /// What each rule found, to be kept.
    pub fn into_findings(self) -> Vec<RuleFinding> {
        self.findings
    }

    /// What a person can do, with the names of the request and its node filled in.
    pub fn fix(&self, request: &str, node: Option<&str>) -> String {
        self.reason.fix().replace("NAME", request).replace("NODE", node.unwrap_or("NODE"))
    }
}

/// Whoever asks chooses much of what is told: it stays one line of bounded length, without anything that moves a cursor.
fn told(sentence: &str) -> String {
    const LONGEST: usize = 400;
    let mut text = one_line(sentence);
    if let Some((end, _)) = text.char_indices().nth(LONGEST) {
        text.truncate(end);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_strangers_write_stays_one_short_line() {
        assert_eq!(told("a node"), "a node");
        assert_eq!(told("a\nb\u{1b}[2Jc\u{202e}"), "a\u{fffd}b\u{fffd}[2Jc\u{fffd}");
        assert_eq!(told(&"x".repeat(4_000)).chars().count(), 401);
    }
}
