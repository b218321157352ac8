//! PEM: base64 between two labelled lines, 64 characters a line, as Go's `encoding/pem` writes it.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// One PEM block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The label between the dashes, such as `CERTIFICATE`.
    pub label: String,
    /// The DER bytes.
    pub der: Vec<u8>,
}

/// Something in a text is neither white space nor a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotPem;

/// Writes one block, with a final newline.
pub fn encode(label: &str, der: &[u8]) -> String {
    let body = STANDARD.encode(der);
    let mut text = format!("-----BEGIN {label}-----\n");
    for line in body.as_bytes().chunks(64) {
        text.push_str(std::str::from_utf8(line).unwrap_or_default());
        text.push('\n');
    }
    text + &format!("-----END {label}-----\n")
}

/// Reads every block.
///
/// # Errors
/// When there is more than blocks and white space. What it is, is not said: it may be a key that lost a line.
pub fn decode(text: &str) -> Result<Vec<Block>, NotPem> {
    let mut blocks = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find("-----BEGIN ") {
        if !rest[..start].trim().is_empty() {
            return Err(NotPem);
        }
        let (block, after) = one(&rest[start..]).ok_or(NotPem)?;
        blocks.push(block);
        rest = after;
    }
    if rest.trim().is_empty() { Ok(blocks) } else { Err(NotPem) }
}

fn one(text: &str) -> Option<(Block, &str)> {
    let (label, after) = text.strip_prefix("-----BEGIN ")?.split_once("-----")?;
    let (body, after) = after.split_once(&format!("-----END {label}-----"))?;
    let body: String = body.chars().filter(|c| !c.is_whitespace()).collect();
    let der = STANDARD.decode(body).ok()?;
    Some((Block { label: label.to_owned(), der }, after))
}

impl fmt::Display for NotPem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there is something that is not PEM")
    }
}

impl std::error::Error for NotPem {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_survive_a_round_trip() {
        let text = encode("CERTIFICATE", &[7; 100]) + "\n" + &encode("CERTIFICATE", b"x");
        let blocks = decode(&text).unwrap();
        assert_eq!(blocks.len(), 2);
        assert_eq!(blocks[0].der, vec![7; 100]);
        assert_eq!(blocks[1].label, "CERTIFICATE");
    }

    #[test]
    fn trailing_text_is_refused() {
        assert!(decode(&(encode("CERTIFICATE", b"x") + "hello")).is_err());
        assert!(decode("-----BEGIN A-----\n%%\n-----END A-----\n").is_err());
        assert!(decode("-----BEGIN A-----\nAAAA\n").is_err());
    }
}
