//! Bytes as lower-case hexadecimal digits.

use std::fmt::Write as _;

/// Two digits a byte.
///
/// ```
/// assert_eq!(hardway_base::hex::encode([0x00, 0xaf]), "00af");
/// ```
pub fn encode(bytes: impl AsRef<[u8]>) -> String {
    let bytes = bytes.as_ref();
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}
