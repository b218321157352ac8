//! Files that only the holder of one key can read, in the format of age (C2SP `age.md`, version 1) with X25519 recipients.
//!
//! Whoever makes such a file needs the recipient alone, which is public; the identity that opens it lies elsewhere. The format is the
//! one of the program `age`, so that a file can be opened where there is no hardway. The cryptography is that of the one provider
//! this program has; see `docs/decisions/0019-etcd-backups.md`.
//!
//! ```text
//! Recipient, Identity   the two halves of a key, as age writes them   keys.rs
//! Sealing               writes                                        sealing.rs
//! Opening               reads                                         opening.rs
//! ```

mod header;
mod keys;
mod opening;
mod sealing;
#[cfg(test)]
mod tests;

use aws_lc_rs::aead::{CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::hkdf;

pub use header::MAGIC;
pub use keys::{Identity, Recipient};
pub use opening::Opening;
pub use sealing::Sealing;

/// Plain bytes of every chunk but the last.
const CHUNK: usize = 64 * 1024;

/// What authenticates a chunk.
const TAG: usize = 16;

/// Why a file cannot be made or read.
#[derive(Debug, thiserror::Error)]
pub enum AgeError {
    /// It is no such file, or of another version.
    #[error("it is not in the format of age, version 1")]
    Format,
    /// A key is not written as age writes it.
    #[error("{0:?} is not an age X25519 recipient: those begin with age1, and `age-keygen -y` prints them")]
    Recipient(String),
    /// An identity is not written as age writes it. What it is stays hidden.
    #[error(
        "it has no age X25519 identity: a line that begins with AGE-SECRET-KEY-1, as `age-keygen` writes it"
    )]
    Identity,
    /// No stanza of the header is for this key.
    #[error("it is encrypted for somebody else: the identity given is not one of its recipients")]
    OtherRecipient,
    /// The header was changed.
    #[error("its header was changed after it was made")]
    Header,
    /// It ends before its end.
    #[error("it is truncated: its last part is missing")]
    Cut,
    /// A part of it was changed.
    #[error("it is damaged, or was changed after it was made, at byte {0} of its content")]
    Damaged(u64),
    /// It cannot be read or written.
    #[error("it cannot be read or written")]
    Io(#[from] std::io::Error),
    /// The system has no random numbers, or the provider refuses.
    #[error("the cryptographic library refused")]
    Provider,
}

impl From<aws_lc_rs::error::Unspecified> for AgeError {
    fn from(_: aws_lc_rs::error::Unspecified) -> Self {
        Self::Provider
    }
}

/// 32 bytes, derived from a secret for one purpose.
fn derived(secret: &[u8], salt: &[u8], purpose: &str) -> Result<[u8; 32], AgeError> {
    let mut key = [0; 32];
    let salt = hkdf::Salt::new(hkdf::HKDF_SHA256, salt);
    salt.extract(secret).expand(&[purpose.as_bytes()], hkdf::HKDF_SHA256)?.fill(&mut key)?;
    Ok(key)
}

fn cipher(key: &[u8; 32]) -> Result<LessSafeKey, AgeError> {
    Ok(LessSafeKey::new(UnboundKey::new(&CHACHA20_POLY1305, key)?))
}

/// Of a chunk: its number, and whether it is the last.
fn nonce(number: u64, is_last: bool) -> Nonce {
    let mut bytes = [0; 12];
    bytes[3..11].copy_from_slice(&number.to_be_bytes());
    bytes[11] = is_last.into();
    Nonce::assume_unique_for_key(bytes)
}
