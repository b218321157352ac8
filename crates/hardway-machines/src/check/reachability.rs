//! What a client gets at an address.

use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hardway_assets::pki::{self, CertificateFacts};
use hardway_base::pem;
use rustls::crypto::aws_lc_rs;
use rustls::{ClientConfig, ClientConnection, StreamOwned};
use rustls_pki_types::ServerName;

use hardway_base::Anybody;

/// How far a connection got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reachability {
    /// Nobody has the address, or there is no way there.
    Nobody(String),
    /// The port is shut.
    Refused,
    /// Nothing came back.
    Silent,
    /// Taken, and closed again without an answer: a balancer all of whose members are down.
    Closed(String),
    /// Somebody answered.
    Answered {
        /// In DER.
        certificate: Option<Vec<u8>>,
        /// All that came.
        text: String,
    },
}

impl Reachability {
    /// Connects and asks for a path.
    pub(crate) fn at(address: SocketAddr, path: &str, is_tls: bool, patience: Duration) -> Self {
        let stream = match TcpStream::connect_timeout(&address, patience) {
            Ok(stream) => stream,
            Err(error) => return Self::of(&error),
        };
        match talk(stream, address, path, is_tls, patience) {
            Ok((_, text)) if text.is_empty() => Self::Closed("closed without an answer".to_owned()),
            Ok((certificate, text)) => Self::Answered { certificate, text },
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                Self::Closed("accepted, but no answer".to_owned())
            }
            Err(error) => Self::Closed(format!("accepted, then closed ({error})")),
        }
    }

    fn of(error: &io::Error) -> Self {
        match error.kind() {
            ErrorKind::ConnectionRefused => Self::Refused,
            ErrorKind::TimedOut | ErrorKind::WouldBlock => Self::Silent,
            _ => Self::Nobody(error.to_string()),
        }
    }
}

impl fmt::Display for Reachability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answered { certificate, text } => {
                write!(f, "answers {:?}", text.lines().next().unwrap_or_default())?;
                certificate.iter().try_for_each(|found| write!(f, ", {}", shown(found)))
            }
            Self::Closed(how) => f.write_str(how),
            Self::Nobody(why) => write!(f, "cannot be reached ({why})"),
            Self::Refused => f.write_str("connection refused"),
            Self::Silent => f.write_str("no answer to a connection"),
        }
    }
}

/// Whether it is for one of these names.
pub(crate) fn is_for(certificate: &[u8], names: &[String]) -> bool {
    facts(certificate).is_some_and(|facts| facts.sans.iter().any(|san| names.contains(san)))
}

fn facts(certificate: &[u8]) -> Option<CertificateFacts> {
    pki::inspect(&pem::encode("CERTIFICATE", certificate)).ok()?.into_iter().next()
}

/// Whose certificate it is.
pub(crate) fn shown(certificate: &[u8]) -> String {
    facts(certificate).map_or_else(
        || "a certificate that cannot be read".to_owned(),
        |facts| format!("the certificate of {}", facts.subject),
    )
}

type Heard = (Option<Vec<u8>>, String);

fn talk(
    stream: TcpStream,
    address: SocketAddr,
    path: &str,
    is_tls: bool,
    patience: Duration,
) -> io::Result<Heard> {
    stream.set_read_timeout(Some(patience))?;
    stream.set_write_timeout(Some(patience))?;
    if !is_tls {
        return Ok((None, ask(&mut &stream, path, patience)?));
    }
    let name = ServerName::IpAddress(address.ip().into());
    let connection = ClientConnection::new(Arc::new(client().map_err(io::Error::other)?), name)
        .map_err(io::Error::other)?;
    let mut stream = StreamOwned::new(connection, stream);
    let text = ask(&mut stream, path, patience)?;
    let certificate = stream.conn.peer_certificates().and_then(|chain| Some(chain.first()?.to_vec()));
    Ok((certificate, text))
}

/// What comes until the end, for as long as patience lasts.
fn ask(stream: &mut (impl Read + Write), path: &str, patience: Duration) -> io::Result<String> {
    write!(stream, "GET {path} HTTP/1.1\r\nHost: hardway-check\r\nConnection: close\r\n\r\n")?;
    stream.flush()?;
    let (began, mut text, mut buffer) = (Instant::now(), Vec::new(), [0; 4096]);
    while text.len() < LONGEST_ANSWER && began.elapsed() < patience {
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => text.extend(&buffer[..length]),
            // Many servers just close.
            Err(error) if error.kind() == ErrorKind::UnexpectedEof || !text.is_empty() => break,
            Err(error) => return Err(error),
        }
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

const LONGEST_ANSWER: usize = 1 << 16;

/// No secret is sent over this connection, and who answers is exactly what we want to find out.
fn client() -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let config =
        ClientConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions()?;
    let verifier = Arc::new(Anybody::new(&provider));
    Ok(config.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(30);

    #[test]
    fn a_port_that_closes_is_told_from_one_that_is_shut() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        let closing = std::thread::spawn(move || drop(listener.accept()));
        assert!(matches!(Reachability::at(at, "/readyz", true, PATIENCE), Reachability::Closed(_)));
        closing.join().unwrap();
    }
}
