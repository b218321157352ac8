//! What is written down about each decision.

use hardway_base::is_unprintable;
use hardway_journal::{CsrDecided, CsrVerdict, Reason};
use jiff::Timestamp;
use serde::Serialize;

use super::our_condition::OurCondition;
use crate::csr_policy::{Approval, Decision, Examined, RuleFinding};

/// What the journal is told of one decision.
pub(crate) fn decided(examined: &Examined, decision: &Decision) -> CsrDecided {
    told(examined, decision.verdict(), decision.reason().into(), decision.evidence().to_vec())
}

/// What it is told of a decision that stands in a request, maybe for a reason of another version.
pub(crate) fn found(examined: &Examined, ours: &OurCondition) -> CsrDecided {
    told(examined, ours.verdict(), ours.reason().clone(), ours.evidence().to_vec())
}

fn told(examined: &Examined, verdict: CsrVerdict, reason: Reason, evidence: Vec<String>) -> CsrDecided {
    let request = &examined.request;
    CsrDecided {
        request: request.name.clone(),
        uid: request.uid.clone(),
        node: shortened(examined.node().unwrap_or_default()),
        signer: request.signer.clone(),
        key_id: examined.key_id().unwrap_or_default().to_owned(),
        username: shortened(&request.username),
        verdict,
        reason,
        evidence,
        more: 0,
    }
}

/// The approval that a decision is.
pub(crate) fn approval(decided: &CsrDecided, at: Timestamp) -> Approval {
    Approval {
        uid: decided.uid.clone(),
        node: decided.node.clone(),
        signer: decided.signer.clone(),
        key_id: decided.key_id.clone(),
        username: decided.username.clone(),
        at,
    }
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
pub struct CsrOutcome {
    /// When.
    pub time: Timestamp,
    /// The decision.
    #[serde(flatten)]
    pub decided: CsrDecided,
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
pub(crate) struct FoundDecision {
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
    name.chars().filter(|c| !is_unprintable(*c)).take(253).collect()
}
