//! What was decided about certificate requests, and whose node has its certificates.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What becomes of a certificate request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CsrVerdict {
    /// It is signed.
    Approve,
    /// It is never signed: it is certain to be wrong or hostile.
    Deny,
    /// It stays pending: a person, or time, will tell.
    Hold,
    /// It is somebody else's business.
    Leave,
}

impl CsrVerdict {
    /// The word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Deny => "deny",
            Self::Hold => "hold",
            Self::Leave => "leave",
        }
    }
}

impl fmt::Display for CsrVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Why a request was decided as it was: a word of the policy's table of reasons. The table is the policy's, and grows; an
/// approval must count even where its reason is newer than the reader, so this is no enum of its own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Reason(String);

impl Reason {
    /// From the policy's word.
    pub fn new(word: &str) -> Self {
        Self(word.to_owned())
    }

    /// The word.
    pub fn word(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A decision about a certificate request.
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
    /// Who asked; empty in records of older versions.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub username: String,
    /// What became of it.
    pub verdict: CsrVerdict,
    /// Why.
    pub reason: Reason,
    /// Why, in sentences.
    pub evidence: Vec<String>,
    /// Others that were refused for the same reason since the last that was written down. Anybody who may ask can be refused: the
    /// first are written down, and then fewer and fewer.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    pub more: u64,
}

/// A decision that is about to be written into a request, in the journal before that. What becomes of it is told by a
/// [`CsrDecided`] of the same request; where there is none, whoever decided was ended, or the API server was away.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CsrIntended(
    /// What will be decided.
    pub CsrDecided,
);

/// A host's node has its certificates: from now on its ignition token is worth nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeJoined {
    /// As in the inventory.
    pub host: String,
}
