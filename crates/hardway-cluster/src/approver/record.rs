//! What is written down about each decision.

use hardway_journal::Fact;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::csr_policy::{Approval, Decision, Examined, ReasonCode, RuleFinding, Verdict};

/// A decision about a certificate request, in the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CsrDecided {
    /// Name of the request.
    pub request: String,
    /// Its uid.
    pub uid: String,
    /// The node it is about, as far as it says so.
    pub node: String,
    /// Its signer.
    pub signer: String,
    /// Its key.
    pub key_id: String,
    /// What became of it.
    pub verdict: Verdict,
    /// Why.
    pub reason: ReasonCode,
    /// Why, in sentences.
    pub evidence: Vec<String>,
}

impl Fact for CsrDecided {
    const KIND: &'static str = "csr-decided";
}

impl CsrDecided {
    /// Of one decision.
    pub fn new(examined: &Examined, decision: &Decision) -> Self {
        let request = &examined.request;
        Self {
            request: request.name.clone(),
            uid: request.uid.clone(),
            node: shortened(examined.node().unwrap_or_default()),
            signer: request.signer.clone(),
            key_id: examined.key_id().unwrap_or_default().to_owned(),
            verdict: decision.verdict,
            reason: decision.reason,
            evidence: decision.evidence.clone(),
        }
    }

    /// The approval that it is.
    pub fn approval(&self, at: Timestamp) -> Approval {
        Approval {
            uid: self.uid.clone(),
            node: self.node.clone(),
            signer: self.signer.clone(),
            key_id: self.key_id.clone(),
            at,
        }
    }
}

/// A decision that is about to be written into a request, in the journal before that. What becomes of it is told by a
/// [`CsrDecided`] of the same request; where there is none, whoever decided was ended, or the API server was away.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CsrIntended(
    /// What will be decided.
    pub CsrDecided,
);

impl Fact for CsrIntended {
    const KIND: &'static str = "csr-intended";
}

/// What became of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Written {
    /// It stands in the request.
    Yes,
    /// Nothing was to be written.
    Nothing,
    /// Only looked at.
    DryRun,
    /// Another approver writes.
    NotOurs,
}

/// A decision as the program and the log tell it.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// When.
    pub time: Timestamp,
    /// The decision.
    #[serde(flatten)]
    pub decided: CsrDecided,
    /// Who asked.
    pub username: String,
    /// What a person can do.
    pub fix: String,
    /// What became of it.
    pub written: Written,
    /// From when it was seen until it was taken up.
    pub waited_milliseconds: u64,
    /// From when it was taken up until it was written.
    pub took_milliseconds: u64,
    /// What each rule found.
    pub findings: Vec<RuleFinding>,
}

/// A decision that stands in a request although nobody was there to hear that it was written.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Found {
    /// When it was written.
    pub(crate) time: Timestamp,
    /// The decision.
    #[serde(flatten)]
    pub(crate) decided: CsrDecided,
    /// It stands there.
    pub(crate) written: Written,
}

/// A name that somebody chose, cut to what a Node can be called.
fn shortened(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(253).collect()
}
