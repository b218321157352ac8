//! What an approver of ours writes into a request, and reads from it again: a condition of the API, with the verdict as its type,
//! the reason as its reason, and sentences for people as its message.

use hardway_journal::Reason;
use jiff::Timestamp;
use k8s_openapi::api::certificates::v1::{CertificateSigningRequest, CertificateSigningRequestCondition};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use crate::csr_policy::{CsrVerdict, Decision};

/// How the messages of our conditions begin.
const OURS: &str = "hardway: ";

/// A verdict that stands in a request, or is about to. The fields are nobody else's: what is to be written can only come from the
/// policy's decision, so that nothing is approved past it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OurCondition {
    kind: Kind,
    /// Of another version's table, maybe.
    reason: Reason,
    evidence: Vec<String>,
    at: Option<Timestamp>,
}

/// The two verdicts that are written; all others leave a request as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Approved,
    Denied,
}

impl OurCondition {
    /// What a decision writes; none where it writes nothing.
    pub(crate) fn of_decision(decision: &Decision, now: Timestamp) -> Option<Self> {
        let kind = match decision.verdict() {
            CsrVerdict::Approve => Kind::Approved,
            CsrVerdict::Deny => Kind::Denied,
            CsrVerdict::Hold | CsrVerdict::Leave => return None,
        };
        let evidence = decision.evidence().to_vec();
        Some(Self { kind, reason: decision.reason().into(), evidence, at: Some(now) })
    }

    /// The one in a request; none where nobody decided, or somebody else.
    pub(crate) fn of(object: &CertificateSigningRequest) -> Option<Self> {
        let conditions = object.status.iter().flat_map(|status| status.conditions.iter().flatten());
        conditions.into_iter().find_map(Self::read)
    }

    fn read(condition: &CertificateSigningRequestCondition) -> Option<Self> {
        let kind = [Kind::Approved, Kind::Denied].into_iter().find(|kind| kind.type_() == condition.type_)?;
        let reason = Reason::new(&kebab(condition.reason.as_deref()?));
        let message = condition.message.as_deref()?.strip_prefix(OURS)?;
        let evidence = message.split_once(": ").map_or("", |(_, evidence)| evidence);
        let evidence = evidence.split("; ").filter(|one| !one.is_empty()).map(str::to_owned).collect();
        Some(Self { kind, reason, evidence, at: condition.last_update_time.as_ref().map(|time| time.0) })
    }

    pub(crate) fn verdict(&self) -> CsrVerdict {
        match self.kind {
            Kind::Approved => CsrVerdict::Approve,
            Kind::Denied => CsrVerdict::Deny,
        }
    }

    pub(crate) fn reason(&self) -> &Reason {
        &self.reason
    }

    pub(crate) fn evidence(&self) -> &[String] {
        &self.evidence
    }

    /// When it was written; none where the request does not say.
    pub(crate) fn at(&self) -> Option<Timestamp> {
        self.at
    }

    /// As the API keeps it.
    pub(crate) fn to_condition(&self) -> CertificateSigningRequestCondition {
        let evidence: String = self.evidence.join("; ").chars().take(1000).collect();
        CertificateSigningRequestCondition {
            type_: self.kind.type_().to_owned(),
            status: "True".to_owned(),
            reason: Some(camel(self.reason.word())),
            message: Some(format!("{OURS}{}: {evidence}", self.reason)),
            last_update_time: self.at.map(Time),
            last_transition_time: None,
        }
    }
}

impl Kind {
    /// The API's word.
    fn type_(self) -> &'static str {
        match self {
            Self::Approved => "Approved",
            Self::Denied => "Denied",
        }
    }
}

/// `first-client` as conditions write it: `FirstClient`.
fn camel(word: &str) -> String {
    word.split('-').map(|part| part[..1].to_uppercase() + &part[1..]).collect()
}

/// And back.
fn kebab(camel: &str) -> String {
    let mut word = String::new();
    for letter in camel.chars() {
        if letter.is_ascii_uppercase() && !word.is_empty() {
            word.push('-');
        }
        word.push(letter.to_ascii_lowercase());
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::csr_policy::ReasonCode;

    fn denied(reason: Reason) -> OurCondition {
        let evidence = vec!["a".into(), "b".into()];
        OurCondition { kind: Kind::Denied, reason, evidence, at: Some(Timestamp::UNIX_EPOCH) }
    }

    fn read_back(condition: CertificateSigningRequestCondition) -> Option<OurCondition> {
        let mut object = CertificateSigningRequest::default();
        assert_eq!(OurCondition::of(&object), None);
        object.status.get_or_insert_default().conditions = Some(vec![condition]);
        OurCondition::of(&object)
    }

    #[test]
    fn conditions_have_reasons_in_their_spelling() {
        let condition = denied(ReasonCode::OrganizationNotNodes.into()).to_condition();
        assert_eq!(condition.reason.as_deref(), Some("OrganizationNotNodes"));
        assert_eq!(condition.message.as_deref(), Some("hardway: organization-not-nodes: a; b"));
        assert_eq!((condition.type_.as_str(), condition.status.as_str()), ("Denied", "True"));
    }

    #[test]
    fn what_is_written_can_be_read_again() {
        for reason in ReasonCode::ALL {
            let ours = denied((*reason).into());
            assert_eq!(read_back(ours.to_condition()), Some(ours));
        }
        // Of a version with reasons that this one does not know: the word stays.
        let newer = denied(Reason::new("of-next-year"));
        assert_eq!(read_back(newer.to_condition()), Some(newer));
    }

    #[test]
    fn what_others_write_is_not_ours() {
        let ours = denied(ReasonCode::Superseded.into()).to_condition();
        let by_hand = CertificateSigningRequestCondition {
            message: Some("This CSR was approved by kubectl certificate approve.".to_owned()),
            ..ours.clone()
        };
        let failed = CertificateSigningRequestCondition { type_: "Failed".to_owned(), ..ours };
        assert_eq!((read_back(by_hand), read_back(failed)), (None, None));
    }
}
