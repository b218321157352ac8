//! What a face decides.

use std::net::IpAddr;

use hardway_journal::Face;
use http::StatusCode;

use super::{Answer, PreparedConfig};

/// Whether a config goes out, and what must be on disk before it does.
#[derive(Clone, Debug)]
pub enum ConfigDecision {
    /// No config: this answer, for this reason. The reason is for the operator; what the client is told is in the answer.
    Refuse {
        /// What the client gets.
        answer: Answer,
        /// What the operator reads. Never a token.
        reason: String,
    },
    /// This config, in this form.
    Serve {
        /// The bytes.
        config: PreparedConfig,
        /// As the other servers write it.
        content_type: &'static str,
        /// To be on disk before the first byte leaves.
        redemption: Redemption,
    },
}

impl ConfigDecision {
    /// A refusal in the same words for both.
    pub fn refuse(status: StatusCode, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self::Refuse { answer: Answer::text(status, &reason), reason }
    }

    /// A refusal that tells the client less than the operator.
    pub fn refuse_as(answer: Answer, reason: impl Into<String>) -> Self {
        Self::Refuse { answer, reason: reason.into() }
    }
}

/// Who got what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Redemption {
    /// A host of the inventory showed its token.
    Host {
        /// As in the inventory.
        host: String,
        /// Which config.
        digest: String,
        /// From where.
        source: IpAddr,
    },
    /// Somebody asked for a pool's config; nobody knows who.
    Pool {
        /// Which pool.
        pool: String,
        /// Which config.
        digest: String,
        /// From where.
        source: IpAddr,
    },
    /// A hosted worker showed its NodePool's token.
    Hosted {
        /// `<namespace>/<name>`, from the token's Secret and not from what the client said.
        node_pool: String,
        /// Which config.
        digest: String,
        /// From where.
        source: IpAddr,
        /// The token Secret that the client's headers name, if it is the token's own: it is marked as reached.
        reached: Option<String>,
    },
}

impl Redemption {
    /// Which face.
    pub fn face(&self) -> Face {
        match self {
            Self::Host { .. } => Face::Host,
            Self::Pool { .. } => Face::Pool,
            Self::Hosted { .. } => Face::Hosted,
        }
    }

    /// Who got it: a host, a pool or a NodePool.
    pub fn who(&self) -> &str {
        match self {
            Self::Host { host: who, .. }
            | Self::Pool { pool: who, .. }
            | Self::Hosted { node_pool: who, .. } => who,
        }
    }

    /// Which config.
    pub fn digest(&self) -> &str {
        match self {
            Self::Host { digest, .. } | Self::Pool { digest, .. } | Self::Hosted { digest, .. } => digest,
        }
    }

    /// From where.
    pub fn source(&self) -> IpAddr {
        match self {
            Self::Host { source, .. } | Self::Pool { source, .. } | Self::Hosted { source, .. } => *source,
        }
    }
}
