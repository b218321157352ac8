//! DER, as much of it as certificates and keys need (ITU-T X.690; RFC 5280, 5958, 8017).

use crate::inventory::KeyAlgorithm;

/// A tag, a length and a content.
pub fn tagged(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut out = vec![tag];
    match content.len() {
        n @ 0..=0x7f => out.push(u8::try_from(n).unwrap_or_default()),
        n => {
            let bytes: Vec<u8> = n.to_be_bytes().into_iter().skip_while(|b| *b == 0).collect();
            out.push(0x80 | u8::try_from(bytes.len()).unwrap_or_default());
            out.extend(bytes);
        }
    }
    out.extend(content);
    out
}

/// SEQUENCE
pub fn sequence(parts: &[Vec<u8>]) -> Vec<u8> {
    tagged(0x30, &parts.concat())
}

/// SET, its elements in the order DER demands.
pub fn set(mut parts: Vec<Vec<u8>>) -> Vec<u8> {
    parts.sort();
    tagged(0x31, &parts.concat())
}

/// INTEGER of a number that is not negative.
pub fn integer(bytes: &[u8]) -> Vec<u8> {
    let mut content: Vec<u8> = bytes.iter().copied().skip_while(|b| *b == 0).collect();
    if content.first().is_none_or(|b| b & 0x80 != 0) {
        content.insert(0, 0);
    }
    tagged(0x02, &content)
}

/// OBJECT IDENTIFIER
pub fn oid(arcs: &[u32]) -> Vec<u8> {
    let mut content = vec![u8::try_from(arcs[0] * 40 + arcs[1]).unwrap_or_default()];
    for arc in &arcs[2..] {
        let mut groups = vec![(arc & 0x7f) as u8];
        let mut rest = arc >> 7;
        while rest > 0 {
            groups.push((rest & 0x7f) as u8 | 0x80);
            rest >>= 7;
        }
        content.extend(groups.into_iter().rev());
    }
    tagged(0x06, &content)
}

/// BOOLEAN TRUE; DER leaves defaults such as FALSE out.
pub fn yes() -> Vec<u8> {
    tagged(0x01, &[0xff])
}

/// OCTET STRING
pub fn octets(bytes: &[u8]) -> Vec<u8> {
    tagged(0x04, bytes)
}

/// BIT STRING of whole bytes.
pub fn bits(bytes: &[u8]) -> Vec<u8> {
    tagged(0x03, &[&[0], bytes].concat())
}

/// NULL
pub fn null() -> Vec<u8> {
    tagged(0x05, &[])
}

/// `AlgorithmIdentifier` of a key.
pub fn key_algorithm(algorithm: KeyAlgorithm) -> Vec<u8> {
    match algorithm {
        KeyAlgorithm::Rsa2048 => sequence(&[oid(RSA_ENCRYPTION), null()]),
        KeyAlgorithm::EcdsaP256 => sequence(&[oid(EC_PUBLIC_KEY), oid(PRIME256V1)]),
    }
}

/// `AlgorithmIdentifier` of a signature with SHA-256.
pub fn signature_algorithm(algorithm: KeyAlgorithm) -> Vec<u8> {
    match algorithm {
        KeyAlgorithm::Rsa2048 => sequence(&[oid(SHA256_WITH_RSA), null()]),
        KeyAlgorithm::EcdsaP256 => sequence(&[oid(ECDSA_WITH_SHA256)]),
    }
}

/// `SubjectPublicKeyInfo`
pub fn public_key_info(algorithm: KeyAlgorithm, public_bits: &[u8]) -> Vec<u8> {
    sequence(&[key_algorithm(algorithm), bits(public_bits)])
}

/// Wraps a PKCS#1 `RSAPrivateKey` in PKCS#8.
pub fn pkcs8_of_rsa(pkcs1: &[u8]) -> Vec<u8> {
    sequence(&[integer(&[0]), key_algorithm(KeyAlgorithm::Rsa2048), octets(pkcs1)])
}

/// The PKCS#1 `RSAPrivateKey` inside PKCS#8: version, algorithm, then the octet string that holds it.
pub fn rsa_of_pkcs8(pkcs8: &[u8]) -> &[u8] {
    let (_, body, _) = element(pkcs8);
    let (_, _, after_version) = element(body);
    let (_, _, after_algorithm) = element(after_version);
    element(after_algorithm).1
}

const RSA_ENCRYPTION: &[u32] = &[1, 2, 840, 113_549, 1, 1, 1];
const SHA256_WITH_RSA: &[u32] = &[1, 2, 840, 113_549, 1, 1, 11];
const EC_PUBLIC_KEY: &[u32] = &[1, 2, 840, 10_045, 2, 1];
const PRIME256V1: &[u32] = &[1, 2, 840, 10_045, 3, 1, 7];
const ECDSA_WITH_SHA256: &[u32] = &[1, 2, 840, 10_045, 4, 3, 2];

/// Tag, content and what follows. Empty where the bytes end too early.
fn element(bytes: &[u8]) -> (u8, &[u8], &[u8]) {
    let tag = bytes.first().copied().unwrap_or_default();
    let first = bytes.get(1).copied().unwrap_or_default();
    let (start, len) = if first & 0x80 == 0 {
        (2, usize::from(first))
    } else {
        let count = usize::from(first & 0x7f).min(8);
        let digits = bytes.get(2..2 + count).unwrap_or_default();
        (2 + count, digits.iter().fold(0, |n, b| n << 8 | usize::from(*b)))
    };
    let content = bytes.get(start..).unwrap_or_default();
    (tag, content.get(..len).unwrap_or(content), content.get(len..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_and_numbers_are_the_shortest_form() {
        assert_eq!(tagged(4, &[0; 3]), [4, 3, 0, 0, 0]);
        assert_eq!(tagged(4, &[0; 200])[..3], [4, 0x81, 200]);
        assert_eq!(tagged(4, &[0; 300])[..4], [4, 0x82, 1, 44]);
        assert_eq!(integer(&[0, 0, 1]), [2, 1, 1]);
        assert_eq!(integer(&[0x80]), [2, 2, 0, 0x80]);
        assert_eq!(integer(&[]), [2, 1, 0]);
        assert_eq!(oid(&[2, 5, 4, 3]), [6, 3, 0x55, 4, 3]);
        assert_eq!(oid(RSA_ENCRYPTION), [6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1]);
    }

    #[test]
    fn an_rsa_key_unwraps_to_what_was_wrapped() {
        assert_eq!(rsa_of_pkcs8(&pkcs8_of_rsa(&[9; 400])), [9; 400]);
        assert_eq!(rsa_of_pkcs8(&[0x30, 0x84]), [] as [u8; 0]);
    }
}
