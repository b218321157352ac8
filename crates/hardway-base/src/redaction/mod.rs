//! Values that must not be shown, and hiding them in text that people, logs or bundles get to see.

mod redactor;
mod url_password;

use std::fmt;

use zeroize::Zeroizing;

pub use redactor::Redactor;
pub use url_password::{without_password, without_passwords};

/// Bytes that never appear in `Debug`, logs or errors, and are wiped when dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Zeroizing<Vec<u8>>);

/// What stands in place of a secret, everywhere.
pub const HIDDEN: &str = "<redacted>";

impl Secret {
    /// Hides a value.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(Zeroizing::new(bytes.into()))
    }

    /// The value itself, for whoever must write or sign with it.
    pub fn expose(&self) -> &[u8] {
        &self.0
    }

    /// The value as text. Secrets of ours are PEM, JSON or a password: always UTF-8 unless damaged.
    pub fn expose_text(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}
