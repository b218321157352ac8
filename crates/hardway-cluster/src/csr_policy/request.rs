//! A certificate request as the API server keeps it.

use jiff::Timestamp;
use k8s_openapi::api::certificates::v1::CertificateSigningRequest;

pub use crate::objects::{CLIENT_SIGNER, SERVING_SIGNER};
use crate::objects::{created, is_request_name};

/// What the policy reads of a CertificateSigningRequest. The API server wrote requester, groups and time; the rest is what
/// was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Of the object.
    pub name: String,
    /// Of the object; a name can be used again, this cannot.
    pub uid: String,
    /// When it was made, by the API server's clock.
    pub created: Timestamp,
    /// Who is to sign.
    pub signer: String,
    /// Who asks.
    pub username: String,
    /// Their groups.
    pub groups: Vec<String>,
    /// What the certificate is for.
    pub usages: Vec<String>,
    /// How long it is to live, when asked for.
    pub expiration_seconds: Option<i32>,
    /// The PEM text.
    pub pem: Vec<u8>,
    /// How far it is.
    pub state: RequestState,
}

/// How far a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestState {
    /// Approved, with or without its certificate yet.
    Approved {
        /// When.
        at: Timestamp,
        /// The signer has done its part.
        issued: bool,
    },
    /// Denied, or given up by its signer.
    Ended,
    /// Nobody has decided.
    Pending,
}

impl Request {
    /// From the object.
    pub fn of(object: &CertificateSigningRequest) -> Self {
        let metadata = &object.metadata;
        let created = created(metadata);
        let spec = &object.spec;
        Self {
            name: metadata.name.clone().unwrap_or_default(),
            uid: metadata.uid.clone().unwrap_or_default(),
            created,
            signer: spec.signer_name.clone(),
            username: spec.username.clone().unwrap_or_default(),
            groups: spec.groups.clone().unwrap_or_default(),
            usages: spec.usages.clone().unwrap_or_default(),
            expiration_seconds: spec.expiration_seconds,
            pem: spec.request.0.clone(),
            state: RequestState::of(object, created),
        }
    }

    /// Whether it can be a kubelet's: it is for one of their two signers, under a name that they use.
    pub fn is_a_kubelets(&self) -> bool {
        self.is_for_a_kubelets_signer() && is_request_name(&self.name)
    }

    /// Whether it is for one of the two signers of kubelets.
    pub fn is_for_a_kubelets_signer(&self) -> bool {
        [CLIENT_SIGNER, SERVING_SIGNER].contains(&self.signer.as_str())
    }

    /// Whether it is for a serving certificate.
    pub fn is_serving(&self) -> bool {
        self.signer == SERVING_SIGNER
    }
}

impl RequestState {
    fn of(object: &CertificateSigningRequest, created: Timestamp) -> Self {
        let status = object.status.as_ref();
        let conditions = status.and_then(|status| status.conditions.as_deref()).unwrap_or_default();
        let issued =
            status.and_then(|status| status.certificate.as_ref()).is_some_and(|text| !text.0.is_empty());
        let approved = conditions.iter().find(|condition| condition.type_ == "Approved");
        if conditions.iter().any(|condition| ["Denied", "Failed"].contains(&condition.type_.as_str())) {
            Self::Ended
        } else if approved.is_some() || issued {
            let at = approved
                .and_then(|condition| condition.last_update_time.as_ref())
                // A verdict is not older than its request, whatever the clock of whoever wrote it.
                .map_or(created, |time| time.0.max(created));
            Self::Approved { at, issued }
        } else {
            Self::Pending
        }
    }
}
