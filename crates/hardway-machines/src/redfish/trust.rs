//! Whose certificate is accepted.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

use super::RedfishError;
use hardway_base::Anybody;

/// Whose certificate is accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Anybody's. The password goes to whoever answers: only for a network where nobody else can.
    Anybody,
    /// One that is signed by, or is itself, in this PEM file.
    File(PathBuf),
    /// One that this computer trusts.
    System,
}

/// Where distributions keep what they trust.
const BUNDLES: [&str; 3] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem"];

impl Trust {
    /// The client's side of TLS.
    pub(super) fn client(&self) -> Result<ClientConfig, RedfishError> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let verifier: Arc<dyn ServerCertVerifier> = match self {
            Self::Anybody => Arc::new(Anybody::new(&provider)),
            Self::File(path) => Arc::new(Pinning::new(path, provider.clone())?),
            Self::System => {
                let bundle = BUNDLES.iter().map(Path::new).find(|path| path.exists());
                Arc::new(Pinning::new(bundle.unwrap_or(Path::new(BUNDLES[0])), provider.clone())?)
            }
        };
        Ok(ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_no_client_auth())
    }
}

/// Accepts what an authority in the file signed, or what stands in the file itself: controllers come with a certificate
/// that they signed themselves and that is no authority to anybody.
#[derive(Debug)]
struct Pinning {
    known: Vec<CertificateDer<'static>>,
    signed: Arc<WebPkiServerVerifier>,
}

impl Pinning {
    fn new(path: &Path, provider: Arc<CryptoProvider>) -> Result<Self, RedfishError> {
        let unusable = |reason: String| RedfishError::Authority { path: path.to_owned(), reason };
        let pem = fs_err::read(path).map_err(|error| unusable(error.to_string()))?;
        let known: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(&pem)
            .collect::<Result<_, _>>()
            .map_err(|error| unusable(error.to_string()))?;
        let mut roots = RootCertStore::empty();
        let (added, _) = roots.add_parsable_certificates(known.iter().cloned());
        if added == 0 {
            return Err(unusable("it contains no certificate".to_owned()));
        }
        let signed = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider)
            .build()
            .map_err(|error| unusable(error.to_string()))?;
        Ok(Self { known, signed })
    }
}

impl ServerCertVerifier for Pinning {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if self.known.iter().any(|known| known == end_entity) {
            return Ok(ServerCertVerified::assertion());
        }
        self.signed.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.signed.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.signed.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.signed.supported_verify_schemes()
    }
}
