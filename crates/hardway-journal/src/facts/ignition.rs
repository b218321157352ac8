//! What the ignition server gave to whom.

use std::fmt;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

/// Which part of the ignition server answered; each knows its clients in another way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Face {
    /// Hosts of the inventory, each by a token of its own.
    Host,
    /// Workers of a NodePool, which share a token.
    Hosted,
    /// Whoever asks for a pool's config, as the machine-config-server gives it.
    Pool,
}

impl Face {
    /// The word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Hosted => "hosted",
            Self::Pool => "pool",
        }
    }
}

impl fmt::Display for Face {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// A config of a host can be fetched from now on. Written once for each content, so that a restart does not begin the
/// window anew.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IgnitionOffered {
    /// As in the inventory.
    pub host: String,
    /// Which config.
    #[serde(rename = "generation")]
    pub digest: String,
}

/// A host showed its token and was given its config. Written before the first byte of the config is sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IgnitionRedeemed {
    /// As in the inventory; for a hosted worker, its NodePool.
    pub host: String,
    /// Which config it was.
    #[serde(rename = "generation")]
    pub digest: String,
    /// Where the request came from.
    pub source: IpAddr,
    /// Which face of the server: that of hosts or of hosted workers.
    pub face: Face,
}

/// A pool's config went to somebody. Not a redemption: no token was shown, so it proves nothing about who it was. Anybody can ask:
/// the first are written down, and then fewer and fewer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PoolServed {
    /// Which pool.
    pub pool: String,
    /// Which config.
    #[serde(rename = "generation")]
    pub digest: String,
    /// Where the request came from.
    pub source: IpAddr,
    /// Those since the last that was written down.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    pub more: u64,
}

/// From now on hosts get their configs wherever they ask from, because a person said so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnyAddressAllowed {}
