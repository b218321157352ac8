//! What somebody has in hand, where they stand, and how they send.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpSocket;
use tokio_rustls::TlsConnector;

use crate::client::{PATIENCE, Reply};

/// Somebody, as servers see them.
#[derive(Clone)]
pub(crate) struct Credential {
    pub(crate) label: &'static str,
    source: IpAddr,
    headers: Vec<(String, String)>,
    tls: Arc<ClientConfig>,
}

/// Whom to send to: a name that its certificate must have, and where it is.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    pub(crate) name: String,
    pub(crate) address: SocketAddr,
}

impl Credential {
    /// Nobody.
    pub(crate) fn none(label: &'static str, source: IpAddr, trusted: &[u8]) -> Self {
        let tls = builder(trusted).with_no_client_auth();
        Self { label, source, headers: Vec::new(), tls: Arc::new(tls) }
    }

    /// Whoever has a key and its certificate, both in PEM.
    pub(crate) fn certificate(label: &'static str, source: IpAddr, trusted: &[u8], pem: &[u8]) -> Self {
        let chain: Vec<_> = CertificateDer::pem_slice_iter(pem).map(Result::unwrap).collect();
        let key = PrivateKeyDer::from_pem_slice(pem).unwrap();
        let tls = builder(trusted).with_client_auth_cert(chain, key).unwrap();
        Self { label, source, headers: Vec::new(), tls: Arc::new(tls) }
    }

    /// Whoever has a token.
    pub(crate) fn token(label: &'static str, source: IpAddr, trusted: &[u8], token: &str) -> Self {
        Self::none(label, source, trusted).with("Authorization", &format!("Bearer {token}"))
    }

    /// The user of a kubeconfig whose certificates are in it.
    pub(crate) fn kubeconfig(label: &'static str, source: IpAddr, trusted: &[u8], text: &str) -> Self {
        let config = hardway_assets::yaml::read(text).unwrap().to_json();
        let user = &config["users"][0]["user"];
        let part = |name: &str| decoded(&user[name]);
        let pem = [part("client-certificate-data"), part("client-key-data")].concat();
        Self::certificate(label, source, trusted, &pem)
    }

    /// The same with one more header.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same from elsewhere.
    pub(crate) fn at(self, source: IpAddr) -> Self {
        Self { source, ..self }
    }

    /// One request on a connection of its own, as curl sends it. No answer is status 0.
    pub(crate) async fn send(
        &self,
        server: &Server,
        method: &str,
        path: &str,
        headers: &[(String, String)],
        body: &str,
    ) -> Reply {
        let exchange = async {
            let socket = TcpSocket::new_v4()?;
            socket.bind(SocketAddr::new(self.source, 0))?;
            let stream = socket.connect(server.address).await?;
            let name = ServerName::try_from(server.name.clone()).unwrap();
            let mut stream = TlsConnector::from(self.tls.clone()).connect(name, stream).await?;
            let mut text =
                format!("{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", server.name);
            for (name, value) in self.headers.iter().chain(headers) {
                text += &format!("{name}: {value}\r\n");
            }
            text += &format!("Content-Length: {}\r\n\r\n{body}", body.len());
            stream.write_all(text.as_bytes()).await?;
            stream.flush().await?;
            let mut bytes = Vec::new();
            // A server that has seen enough need not say goodbye.
            let _ = stream.read_to_end(&mut bytes).await;
            std::io::Result::Ok(Reply::read(&bytes))
        };
        let refused = |_| Reply::read(&[]);
        tokio::time::timeout(PATIENCE, exchange).await.expect("an answer").unwrap_or_else(refused)
    }
}

fn builder(trusted: &[u8]) -> rustls::ConfigBuilder<ClientConfig, rustls::client::WantsClientCert> {
    let mut roots = RootCertStore::empty();
    for authority in CertificateDer::pem_slice_iter(trusted) {
        roots.add(authority.unwrap()).unwrap();
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
}

fn decoded(text: &Value) -> Vec<u8> {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.decode(text.as_str().unwrap()).unwrap()
}
