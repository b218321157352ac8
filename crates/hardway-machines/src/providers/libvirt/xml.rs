//! XML definitions for libvirt, each with a mark that tells whether what libvirt has is what was defined.

use hardway_base::hex;
use sha2::{Digest as _, Sha256};

/// The namespace of hardway's own elements. A name, nothing that can be fetched.
const NAMESPACE: &str = "https://hardway.dev/libvirt";

/// Identifies one version of a definition. libvirt keeps elements of foreign namespaces as they are but rewrites the rest, so
/// the XML itself cannot be compared.
pub(super) struct Mark {
    hash: String,
}

impl Mark {
    /// The mark of a definition that does not contain one yet.
    pub(super) fn of(definition: &str) -> Self {
        Self { hash: hex::encode(Sha256::digest(definition))[..32].to_owned() }
    }

    /// To be put into the definition.
    pub(super) fn metadata(&self) -> String {
        format!("  <metadata>\n    {}\n  </metadata>\n", self.line())
    }

    /// The line that libvirt prints for it.
    pub(super) fn line(&self) -> String {
        format!("<hardway:made xmlns:hardway=\"{NAMESPACE}\" mark=\"{}\"/>", self.hash)
    }
}

/// The same UUID for the same words, every time: version 8 of RFC 9562, which leaves the bits to us.
pub(super) fn uuid(words: &[&str]) -> String {
    let mut bytes: [u8; 16] = [0; 16];
    bytes.copy_from_slice(&Sha256::digest(words.join("\0"))[..16]);
    bytes[6] = bytes[6] & 0x0f | 0x80;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let text = hex::encode(bytes);
    format!("{}-{}-{}-{}-{}", &text[..8], &text[8..12], &text[12..16], &text[16..20], &text[20..])
}

/// A MAC that is the same for the same words, every time: they choose its last three bytes. 52:54:00 is QEMU's.
pub(super) fn mac(words: &[&str]) -> String {
    let digest = Sha256::digest(words.join("\0"));
    format!("52:54:00:{:02x}:{:02x}:{:02x}", digest[0], digest[1], digest[2])
}

/// As an attribute or text of XML.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('\'', "&apos;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_words_give_the_same_names() {
        let uuid_ = uuid(&["network", "ocp4.example.com"]);
        assert_eq!(uuid_.len(), 36);
        assert_eq!((uuid_.as_bytes()[14], uuid_.matches('-').count()), (b'8', 4));
        assert_ne!(uuid_, uuid(&["machine", "ocp4.example.com"]));
        assert!(mac(&["a"]).starts_with("52:54:00:") && mac(&["a"]) != mac(&["b"]));
        assert_eq!(escaped("<a b='&'>\""), "&lt;a b=&apos;&amp;&apos;&gt;&quot;");
    }
}
