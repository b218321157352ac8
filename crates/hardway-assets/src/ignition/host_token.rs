//! What a host shows to get its own config, and the name of the config it was made for.

use std::fmt;

use aws_lc_rs::{constant_time, hmac};
use hardway_base::redaction::HIDDEN;
use hardway_base::{Secret, hex};
use sha2::{Digest as _, Sha512};

/// Names one content of one host's config. Not a secret (where it is told, it is called a generation, as in the header): it says which config a pointer was made from, so that a machine
/// that still carries an old pointer is refused with a reason instead of a hash mismatch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConfigDigest(String);

impl ConfigDigest {
    /// Of these bytes.
    pub fn of(config: &[u8]) -> Self {
        Self(hex::encode(&Sha512::digest(config)[..6]))
    }

    /// As it stands in a request; `None` for what can be none.
    pub fn parse(text: &str) -> Option<Self> {
        let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        (text.len() == 12 && text.bytes().all(is_hex)).then(|| Self(text.to_owned()))
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ConfigDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Makes and checks tokens. A token is a keyed hash of host and config, so nothing needs to be stored to know one
/// again, and one that leaks opens one config only.
pub struct TokenKey(hmac::Key);

impl TokenKey {
    /// From the content of `secrets/ignition-token-key`.
    pub fn new(secret: &Secret) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, secret.expose().trim_ascii_end()))
    }

    /// The token of a host for a config, as hexadecimal digits.
    pub fn token(&self, host: &str, digest: &ConfigDigest) -> Secret {
        let hex: String = hex::encode(self.sign(host, digest).as_ref());
        Secret::new(hex)
    }

    /// Whether a token is the one of a host for a config. Takes the same time whatever is wrong with it.
    pub fn accepts(&self, token: &[u8], host: &str, digest: &ConfigDigest) -> bool {
        let expected = self.token(host, digest);
        constant_time::verify_slices_are_equal(token, expected.expose()).is_ok()
    }

    /// A part of a URL that nobody guesses, for what these words name. It is no token: it opens nothing at the ignition server.
    pub fn url_part(&self, names: &[&str]) -> Secret {
        // Some controllers take short URLs only; 128 bits are not guessed.
        Secret::new(hex::encode(&self.hash("hardway url part 1", names).as_ref()[..16]))
    }

    /// Whether it is that part. Takes the same time whatever is wrong with it.
    pub fn is_url_part(&self, part: &[u8], names: &[&str]) -> bool {
        constant_time::verify_slices_are_equal(part, self.url_part(names).expose()).is_ok()
    }

    fn sign(&self, host: &str, digest: &ConfigDigest) -> hmac::Tag {
        self.hash("hardway ignition token 1", &[host, digest.as_str()])
    }

    fn hash(&self, purpose: &str, words: &[&str]) -> hmac::Tag {
        let mut context = hmac::Context::with_key(&self.0);
        // No host name holds a zero byte, so no two lists give the same text.
        for part in [purpose].iter().chain(words) {
            context.update(part.as_bytes());
            context.update(b"\0");
        }
        context.sign()
    }
}

impl fmt::Debug for TokenKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TokenKey({HIDDEN})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_opens_one_config_of_one_host() {
        let key = TokenKey::new(&Secret::new("00112233\n"));
        let (now, before) = (ConfigDigest::of(b"now"), ConfigDigest::of(b"before"));
        let token = key.token("master-0", &now);
        assert_eq!(token.expose().len(), 64);
        assert!(key.accepts(token.expose(), "master-0", &now));
        assert!(TokenKey::new(&Secret::new("00112233")).accepts(token.expose(), "master-0", &now));
        assert!(!key.accepts(token.expose(), "master-1", &now));
        assert!(!key.accepts(token.expose(), "master-0", &before));
        assert!(!key.accepts(&token.expose()[..63], "master-0", &now));
        assert!(!key.accepts(b"", "master-0", &now));
        assert!(!TokenKey::new(&Secret::new("other")).accepts(token.expose(), "master-0", &now));
        assert_eq!(format!("{key:?}"), "TokenKey(<redacted>)");
    }

    #[test]
    fn a_part_of_a_url_is_no_token() {
        let (key, now) = (TokenKey::new(&Secret::new("k")), ConfigDigest::of(b"now"));
        let part = key.url_part(&["a", now.as_str()]);
        assert_eq!(part.expose().len(), 32);
        assert!(key.is_url_part(part.expose(), &["a", now.as_str()]));
        assert!(!key.is_url_part(part.expose(), &["b", now.as_str()]) && !key.is_url_part(b"", &["a"]));
        assert!(!key.accepts(part.expose(), "a", &now));
        assert!(!key.token("a", &now).expose_text().starts_with(part.expose_text()));
    }

    #[test]
    fn only_what_can_be_a_generation_is_read_as_one() {
        let digest = ConfigDigest::of(b"x");
        assert_eq!(ConfigDigest::parse(digest.as_str()), Some(digest));
        for text in ["", "0123456789ab0", "0123456789AB", "0123456789ag", "0123456789a\u{e9}"] {
            assert_eq!(ConfigDigest::parse(text), None, "{text}");
        }
    }
}
