//! What the server tells its operator.

use std::net::IpAddr;

use hardway_journal::Face;
use jiff::Timestamp;

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigEvent {
    /// When.
    pub time: Timestamp,
    /// Where the request came from.
    pub source: IpAddr,
    /// Nothing for a path of nobody's.
    pub face: Option<Face>,
    /// The host, pool or NodePool it is about, as far as that is known.
    pub who: String,
    /// Who the client says it is.
    pub agent: String,
    /// What came of it.
    pub what: Happened,
}

/// What came of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happened {
    /// A config was given out.
    Served {
        /// Which.
        digest: String,
        /// How large it was.
        bytes: usize,
    },
    /// None was.
    Refused {
        /// What the client was told.
        status: u16,
        /// What the operator is told.
        reason: String,
    },
}
