//! A TLS handshake, to see what a server presents. Nothing is said over it.

use std::io::Write as _;
use std::net::{TcpStream, ToSocketAddrs as _};
use std::sync::Arc;
use std::time::Duration;

use hardway_assets::pki::{CertificateFacts, inspect};
use hardway_base::{Anybody, pem};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore};

/// Whose word is taken for what is presented.
#[derive(Clone, Debug)]
pub(crate) enum Trust {
    /// These CAs', for the host's name, as every client of the cluster does it.
    Roots(Vec<Vec<u8>>),
    /// Nobody's: what is asked is when it ends, and one that has ended is no answer to those who verify.
    Nobody,
}

/// The chain, the server's own certificate first.
pub(crate) async fn chain(
    host: String,
    port: u16,
    trust: Trust,
    patience: Duration,
) -> Result<Vec<CertificateFacts>, String> {
    let asked = tokio::task::spawn_blocking(move || handshake(&host, port, trust, patience)).await;
    asked.map_err(|error| error.to_string())?
}

fn handshake(
    host: &str,
    port: u16,
    trust: Trust,
    patience: Duration,
) -> Result<Vec<CertificateFacts>, String> {
    let config = config(trust)?;
    let name = ServerName::try_from(host.to_owned()).map_err(|error| text(&error))?;
    let mut connection = ClientConnection::new(Arc::new(config), name).map_err(|error| text(&error))?;
    let mut socket = connect(host, port, patience)?;
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

fn config(trust: Trust) -> Result<ClientConfig, String> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| text(&error))?;
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
fn connect(host: &str, port: u16, patience: Duration) -> Result<TcpStream, String> {
    let mut last = "it has no address".to_owned();
    for address in (host, port).to_socket_addrs().map_err(|error| text(&error))? {
        match TcpStream::connect_timeout(&address, patience) {
            Ok(socket) => return Ok(socket),
            Err(error) => last = text(&error),
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

fn text(error: &dyn std::error::Error) -> String {
    crate::api_error::sentence(error)
}
