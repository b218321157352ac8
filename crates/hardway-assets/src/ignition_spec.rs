//! What Ignition configs are written in: a version of the specification, and `data:` URLs for contents.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The version all our configs carry.
pub const VERSION: &str = "3.2.0";

/// `data:` with the media type openshift-install writes.
pub fn data_url(bytes: &[u8]) -> String {
    format!("data:text/plain;charset=utf-8;base64,{}", STANDARD.encode(bytes))
}

/// `data:` with everything percent-encoded that cannot stand in a URL (RFC 2396, which Ignition's reader keeps to).
pub(crate) fn plain_data_url(bytes: &[u8]) -> String {
    let mut url = "data:,".to_owned();
    for byte in bytes {
        let stands = byte.is_ascii_alphanumeric() || b";/?:@&=+$,-_.!~*'()".contains(byte);
        if stands { url.push(char::from(*byte)) } else { url += &format!("%{byte:02X}") }
    }
    url
}

/// The bytes of a `data:` URL, base64 or percent-encoded; nothing for any other address.
pub fn data_of(url: &str) -> Option<Vec<u8>> {
    let (kind, data) = url.strip_prefix("data:")?.split_once(',')?;
    if kind.ends_with(";base64") { STANDARD.decode(data).ok() } else { Some(percent_decoded(data)) }
}

fn percent_decoded(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|pair| std::str::from_utf8(pair).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(value) if byte == b'%' => {
                out.push(value);
                rest = &after[2..];
            }
            _ => {
                out.push(byte);
                rest = after;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_encodings_are_read() {
        assert_eq!(data_of(&data_url(b"a b\n")).unwrap(), b"a b\n");
        assert_eq!(data_of("data:,a%20b%0A").unwrap(), b"a b\n");
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(data_of(&plain_data_url(&all)).unwrap(), all);
        assert_eq!(plain_data_url(b"{\"a\": [1]}"), "data:,%7B%22a%22:%20%5B1%5D%7D");
        assert_eq!(data_of("data:,100%").unwrap(), b"100%");
        assert_eq!(data_of("data:;base64,?"), None);
        assert_eq!(data_of("https://example.com/a,b"), None);
    }
}
