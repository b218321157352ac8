//! HyperShift's short hash (openshift/hypershift `support/util/util.go`, HashSimple): FNV-1a of 32 bits, eight hexadecimal digits.
//!
//! It names things; it protects nothing. The hash of a pool's config is read where HyperShift wrote it, never computed here:
//! what goes into it differs from release to release.

/// Of a text.
pub fn of_text(text: &str) -> String {
    let hash =
        text.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("{hash:08x}")
}

/// Of bytes. Go prints them as a list of decimal numbers first, and that is what is hashed.
pub fn of_bytes(bytes: &[u8]) -> String {
    let numbers: Vec<String> = bytes.iter().map(u8::to_string).collect();
    of_text(&format!("[{}]", numbers.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_hypershifts() {
        for (text, hash) in [("", "811c9dc5"), ("abc", "1a47e90b"), ("null", "77074ba4"), ("{}", "5465b825")]
        {
            assert_eq!(of_text(text), hash);
        }
        for (bytes, hash) in [(&b"abc"[..], "88bfcb9e"), (b"", "741638a5"), (br#"{"auths":{}}"#, "217e580d")]
        {
            assert_eq!(of_bytes(bytes), hash);
        }
    }
}
