//! A config as it is sent: made once, shared by all who ask.

use std::fmt;
use std::io::Write as _;

use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use hardway_assets::ignition::ConfigDigest;
use http::HeaderValue;

/// Immutable bytes, plain and compressed. Cloning shares them.
#[derive(Clone, PartialEq, Eq)]
pub struct PreparedConfig {
    identity: Bytes,
    gzip: Bytes,
    digest: ConfigDigest,
    etag: HeaderValue,
}

impl PreparedConfig {
    /// Takes a config and does all the work that can be done before somebody asks.
    pub fn new(config: impl Into<Bytes>) -> Self {
        let identity = config.into();
        let digest = ConfigDigest::of(&identity);
        let etag = HeaderValue::from_str(&format!("\"{digest}\""))
            .unwrap_or_else(|_| HeaderValue::from_static("\"config\""));
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        // Writing to memory does not fail.
        let _ = encoder.write_all(&identity);
        let gzip = Bytes::from(encoder.finish().unwrap_or_default());
        Self { identity, gzip, digest, etag }
    }

    /// As it is.
    pub fn identity(&self) -> &Bytes {
        &self.identity
    }

    /// Compressed. Ignition never asks for it; people with curl do.
    pub fn gzip(&self) -> &Bytes {
        &self.gzip
    }

    /// Which content this is.
    pub fn digest(&self) -> &ConfigDigest {
        &self.digest
    }

    /// The same, for caches between here and a person.
    pub fn etag(&self) -> &HeaderValue {
        &self.etag
    }
}

/// Never its content: configs are full of keys.
impl fmt::Debug for PreparedConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PreparedConfig({} bytes, {})", self.identity.len(), self.digest)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn both_forms_are_the_same_config() {
        let config = PreparedConfig::new("{\"a\":1}".repeat(100));
        let mut plain = Vec::new();
        flate2::read::GzDecoder::new(&config.gzip()[..]).read_to_end(&mut plain).unwrap();
        assert_eq!(plain, config.identity()[..]);
        assert!(!format!("{config:?}").contains("{\"a\""));
    }
}
