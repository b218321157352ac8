//! Keys as OpenSSH writes and shows them.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use sha2::{Digest as _, Sha256};

use super::PrivateKey;

/// The kind of every ssh key that hardway draws. Not Ed25519: a host in FIPS mode has no use for it.
pub const SSH_KEY_TYPE: &str = "ecdsa-sha2-nistp256";

/// The public half of an ECDSA key as `authorized_keys` and `.pub` files have it (RFC 5656 §3.1).
pub fn ssh_public_key(key: &PrivateKey, comment: &str) -> String {
    let mut blob = Vec::new();
    for part in [SSH_KEY_TYPE.as_bytes(), b"nistp256", &key.public_bits()] {
        blob.extend(u32::try_from(part.len()).unwrap_or_default().to_be_bytes());
        blob.extend(part);
    }
    format!("{SSH_KEY_TYPE} {} {comment}", STANDARD.encode(blob))
}

/// The fingerprint of a public key, given by its Base64: what `ssh-keygen -l` and ssh's own messages show.
pub fn ssh_fingerprint(base64: &str) -> Option<String> {
    let blob = STANDARD.decode(base64).ok()?;
    Some(format!("SHA256:{}", STANDARD_NO_PAD.encode(Sha256::digest(blob))))
}
