//! A TLS handshake, to see what a server presents. No data is sent over it.

use std::io::{self, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::sync::Arc;
use std::time::Duration;

use hardway_assets::pki::{CertificateFacts, InspectError, inspect};
use hardway_base::{Anybody, pem};
use rustls::pki_types::{CertificateDer, InvalidDnsNameError, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore};

use crate::api_error::sentence;

/// Whose word is taken for what is presented.
#[derive(Clone, Debug)]
pub(crate) enum Trust {
    /// These CAs', for the host's name, as every client of the cluster does it.
    Roots(Vec<Vec<u8>>),
    /// Nobody's: what is asked is when it ends, and one that has ended is no answer to those who verify.
    Nobody,
}

/// Why it did not come about.
#[derive(Clone, Debug, thiserror::Error)]
pub enum HandshakeError {
    /// No server can have that name.
    #[error("{0}")]
    Name(Arc<InvalidDnsNameError>),
    /// The name resolves to nothing.
    #[error("it has no address")]
    NoAddress,
    /// Nobody is there, or it ended early.
    #[error("{}", sentence(.0))]
    Io(Arc<io::Error>),
    /// TLS cannot be begun.
    #[error("{}", sentence(.0))]
    Tls(#[from] rustls::Error),
    /// What it presents is no certificate.
    #[error("{0}")]
    Certificate(#[from] InspectError),
    /// It was given up.
    #[error("{0}")]
    Ended(Arc<tokio::task::JoinError>),
}

impl From<InvalidDnsNameError> for HandshakeError {
    fn from(error: InvalidDnsNameError) -> Self {
        Self::Name(Arc::new(error))
    }
}

impl From<io::Error> for HandshakeError {
    fn from(error: io::Error) -> Self {
        Self::Io(Arc::new(error))
    }
}

/// What a server presents, whoever signed it: the chain, the server's own certificate first.
///
/// # Errors
/// When it does not come to that.
pub async fn presented(
    host: String,
    port: u16,
    patience: Duration,
) -> Result<Vec<CertificateFacts>, HandshakeError> {
    chain(host, port, Trust::Nobody, patience).await
}

/// The chain, the server's own certificate first.
pub(crate) async fn chain(
    host: String,
    port: u16,
    trust: Trust,
    patience: Duration,
) -> Result<Vec<CertificateFacts>, HandshakeError> {
    let asked = tokio::task::spawn_blocking(move || handshake(&host, port, trust, patience)).await;
    asked.map_err(|error| HandshakeError::Ended(Arc::new(error)))?
}

fn handshake(
    host: &str,
    port: u16,
    trust: Trust,
    patience: Duration,
) -> Result<Vec<CertificateFacts>, HandshakeError> {
    let config = config(trust)?;
    let name = ServerName::try_from(host.to_owned())?;
    let mut connection = ClientConnection::new(Arc::new(config), name)?;
    let mut socket = connect(host, port, patience)?;
    for set in [TcpStream::set_read_timeout, TcpStream::set_write_timeout] {
        set(&socket, Some(patience))?;
    }
    while connection.is_handshaking() {
        connection.complete_io(&mut socket)?;
    }
    let chain = connection.peer_certificates().unwrap_or_default();
    let pem: String = chain.iter().map(|certificate| pem::encode("CERTIFICATE", certificate)).collect();
    let facts = inspect(&pem).map_err(HandshakeError::from);
    goodbye(connection, socket);
    facts
}

fn config(trust: Trust) -> Result<ClientConfig, HandshakeError> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder =
        ClientConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions()?;
    Ok(match trust {
        Trust::Roots(roots) => {
            let mut store = RootCertStore::empty();
            store.add_parsable_certificates(roots.into_iter().map(CertificateDer::from));
            builder.with_root_certificates(store).with_no_client_auth()
        }
        Trust::Nobody => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Anybody::new(&provider)))
            .with_no_client_auth(),
    })
}

/// Each address gets the whole time: the first may be one that swallows packets.
fn connect(host: &str, port: u16, patience: Duration) -> Result<TcpStream, HandshakeError> {
    let mut last = HandshakeError::NoAddress;
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, patience) {
            Ok(socket) => return Ok(socket),
            Err(error) => last = error.into(),
        }
    }
    Err(last)
}

/// Servers log a connection that just ends.
fn goodbye(mut connection: ClientConnection, mut socket: TcpStream) {
    connection.send_close_notify();
    let _ = connection.write_tls(&mut socket);
    let _ = socket.flush();
}

/// Why a name does not resolve, or nobody answers at a port.
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
