//! Events with a type. Those that one crate writes and another reads are here; the rest live with their crate.

use std::net::IpAddr;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// An event that is written and read as a type. Readers skip kinds they do not know, so that an older hardway can read the
/// journal of a newer one; for the same reason fields are only ever added.
pub trait Fact: Serialize + DeserializeOwned {
    /// Its kind in the journal, in kebab-case.
    const KIND: &'static str;
}

/// A host showed its token and was given its config. Written before the first byte of the config is sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IgnitionRedeemed {
    /// As in the inventory; for a hosted worker, its NodePool.
    pub host: String,
    /// Which config it was.
    pub generation: String,
    /// Where the request came from.
    pub source: IpAddr,
    /// Which face of the server: `host` or `hosted`.
    pub face: String,
}

impl Fact for IgnitionRedeemed {
    const KIND: &'static str = "ignition-redeemed";
}

/// A host's node has its certificates: from now on its ignition token is worth nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeJoined {
    /// As in the inventory.
    pub host: String,
}

impl Fact for NodeJoined {
    const KIND: &'static str = "node-joined";
}
