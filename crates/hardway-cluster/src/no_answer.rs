//! Why a name does not resolve, or nobody answers at a port.

use std::io;
use std::sync::Arc;

use crate::handshake::HandshakeError;

/// What was asked has no answer.
#[derive(Clone, Debug, thiserror::Error)]
pub enum NoAnswer {
    /// It did not come in time.
    #[error("no answer")]
    Late,
    /// The system says why.
    #[error("{0}")]
    Io(Arc<io::Error>),
    /// Somebody is there, and there is no TLS with it.
    #[error("{0}")]
    Tls(HandshakeError),
}

impl From<io::Error> for NoAnswer {
    fn from(error: io::Error) -> Self {
        Self::Io(Arc::new(error))
    }
}

impl From<tokio::time::error::Elapsed> for NoAnswer {
    fn from(_: tokio::time::error::Elapsed) -> Self {
        Self::Late
    }
}

impl From<HandshakeError> for NoAnswer {
    fn from(error: HandshakeError) -> Self {
        Self::Tls(error)
    }
}
