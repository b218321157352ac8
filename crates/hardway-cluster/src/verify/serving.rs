//! A TLS handshake, to see what a server presents.

use std::io::Write as _;
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use hardway_assets::pem;
use hardway_assets::pki::{CertificateFacts, inspect};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore};

/// Verified against these CAs and the host's name, as every client of the cluster does it.
pub(super) async fn chain(
    host: String,
    port: u16,
    roots: Vec<Vec<u8>>,
    patience: Duration,
) -> Result<Vec<CertificateFacts>, String> {
    let asked = tokio::task::spawn_blocking(move || handshake(&host, port, roots, patience)).await;
    asked.map_err(|error| error.to_string())?
}

fn handshake(
    host: &str,
    port: u16,
    roots: Vec<Vec<u8>>,
    patience: Duration,
) -> Result<Vec<CertificateFacts>, String> {
    let text = |error: &dyn std::error::Error| crate::api_error::sentence(error);
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(roots.into_iter().map(CertificateDer::from));
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| text(&error))?
        .with_root_certificates(store)
        .with_no_client_auth();
    let name = ServerName::try_from(host.to_owned()).map_err(|error| text(&error))?;
    let mut connection = ClientConnection::new(Arc::new(config), name).map_err(|error| text(&error))?;
    let mut socket = TcpStream::connect((host, port)).map_err(|error| text(&error))?;
    for set in [TcpStream::set_read_timeout, TcpStream::set_write_timeout] {
        set(&socket, Some(patience)).map_err(|error| text(&error))?;
    }
    while connection.is_handshaking() {
        connection.complete_io(&mut socket).map_err(|error| text(&error))?;
    }
    let chain = connection.peer_certificates().unwrap_or_default();
    let pem: String = chain.iter().map(|certificate| pem::encode("CERTIFICATE", certificate)).collect();
    let facts = inspect(&pem).map_err(|error| text(&error));
    goodbye(connection, socket);
    facts
}

/// Servers log a connection that just ends.
fn goodbye(mut connection: ClientConnection, mut socket: TcpStream) {
    connection.send_close_notify();
    let _ = connection.write_tls(&mut socket);
    let _ = socket.flush();
}
