//! A stand-in for a member: listens at its address, is well, and answers with our words.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use hardway_assets::inventory::KeyAlgorithm;
use hardway_assets::pki::{Subject, Template, Usage, issue, key_id};
use hardway_assets::secrets::{KeyError, PrivateKey, Random};
use hardway_base::hex;
use jiff::{SignedDuration, Timestamp};
use rustls::crypto::aws_lc_rs;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

/// Listens until dropped.
pub(super) struct Backend {
    is_over: Arc<AtomicBool>,
    listening: Option<JoinHandle<()>>,
}

/// For a client that connects and says nothing, as some health checks do.
const SILENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(10);

impl Backend {
    /// Begins to listen.
    pub(super) fn start(at: SocketAddr, is_tls: bool, identity: &Arc<BackendIdentity>) -> io::Result<Self> {
        let listener = TcpListener::bind(at)?;
        listener.set_nonblocking(true)?;
        let is_over = Arc::new(AtomicBool::new(false));
        let (stop, identity) = (Arc::clone(&is_over), Arc::clone(identity));
        let listening = thread::spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                match listener.accept() {
                    Ok((stream, _)) => serve(stream, is_tls, &identity),
                    Err(_) => thread::sleep(PAUSE),
                }
            }
        });
        Ok(Self { is_over, listening: Some(listening) })
    }
}

impl Drop for Backend {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        let _ = self.listening.take().map(JoinHandle::join);
    }
}

/// Each client has a thread of its own, which ends with it or by its silence.
fn serve(stream: TcpStream, is_tls: bool, identity: &Arc<BackendIdentity>) {
    let identity = Arc::clone(identity);
    thread::spawn(move || {
        // A client that breaks off is no concern of ours.
        let _ = answer(stream, is_tls, &identity);
    });
}

fn answer(stream: TcpStream, is_tls: bool, identity: &BackendIdentity) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(SILENCE))?;
    stream.set_write_timeout(Some(SILENCE))?;
    if !is_tls {
        return exchange(&mut &stream, &identity.words);
    }
    let connection = ServerConnection::new(Arc::clone(&identity.server)).map_err(io::Error::other)?;
    let mut stream = StreamOwned::new(connection, stream);
    exchange(&mut stream, &identity.words)?;
    stream.conn.send_close_notify();
    stream.flush()
}

/// Reads a request, whatever it is, and says that all is well.
fn exchange(stream: &mut (impl Read + Write), words: &str) -> io::Result<()> {
    let mut request: Vec<u8> = Vec::new();
    let mut buffer = [0; 1024];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") && request.len() < 1 << 16 {
        match stream.read(&mut buffer)? {
            0 => return Ok(()),
            length => request.extend(&buffer[..length]),
        }
    }
    write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{words}", words.len())?;
    stream.flush()
}

/// A certificate that signs itself, made for this run and never written down.
pub(super) struct BackendIdentity {
    pub(super) certificate: Vec<u8>,
    pub(super) server: Arc<ServerConfig>,
    /// In every answer.
    pub(super) words: String,
}

/// Why there is none.
#[derive(Debug, thiserror::Error)]
pub(super) enum IdentityError {
    #[error(transparent)]
    Certificate(#[from] KeyError),
    #[error(transparent)]
    Pem(#[from] rustls_pki_types::pem::Error),
    #[error(transparent)]
    Tls(#[from] rustls::Error),
}

impl BackendIdentity {
    /// Draws a key.
    pub(super) fn new(now: Timestamp) -> Result<Self, IdentityError> {
        let random = Random::default();
        let key = PrivateKey::generate(KeyAlgorithm::EcdsaP256, &random)?;
        let subject = Subject::user("hardway-check", &[]).to_der();
        let template = Template {
            issuer: subject.clone(),
            subject,
            not_before: now - SignedDuration::from_hours(1),
            not_after: now + SignedDuration::from_hours(1),
            usage: Usage::Server,
            with_key_usage: true,
            sans: Vec::new(),
            authority_key_id: Some(key_id(&key)),
        };
        let certificate = issue(&template, &key, &key)?;
        let private = PrivateKeyDer::from_pem_slice(key.to_pem().expose_text().as_bytes())?;
        let server = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|server| {
                let chain = vec![CertificateDer::from(certificate.clone())];
                server.with_no_client_auth().with_single_cert(chain, private)
            })?;
        let number = hex::encode(random.bytes::<8>());
        Ok(Self { certificate, server: Arc::new(server), words: format!("hardway-check-{number}") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Reachability;

    const PATIENCE: Duration = Duration::from_secs(30);

    fn free() -> SocketAddr {
        TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
    }

    #[test]
    fn a_backend_answers_as_itself() {
        let identity = Arc::new(BackendIdentity::new("2026-11-15T00:00:00Z".parse().unwrap()).unwrap());
        for is_tls in [true, false] {
            let at = free();
            let backend = Backend::start(at, is_tls, &identity).unwrap();
            let Reachability::Answered { certificate, text } =
                Reachability::at(at, "/readyz", is_tls, PATIENCE)
            else {
                panic!("no answer")
            };
            assert_eq!(certificate, is_tls.then(|| identity.certificate.clone()));
            assert!(text.starts_with("HTTP/1.1 200 ") && text.ends_with(&identity.words), "{text}");
            drop(backend);
            assert_eq!(Reachability::at(at, "/readyz", is_tls, PATIENCE), Reachability::Refused);
        }
    }
}
