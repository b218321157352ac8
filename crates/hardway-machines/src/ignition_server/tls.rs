//! Certificates of the server, looked at again when their files change.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::SystemTime;

use fs_err as fs;
use rustls::crypto::CryptoProvider;
use rustls::crypto::aws_lc_rs::{self, Ticketer, cipher_suite};
use rustls::server::{ClientHello, NoServerSessionStorage, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{ServerConfig, SupportedCipherSuite};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

/// A certificate with its chain, and its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateFiles {
    /// PEM, the server's own first.
    pub certificate: PathBuf,
    /// PEM.
    pub key: PathBuf,
    /// For clients that ask for this name; `None` for all others.
    pub name: Option<String>,
}

/// No certificate to serve with.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("a certificate or its key cannot be read")]
    Read(#[from] std::io::Error),
    /// A file holds something else.
    #[error("{} contains no {what}", path.display())]
    NotPem {
        /// Which.
        path: PathBuf,
        /// What it should hold.
        what: &'static str,
    },
    /// Two files that do not belong together, or a kind of key nobody knows.
    #[error("the key {} does not match the certificate {}", files.key.display(), files.certificate.display())]
    Mismatch {
        /// Which.
        files: Box<CertificateFiles>,
        /// Why.
        #[source]
        source: rustls::Error,
    },
    /// What this crate asks of the TLS library.
    #[error("TLS cannot be set up")]
    Library(#[from] rustls::Error),
}

/// The certificates in use.
#[derive(Debug)]
pub struct Certificates {
    loaded: RwLock<Vec<LoadedCertificate>>,
}

#[derive(Clone, Debug)]
struct LoadedCertificate {
    files: CertificateFiles,
    stamp: Stamp,
    key: Arc<CertifiedKey>,
}

type Stamp = [Option<SystemTime>; 2];

impl Certificates {
    /// Reads them all. The first without a name is for clients that ask for none.
    pub fn load(files: Vec<CertificateFiles>) -> Result<Arc<Self>, TlsError> {
        let loaded = files.into_iter().map(LoadedCertificate::load).collect::<Result<_, _>>()?;
        Ok(Arc::new(Self { loaded: RwLock::new(loaded) }))
    }

    /// Reads again those whose files have changed, and says how many. What cannot be used is left as it was: half of a
    /// pair may not be written yet.
    pub fn refresh(&self) -> Result<usize, TlsError> {
        let now = self.loaded.read().unwrap_or_else(PoisonError::into_inner).clone();
        let (mut count, mut failed) = (0, None);
        for (place, certificate) in now.into_iter().enumerate() {
            if stamp(&certificate.files) != certificate.stamp {
                match LoadedCertificate::load(certificate.files) {
                    Ok(certificate) => {
                        self.loaded.write().unwrap_or_else(PoisonError::into_inner)[place] = certificate;
                        count += 1;
                    }
                    Err(error) => failed = failed.or(Some(error)),
                }
            }
        }
        failed.map_or(Ok(count), Err)
    }

    /// How the server talks TLS: 1.2 and 1.3, HTTP/1.1 only, as both servers it stands in for.
    pub fn server_config(self: &Arc<Self>) -> Result<Arc<ServerConfig>, TlsError> {
        let mut config = ServerConfig::builder_with_provider(Arc::new(provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_cert_resolver(self.clone());
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        config.ignore_client_order = true;
        // Whoever comes back brings the session along; nothing is kept here for those who do not.
        config.ticketer = Ticketer::new()?;
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 1;
        Ok(Arc::new(config))
    }
}

/// The library's suites with the quickest first: a config is mostly encryption, and 128 bits are enough for it.
fn provider() -> CryptoProvider {
    let mut provider = aws_lc_rs::default_provider();
    let quickest = [
        cipher_suite::TLS13_AES_128_GCM_SHA256,
        cipher_suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
        cipher_suite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
    ];
    let place = |suite: &SupportedCipherSuite| {
        quickest.iter().position(|quick| quick == suite).unwrap_or(quickest.len())
    };
    provider.cipher_suites.sort_by_key(place);
    provider
}

impl ResolvesServerCert for Certificates {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let loaded = self.loaded.read().unwrap_or_else(PoisonError::into_inner);
        let named = loaded.iter().find(|certificate| {
            certificate.files.name.is_some() && certificate.files.name.as_deref() == hello.server_name()
        });
        let certificate = named
            .or_else(|| loaded.iter().find(|certificate| certificate.files.name.is_none()))
            .or_else(|| loaded.first());
        certificate.map(|certificate| certificate.key.clone())
    }
}

impl LoadedCertificate {
    fn load(files: CertificateFiles) -> Result<Self, TlsError> {
        // Before the content: a change in between is then seen at the next look.
        let stamp = stamp(&files);
        let not_pem = |path: &Path, what| TlsError::NotPem { path: path.to_owned(), what };
        let chain: Vec<CertificateDer<'static>> =
            CertificateDer::pem_slice_iter(&fs::read(&files.certificate)?)
                .collect::<Result<_, _>>()
                .map_err(|_| not_pem(&files.certificate, "certificate in PEM"))?;
        if chain.is_empty() {
            return Err(not_pem(&files.certificate, "certificate in PEM"));
        }
        let text = zeroize::Zeroizing::new(fs::read(&files.key)?);
        let key =
            PrivateKeyDer::from_pem_slice(&text).map_err(|_| not_pem(&files.key, "private key in PEM"))?;
        let key = CertifiedKey::from_der(chain, key, &provider())
            .map_err(|source| TlsError::Mismatch { files: Box::new(files.clone()), source })?;
        Ok(Self { files, stamp, key: Arc::new(key) })
    }
}

fn stamp(files: &CertificateFiles) -> Stamp {
    [&files.certificate, &files.key]
        .map(|path| fs::metadata(path).and_then(|metadata| metadata.modified()).ok())
}
