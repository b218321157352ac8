//! Asking the journal gateway of the bootstrap host (systemd `man systemd-journal-gatewayd`): HTTP, over TLS with a certificate on
//! either side.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use hardway_base::{Secret, error_cause, pem};
use reqwest::header::{ACCEPT, RANGE};
use reqwest::{Client, Response, StatusCode, redirect};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};

use super::gateway_verifier::GatewayVerifier;
use super::journal_entry::{JournalEntry, journal_entries};
use crate::api_error::sentence;

/// The port systemd gives it.
pub const GATEWAY_PORT: u16 = 19531;

/// More than the record of any install, and than the end of any journal that is asked for.
const LARGEST_ANSWER: usize = 64 << 20;

/// How the gateway is reached.
#[derive(Clone, Debug)]
pub struct Gateway {
    /// Of the bootstrap host.
    pub address: SocketAddr,
    /// PEM of the CA that signed the certificates of both sides.
    pub trust: String,
    /// PEM of the client's.
    pub certificate: String,
    /// Its key, PEM.
    pub key: Secret,
    /// For a whole answer.
    pub patience: Duration,
}

/// It does not answer, or not with a journal.
#[derive(Debug, thiserror::Error)]
pub enum GatewayError {
    /// Its port is closed, or nobody is there.
    #[error("the journal gateway at {0} cannot be reached: {1}")]
    Unreachable(SocketAddr, String),
    /// One of the two does not trust the other.
    #[error("the TLS handshake with the journal gateway at {0} failed: {1}")]
    Tls(SocketAddr, String),
    /// The certificate or the key here cannot be used.
    #[error("the certificate for the journal gateway cannot be used: {0}")]
    Certificate(#[from] CertificateError),
    /// It answers, but not with entries.
    #[error("the journal gateway at {0} answers {1}")]
    Refused(SocketAddr, AnswerError),
    /// It took too long.
    #[error("the journal gateway at {0} did not answer within {wait} s", wait = .1.as_secs())]
    Late(SocketAddr, Duration),
}

/// What is wrong with the certificate or the key. What cannot be read is never shown: it may be the key.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// The client that should use it cannot be made.
    #[error("{}", sentence(.0))]
    Client(reqwest::Error),
    /// The key is in no form that is known.
    #[error("the key is not a PEM private key")]
    Key,
    /// A certificate is none.
    #[error("it is not PEM")]
    Pem,
    /// TLS cannot be begun with it.
    #[error("{0}")]
    Tls(#[from] rustls::Error),
}

/// An answer that is no journal.
#[derive(Debug, thiserror::Error)]
pub enum AnswerError {
    /// It broke off.
    #[error("{}", sentence(.0))]
    Broken(#[from] reqwest::Error),
    /// It is an error's.
    #[error("{0}: {1}")]
    Status(StatusCode, String),
    /// It does not end.
    #[error("larger than any journal of an install")]
    TooLong,
}

impl Gateway {
    /// At the port systemd gives it.
    pub fn new(address: IpAddr, trust: String, certificate: String, key: Secret) -> Self {
        let address = SocketAddr::new(address, GATEWAY_PORT);
        Self { address, trust, certificate, key, patience: Duration::from_secs(20) }
    }

    /// Entries with all of these fields, in order: all, those after a cursor, or the last few.
    pub async fn entries(
        &self,
        fields: &[(&str, &str)],
        which: Which<'_>,
    ) -> Result<Vec<JournalEntry>, GatewayError> {
        let late = |_| GatewayError::Late(self.address, self.patience);
        let asked = tokio::time::timeout(self.patience, self.ask(fields, which)).await;
        let mut entries = journal_entries(&asked.map_err(late)??);
        if let Which::Last(count) = which {
            entries.drain(..entries.len().saturating_sub(count));
        }
        Ok(entries)
    }

    async fn ask(&self, fields: &[(&str, &str)], which: Which<'_>) -> Result<Vec<u8>, GatewayError> {
        let request = self.client()?.get(format!("https://{}{}", self.address, path(fields)));
        let request = request.header(ACCEPT, "application/json").header(RANGE, which.range());
        let answer = request.send().await.map_err(|error| self.unanswered(error))?;
        read(answer).await.map_err(|why| GatewayError::Refused(self.address, why))
    }

    /// One connection, straight to the host, whatever proxies the environment names.
    fn client(&self) -> Result<Client, GatewayError> {
        let tls = self.tls()?;
        let client = Client::builder()
            .tls_backend_preconfigured(tls)
            .http1_only()
            .no_proxy()
            .redirect(redirect::Policy::none());
        Ok(client.build().map_err(CertificateError::Client)?)
    }

    /// Nobody is there, one of the two does not trust the other, or the answer broke off.
    fn unanswered(&self, error: reqwest::Error) -> GatewayError {
        if let Some(tls) = error_cause::<rustls::Error>(&error) {
            return GatewayError::Tls(self.address, tls.to_string());
        }
        match error_cause::<io::Error>(&error).filter(|_| error.is_connect()) {
            Some(error) => GatewayError::Unreachable(self.address, error.to_string()),
            None => GatewayError::Refused(self.address, error.into()),
        }
    }

    fn tls(&self) -> Result<ClientConfig, CertificateError> {
        let ders = |pem: &str| -> Result<Vec<CertificateDer<'static>>, CertificateError> {
            let blocks = pem::decode(pem).map_err(|_| CertificateError::Pem)?;
            Ok(blocks.into_iter().map(|block| CertificateDer::from(block.der)).collect())
        };
        // The label says which of three forms it has; an RSA key of ours has PKCS#1.
        let key = PrivateKeyDer::from_pem_slice(self.key.expose()).map_err(|_| CertificateError::Key)?;
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(ders(&self.trust)?);
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let verifier = GatewayVerifier::new(roots, &provider);
        let tls = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_client_auth_cert(ders(&self.certificate)?, key)?;
        Ok(tls)
    }
}

/// Which of the entries.
#[derive(Clone, Copy, Debug)]
pub enum Which<'c> {
    /// From the first on.
    All,
    /// Those after the one with this cursor.
    After(&'c str),
    /// As many as this, from the end.
    Last(usize),
}

impl Which<'_> {
    /// `entries=CURSOR:SKIPPED:COUNT`
    fn range(self) -> String {
        const MANY: usize = 100_000;
        match self {
            Self::All => format!("entries=:0:{MANY}"),
            Self::After(cursor) => format!("entries={cursor}:1:{MANY}"),
            // It begins one before the one that is named; whoever asks cuts that off.
            Self::Last(count) => format!("entries=:-{count}:{}", count + 1),
        }
    }
}

fn path(fields: &[(&str, &str)]) -> String {
    let pairs: Vec<String> = fields.iter().map(|(field, value)| format!("{field}={value}")).collect();
    format!("/entries?{}", pairs.join("&"))
}

async fn read(mut answer: Response) -> Result<Vec<u8>, AnswerError> {
    let mut bytes = Vec::new();
    while let Some(chunk) = answer.chunk().await? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > LARGEST_ANSWER {
            return Err(AnswerError::TooLong);
        }
    }
    match answer.status() {
        StatusCode::OK | StatusCode::PARTIAL_CONTENT => Ok(bytes),
        status => Err(AnswerError::Status(status, String::from_utf8_lossy(&bytes).trim().to_owned())),
    }
}
