//! From the errors of the client and of HTTP to ours.

use std::error::Error as _;
use std::fmt;
use std::io;

use hardway_base::redaction::without_passwords;
use oci_client::errors::{DigestError, OciDistributionError, OciErrorCode};

use super::error::{RegistryError, RegistryUser};
use crate::digest::Digest;
use crate::pull_spec::PullSpec;

/// What was asked, to tell errors apart that HTTP does not.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) image: &'a PullSpec,
    pub(crate) identity: &'a RegistryUser,
    /// A blob of the image rather than its manifest.
    pub(crate) blob: Option<&'a Digest>,
}

impl Asked<'_> {
    /// Our error for one of the client.
    pub(crate) fn error(&self, error: OciDistributionError) -> RegistryError {
        use OciDistributionError as E;
        match error {
            E::RequestError(error) => match error.status() {
                Some(status) => self.status(status.as_u16(), ""),
                None => transport(&self.image.registry(), &error),
            },
            E::UnauthorizedError { .. } => self.unauthorized(String::new()),
            E::AuthenticationFailure(detail) => self.unauthorized(shortened(&detail)),
            E::ServerError { code, message, .. } => self.status(code, &message),
            E::RegistryError { envelope, .. } => {
                let code = envelope.errors.first().map(|error| &error.code);
                let status = match code {
                    Some(OciErrorCode::Unauthorized) => 401,
                    Some(OciErrorCode::Denied) => 403,
                    Some(OciErrorCode::Toomanyrequests) => 429,
                    Some(OciErrorCode::NameUnknown) => {
                        return RegistryError::NoSuchRepository { image: Box::new(self.image.clone()) };
                    }
                    Some(
                        OciErrorCode::ManifestUnknown | OciErrorCode::BlobUnknown | OciErrorCode::NotFound,
                    ) => 404,
                    _ => 400,
                };
                let detail: Vec<_> = envelope.errors.iter().map(|error| error.message.as_str()).collect();
                self.status(status, &detail.join(", "))
            }
            E::DigestError(error) => match (error, &self.image.digest) {
                (DigestError::VerificationError { actual, .. }, Some(expected)) => {
                    let what = format!("the manifest of {}", self.image);
                    RegistryError::DigestMismatch { what, expected: expected.clone(), found: actual }
                }
                (error, _) => self.malformed(&error),
            },
            E::IoError(error) => io_error(&self.image.registry(), &error),
            error => self.malformed(&error),
        }
    }

    fn malformed(&self, error: &dyn fmt::Display) -> RegistryError {
        let what = match self.blob {
            Some(digest) => format!("the answer for blob {digest} of {}", self.image.name()),
            None => format!("the answer for {}", self.image),
        };
        RegistryError::Malformed { what, detail: shortened(&error.to_string()) }
    }

    fn unauthorized(&self, detail: String) -> RegistryError {
        RegistryError::Unauthorized {
            registry: self.image.registry(),
            repository: self.image.repository.clone(),
            identity: Box::new(self.identity.clone()),
            detail,
        }
    }

    pub(crate) fn status(&self, status: u16, detail: &str) -> RegistryError {
        let (registry, detail) = (self.image.registry(), shortened(detail));
        match status {
            401 => self.unauthorized(detail),
            403 => RegistryError::Denied {
                registry,
                repository: self.image.repository.clone(),
                identity: Box::new(self.identity.clone()),
                detail,
            },
            404 => match self.blob {
                Some(digest) => {
                    RegistryError::NoSuchBlob { repository: self.image.name(), digest: digest.clone() }
                }
                None if self.image.digest.is_some() => {
                    RegistryError::NoSuchDigest { image: Box::new(self.image.clone()) }
                }
                None => RegistryError::NoSuchTag { image: Box::new(self.image.clone()), tags: Vec::new() },
            },
            408 => RegistryError::Timeout { registry, detail },
            429 => RegistryError::TooManyRequests { registry, wait: None },
            status => RegistryError::Server { registry, status, detail, wait: None },
        }
    }
}

/// An error while the body of an answer was read.
pub(crate) fn io_error(registry: &str, error: &io::Error) -> RegistryError {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<reqwest::Error>()) {
        Some(error) => transport(registry, error),
        None => RegistryError::Unreachable { registry: registry.to_owned(), detail: error.to_string() },
    }
}

/// The libraries below give TLS errors as text only.
pub(crate) fn transport(registry: &str, error: &reqwest::Error) -> RegistryError {
    let registry = registry.to_owned();
    let mut detail = without_passwords(&error.to_string());
    let mut source = error.source();
    while let Some(inner) = source {
        detail = without_passwords(&inner.to_string());
        if detail.contains("UnknownIssuer") {
            return RegistryError::UnknownCa { registry };
        }
        if let Some((_, why)) = detail.split_once("invalid peer certificate: ") {
            return RegistryError::Certificate { registry, detail: why.to_owned() };
        }
        if detail.contains("InvalidContentType") {
            return RegistryError::PlainHttp { registry };
        }
        source = inner.source();
    }
    if error.is_timeout() {
        return RegistryError::Timeout { registry, detail };
    }
    if error.is_body() || error.is_decode() {
        return RegistryError::BrokeOff { registry, detail };
    }
    RegistryError::Unreachable { registry, detail }
}

/// Registries answer with whole pages at times.
fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(200) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}
