//! Certificates, keys and bundles.

pub mod der;
mod inspect;

pub use inspect::{CertificateFacts, InspectError, inspect};

/// A certificate that is near its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expiry {
    /// Its name.
    pub certificate: String,
    /// Seconds that are left; negative once it has expired.
    pub seconds_left: i64,
}
