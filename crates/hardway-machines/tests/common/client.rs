//! A client that sends exactly the bytes it is given, over TLS.

#![allow(dead_code, reason = "each test program uses its own part")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, IpAddr, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// Who to talk to, and whom to trust.
#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) address: SocketAddr,
    config: Arc<ClientConfig>,
    source: Option<std::net::IpAddr>,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

/// Long enough for the slowest machine; nothing is measured with it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

impl Client {
    pub(crate) fn new(address: SocketAddr, ca: &[u8]) -> Self {
        Self::offering(address, ca, &[])
    }

    /// With these application protocols.
    pub(crate) fn offering(address: SocketAddr, ca: &[u8], protocols: &[&str]) -> Self {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(ca).unwrap()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
        Self { address, config: Arc::new(config), source: None }
    }

    /// From another address of this host.
    pub(crate) fn from(self, source: std::net::IpAddr) -> Self {
        Self { source: Some(source), ..self }
    }

    pub(crate) async fn connect(&self) -> std::io::Result<TlsStream<TcpStream>> {
        self.handshake(TcpStream::connect(self.address).await?).await
    }

    /// With hardly any room for what is received and not read: the sender has to keep it.
    pub(crate) async fn connect_slowly(&self) -> std::io::Result<TlsStream<TcpStream>> {
        let socket = TcpSocket::new_v4()?;
        socket.set_recv_buffer_size(4096)?;
        if let Some(source) = self.source {
            socket.bind(SocketAddr::new(source, 0))?;
        }
        self.handshake(socket.connect(self.address).await?).await
    }

    async fn handshake(&self, stream: TcpStream) -> std::io::Result<TlsStream<TcpStream>> {
        let name = ServerName::IpAddress(IpAddr::from(self.address.ip()));
        TlsConnector::from(self.config.clone()).connect(name, stream).await
    }

    /// One request, the connection closed behind it.
    pub(crate) async fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Reply {
        let mut text = format!("{method} {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n");
        headers.iter().for_each(|(name, value)| text += &format!("{name}: {value}\r\n"));
        self.send(&(text + "\r\n")).await.unwrap()
    }

    pub(crate) async fn send(&self, text: &str) -> std::io::Result<Reply> {
        let exchange = async {
            let mut stream = self.connect().await?;
            stream.write_all(text.as_bytes()).await?;
            // What TLS has taken is not sent yet.
            stream.flush().await?;
            let mut bytes = Vec::new();
            match stream.read_to_end(&mut bytes).await {
                // A server that has seen enough need not say goodbye.
                Err(error) if bytes.is_empty() => Err(error),
                _ => Ok(Reply::read(&bytes)),
            }
        };
        tokio::time::timeout(PATIENCE, exchange).await.expect("an answer")
    }
}

impl Reply {
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(bytes.len());
        let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or_default();
        Self { status, head, body: bytes.get(end + 4..).unwrap_or_default().to_vec() }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}
