//! The server as a whole: begins, is told to end, has ended.

use std::net::SocketAddr;
use std::sync::Arc;

use tokio_rustls::TlsAcceptor;

use super::connection::Connections;
use super::listener::Listeners;
use super::{Certificates, Limits, Router, TlsError};

/// How clients come in.
#[derive(Clone, Debug)]
pub enum Listen {
    /// Anybody on the way can read what is sent. Only for pointers that carry a hash, and only if asked for.
    PlainHttp,
    /// Encrypted.
    Tls(Arc<Certificates>),
}

/// The server cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The address is taken, or not one of this host.
    #[error("cannot listen on {address}")]
    Listen {
        /// Which.
        address: SocketAddr,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// See the source.
    #[error("cannot serve with TLS")]
    Tls(#[from] TlsError),
}

/// A server that runs.
#[derive(Debug)]
pub struct Server(Listeners);

impl Server {
    /// Listens on all addresses, or on none. Must run inside an async runtime.
    pub async fn start(
        addresses: &[SocketAddr],
        listen: &Listen,
        limits: Limits,
        router: Arc<Router>,
    ) -> Result<Self, ServerError> {
        let tls = match listen {
            Listen::PlainHttp => None,
            Listen::Tls(certificates) => Some(TlsAcceptor::from(certificates.server_config()?)),
        };
        let connections = Arc::new(Connections { router, limits, tls });
        Ok(Self(Listeners::open(addresses, &limits, &connections)?))
    }

    /// Where it listens, with the ports that were given out.
    pub fn addresses(&self) -> &[SocketAddr] {
        self.0.addresses()
    }

    /// Takes no more connections, lets the requests that are under way end, and returns. False when some did not end in
    /// time and were cut off.
    pub async fn end(self) -> bool {
        self.0.end().await
    }
}
