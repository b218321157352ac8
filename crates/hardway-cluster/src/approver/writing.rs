//! Reading a request right before it is decided, and writing the decision into it.

use std::fmt;

use jiff::Timestamp;
use k8s_openapi::api::certificates::v1::{CertificateSigningRequest, CertificateSigningRequestCondition};
use k8s_openapi::api::core::v1::Node;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::api::{Api, PostParams};
use tokio::time::timeout;

use super::REQUEST_LIMIT;
use crate::api_error::sentence;
use crate::csr_policy::{Decision, ReasonCode, Verdict};

/// How messages of ours begin.
const OURS: &str = "hardway: ";

/// Why the API server was of no help.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// Somebody changed the request since it was read: read it again.
    Changed,
    /// The request is gone.
    Gone,
    /// The API server does not answer, or not well.
    Api(Box<kube::Error>),
    /// It does not answer in time.
    TooSlow,
    /// The journal cannot be written, and what cannot be recorded is not decided.
    NotRecorded,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed => f.write_str("a request changes faster than it can be read"),
            Self::Gone => f.write_str("a request is gone"),
            Self::Api(error) => f.write_str(&sentence(error)),
            Self::NotRecorded => f.write_str("the journal cannot be written"),
            Self::TooSlow => write!(f, "no answer within {} seconds", REQUEST_LIMIT.as_secs()),
        }
    }
}

/// The requests and nodes of a cluster.
#[derive(Clone)]
pub(crate) struct Cluster {
    pub(crate) requests: Api<CertificateSigningRequest>,
    pub(crate) nodes: Api<Node>,
}

impl Cluster {
    pub(crate) fn new(client: &kube::Client) -> Self {
        Self { requests: Api::all(client.clone()), nodes: Api::all(client.clone()) }
    }

    pub(crate) async fn request(&self, name: &str) -> Result<CertificateSigningRequest, Trouble> {
        limited(self.requests.get_opt(name)).await?.ok_or(Trouble::Gone)
    }

    pub(crate) async fn node(&self, name: &str) -> Result<Option<Node>, Trouble> {
        limited(self.nodes.get_opt(name)).await
    }

    /// Writes a verdict into the very version of the request that was judged.
    pub(crate) async fn write(
        &self,
        mut object: CertificateSigningRequest,
        decision: &Decision,
        now: Timestamp,
    ) -> Result<(), Trouble> {
        let name = object.metadata.name.clone().unwrap_or_default();
        let status = object.status.get_or_insert_default();
        status.conditions.get_or_insert_default().push(condition(decision, now));
        limited(self.requests.replace_subresource("approval", &name, &PostParams::default(), &object))
            .await
            .map(drop)
    }
}

/// What an approver of ours wrote into a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ours {
    pub(crate) verdict: Verdict,
    /// None where it is of another version, with other reasons.
    pub(crate) reason: Option<ReasonCode>,
    pub(crate) evidence: Vec<String>,
    pub(crate) at: Option<Timestamp>,
}

impl Ours {
    /// From the condition, which says all of it (see [`condition`]).
    pub(crate) fn of(object: &CertificateSigningRequest) -> Option<Self> {
        let conditions = object.status.iter().flat_map(|status| status.conditions.iter().flatten());
        conditions.into_iter().find_map(|condition| {
            let text = condition.message.as_deref()?.strip_prefix(OURS)?;
            let (word, evidence) = text.split_once(": ").unwrap_or((text, ""));
            Some(Self {
                verdict: if condition.type_ == "Approved" { Verdict::Approve } else { Verdict::Deny },
                reason: ReasonCode::named(word),
                evidence: evidence.split("; ").filter(|one| !one.is_empty()).map(str::to_owned).collect(),
                at: condition.last_update_time.as_ref().map(|time| time.0),
            })
        })
    }
}

fn condition(decision: &Decision, now: Timestamp) -> CertificateSigningRequestCondition {
    let type_ = if decision.verdict == Verdict::Approve { "Approved" } else { "Denied" };
    let evidence: String = decision.evidence.join("; ").chars().take(1000).collect();
    CertificateSigningRequestCondition {
        type_: type_.to_owned(),
        status: "True".to_owned(),
        reason: Some(camel(decision.reason.word())),
        message: Some(format!("{OURS}{}: {evidence}", decision.reason)),
        last_update_time: Some(Time(now)),
        last_transition_time: None,
    }
}

/// `first-client` as conditions write it: `FirstClient`.
fn camel(word: &str) -> String {
    word.split('-').map(|part| part[..1].to_uppercase() + &part[1..]).collect()
}

pub(crate) async fn limited<T>(request: impl Future<Output = kube::Result<T>>) -> Result<T, Trouble> {
    match timeout(REQUEST_LIMIT, request).await {
        Err(_) => Err(Trouble::TooSlow),
        Ok(Ok(value)) => Ok(value),
        Ok(Err(kube::Error::Api(status))) if status.code == 409 => Err(Trouble::Changed),
        Ok(Err(kube::Error::Api(status))) if status.code == 404 => Err(Trouble::Gone),
        Ok(Err(error)) => Err(Trouble::Api(Box::new(error))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_have_reasons_in_their_spelling() {
        let decision = Decision {
            verdict: Verdict::Deny,
            reason: ReasonCode::OrganizationNotNodes,
            evidence: vec!["a".into(), "b".into()],
            findings: Vec::new(),
        };
        let condition = condition(&decision, Timestamp::UNIX_EPOCH);
        assert_eq!(condition.reason.as_deref(), Some("OrganizationNotNodes"));
        assert_eq!(condition.message.as_deref(), Some("hardway: organization-not-nodes: a; b"));
        assert_eq!((condition.type_.as_str(), condition.status.as_str()), ("Denied", "True"));

        // And can be read again.
        let mut object = CertificateSigningRequest::default();
        assert_eq!(Ours::of(&object), None);
        object.status.get_or_insert_default().conditions = Some(vec![condition]);
        let ours = Ours::of(&object).unwrap();
        assert_eq!((ours.verdict, ours.reason), (Verdict::Deny, Some(ReasonCode::OrganizationNotNodes)));
        assert_eq!(
            (ours.evidence, ours.at),
            (vec!["a".to_owned(), "b".to_owned()], Some(Timestamp::UNIX_EPOCH))
        );
    }
}
