//! The header: the key of the file, wrapped once for each recipient.

use std::io::BufRead;

use aws_lc_rs::aead::Aad;
use aws_lc_rs::agreement::{PrivateKey, UnparsedPublicKey, X25519, agree};
use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use zeroize::Zeroizing;

use super::{AgeError, Identity, Recipient, cipher, derived, nonce};

const VERSION: &str = "age-encryption.org/v1";
/// What every file of age's begins with.
pub const MAGIC: &[u8; 22] = b"age-encryption.org/v1\n";
const STANZA: &str = "X25519";
const WRAPPING: &str = "age-encryption.org/v1/X25519";

/// More is no header of ours, nor of anybody who means well.
const LONGEST: usize = 64 * 1024;

/// What everything in a file is derived from.
pub(super) type FileKey = Zeroizing<[u8; 16]>;

/// The header of a file with that key.
pub(super) fn written(key: &FileKey, recipients: &[Recipient]) -> Result<Vec<u8>, AgeError> {
    let mut text = format!("{VERSION}\n");
    for recipient in recipients {
        let own = PrivateKey::generate(&X25519)?;
        let share = own.compute_public_key()?;
        let mut body = key.to_vec();
        let wrapping = wrapping_key(&own, &recipient.0, share.as_ref(), &recipient.0)?;
        cipher(&wrapping)?.seal_in_place_append_tag(nonce(0, false), Aad::empty(), &mut body)?;
        let [share, body] = [share.as_ref(), &body].map(|bytes| STANDARD_NO_PAD.encode(bytes));
        text += &format!("-> {STANZA} {share}\n{body}\n");
    }
    text += "---";
    let tag = STANDARD_NO_PAD.encode(mac(key, text.as_bytes())?);
    Ok(format!("{text} {tag}\n").into_bytes())
}

/// Reads a header up to its end; the key, if it is wrapped for this identity.
pub(super) fn read(source: &mut impl BufRead, identity: &Identity) -> Result<FileKey, AgeError> {
    let (mut text, mut lines) = (String::new(), Vec::new());
    let tag = loop {
        let line = line(source, LONGEST.saturating_sub(text.len()))?;
        if lines.is_empty() && line != VERSION {
            return Err(AgeError::Format);
        }
        if let Some(tag) = line.strip_prefix("--- ") {
            text += "---";
            break STANDARD_NO_PAD.decode(tag).map_err(|_| AgeError::Format)?;
        }
        text += &line;
        text.push('\n');
        lines.push(line);
    };
    let key = unwrapped(&lines, identity)?.ok_or(AgeError::OtherRecipient)?;
    let signer = hmac::Key::new(hmac::HMAC_SHA256, &derived(&*key, &[], "header")?);
    hmac::verify(&signer, text.as_bytes(), &tag).map_err(|_| AgeError::Header)?;
    Ok(key)
}

/// Stanzas of other kinds are for others.
fn unwrapped(lines: &[String], identity: &Identity) -> Result<Option<FileKey>, AgeError> {
    for (place, line) in lines.iter().enumerate() {
        let Some(share) = line.strip_prefix("-> ").and_then(|rest| rest.strip_prefix(STANZA)) else {
            continue;
        };
        let body = lines.get(place + 1).map_or("", String::as_str);
        let [Ok(share), Ok(mut body)] = [share.trim_start(), body].map(|text| STANDARD_NO_PAD.decode(text))
        else {
            return Err(AgeError::Format);
        };
        let own = identity.key()?;
        let Ok(wrapping) = wrapping_key(&own, &share, &share, &identity.recipient().0) else { continue };
        if let Ok(key) = cipher(&wrapping)?.open_in_place(nonce(0, false), Aad::empty(), &mut body) {
            return Ok(Some(Zeroizing::new((&*key).try_into().map_err(|_| AgeError::Format)?)));
        }
    }
    Ok(None)
}

fn wrapping_key(own: &PrivateKey, peer: &[u8], share: &[u8], recipient: &[u8]) -> Result<[u8; 32], AgeError> {
    let salt = [share, recipient].concat();
    let peer = UnparsedPublicKey::new(&X25519, peer);
    agree(own, peer, AgeError::Provider, |shared| derived(shared, &salt, WRAPPING))
}

fn mac(key: &FileKey, text: &[u8]) -> Result<hmac::Tag, AgeError> {
    let signer = hmac::Key::new(hmac::HMAC_SHA256, &derived(&**key, &[], "header")?);
    Ok(hmac::sign(&signer, text))
}

/// A line without its end.
fn line(source: &mut impl BufRead, longest: usize) -> Result<String, AgeError> {
    let mut bytes = Vec::new();
    loop {
        let buffer = source.fill_buf()?;
        if buffer.is_empty() {
            return Err(if bytes.is_empty() { AgeError::Cut } else { AgeError::Format });
        }
        let end = buffer.iter().position(|byte| *byte == b'\n');
        bytes.extend_from_slice(&buffer[..end.unwrap_or(buffer.len())]);
        let used = end.map_or(buffer.len(), |end| end + 1);
        source.consume(used);
        if bytes.len() > longest {
            return Err(AgeError::Format);
        }
        if end.is_some() {
            return String::from_utf8(bytes).map_err(|_| AgeError::Format);
        }
    }
}
