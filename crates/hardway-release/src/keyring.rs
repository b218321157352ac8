//! Keys that signatures are checked with, as people have them: a keyring of gpg, or ASCII-armored as they are published.

use std::io;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

const BEGIN: &str = "-----BEGIN PGP PUBLIC KEY BLOCK-----";
const END: &str = "-----END PGP PUBLIC KEY BLOCK-----";

/// Why a keyring cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyringFault {
    /// Nothing in it.
    #[error("it is empty")]
    Empty,
    /// The body of an armored key cannot be decoded.
    #[error("a key in it is not base64")]
    NotBase64,
    /// Cut off.
    #[error("a key in it has no end")]
    Unended,
    /// The file cannot be read.
    #[error("{0}")]
    Unreadable(io::ErrorKind),
}

/// The bytes as `gpgv` takes them, which knows no armor (RFC 9580 6.2). Texts around the blocks are comments.
pub(crate) fn binary(keyring: &[u8]) -> Result<Vec<u8>, KeyringFault> {
    let Some(text) = std::str::from_utf8(keyring).ok().filter(|text| text.contains(BEGIN)) else {
        return if keyring.is_empty() { Err(KeyringFault::Empty) } else { Ok(keyring.to_vec()) };
    };
    let mut keys = Vec::new();
    for block in text.split(BEGIN).skip(1) {
        let (block, _) = block.split_once(END).ok_or(KeyringFault::Unended)?;
        // Headers such as `Version: 1` come before the key, its checksum with `=` in front comes after it.
        let is_key = |line: &&str| !line.starts_with('=') && !line.contains(": ");
        let body: String = block.lines().map(str::trim).filter(is_key).collect();
        keys.extend(STANDARD.decode(body).map_err(|_| KeyringFault::NotBase64)?);
    }
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn armor_is_taken_off() {
        let block = |headers: &str| format!("{BEGIN}\n{headers}\naGVsbG8g\nd29ybGQ=\n=abcd\n{END}\n");
        assert_eq!(binary(block("").as_bytes()).unwrap(), b"hello world");
        let both = format!("# ours\n{}# theirs\n{}", block("Version: 1\nComment: x\n"), block(""));
        assert_eq!(binary(both.as_bytes()).unwrap(), b"hello worldhello world");
        assert_eq!(binary(b"\x99\x01").unwrap(), b"\x99\x01");
    }

    #[test]
    fn what_is_no_key_is_told() {
        assert_eq!(binary(b""), Err(KeyringFault::Empty));
        assert_eq!(binary(format!("{BEGIN}\n\nabc").as_bytes()), Err(KeyringFault::Unended));
        assert_eq!(binary(format!("{BEGIN}\n\n!\n{END}").as_bytes()), Err(KeyringFault::NotBase64));
    }
}
