//! What was seen of the files of the working folder whenever hardway planned or made them.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Assets are otherwise than before. Those that are not named are as they were; those that nobody had to look at yet are in no line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AssetsSeen {
    /// By name.
    pub assets: Vec<AssetSeen>,
    /// Those that are no part of the cluster any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<String>,
}

/// One asset.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AssetSeen {
    /// Its name.
    pub asset: String,
    /// Why it is to be made again, in sentences; none of one that is fresh.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// Files of it that somebody has edited.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edited: Vec<String>,
}

/// Certificates in the folder were made, renewed or removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CertificatesSeen {
    /// By name.
    pub certificates: Vec<CertificateSeen>,
    /// Those that lie there no more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<String>,
}

/// One certificate.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CertificateSeen {
    /// Its name.
    pub certificate: String,
    /// Its last second.
    pub not_after: Timestamp,
    /// From when on hardway renews it.
    pub due_from: Timestamp,
}
