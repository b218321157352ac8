//! How the answers of our own backends are recognized.

use std::sync::Arc;

use hardway_assets::inventory::KeyAlgorithm;
use hardway_assets::pki::{Subject, Template, Usage, issue, key_id};
use hardway_assets::secrets::{KeyError, PrivateKey, Random};
use hardway_base::hex;
use jiff::{SignedDuration, Timestamp};
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

/// A certificate that signs itself, made for this run and never written down.
pub(super) struct Identity {
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

impl Identity {
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
