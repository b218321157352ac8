//! The key of a request, and whether it signed the request.

use std::fmt;

use aws_lc_rs::signature::{self, UnparsedPublicKey, VerificationAlgorithm};
use hardway_assets::pki::der;
use x509_parser::asn1_rs::Oid;
use x509_parser::certification_request::X509CertificationRequest;
use x509_parser::public_key::PublicKey;
use x509_parser::x509::SubjectPublicKeyInfo;

/// What kind of key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// ECDSA on a curve that Go has, by its bits: 256, 384 or 521.
    Ecdsa(usize),
    /// RSA, by the bits of its modulus.
    Rsa(usize),
    /// Anything else, by OID.
    Other(String),
}

/// Who signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signature {
    /// The key of the request.
    Good,
    /// Somebody else, or something was changed afterwards.
    Bad,
    /// Not known: an algorithm that kubelets do not use, by OID.
    Unknown(String),
}

const EC_PUBLIC_KEY: &str = "1.2.840.10045.2.1";
const CURVES: [(&str, usize); 3] =
    [("1.2.840.10045.3.1.7", 256), ("1.3.132.0.34", 384), ("1.3.132.0.35", 521)];

impl Key {
    pub(super) fn of(info: &SubjectPublicKeyInfo<'_>) -> Self {
        let oid = dotted(&info.algorithm.algorithm);
        if let Ok(PublicKey::RSA(key)) = info.parsed() {
            return Self::Rsa(key.key_size());
        }
        let parameters = info.algorithm.parameters.as_ref();
        let curve = parameters.and_then(|any| any.as_oid().ok()).map(|oid| dotted(&oid));
        match (oid.as_str(), curve) {
            (EC_PUBLIC_KEY, Some(curve)) => CURVES
                .iter()
                .find(|(oid, _)| *oid == curve)
                .map_or_else(|| Self::Other(format!("{oid} {curve}")), |(_, bits)| Self::Ecdsa(*bits)),
            _ => Self::Other(oid),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ecdsa(bits) => write!(f, "ECDSA on P-{bits}"),
            Self::Rsa(bits) => write!(f, "RSA of {bits} bits"),
            Self::Other(oid) => write!(f, "of kind {oid}"),
        }
    }
}

impl Signature {
    pub(super) fn of(request: &X509CertificationRequest<'_>) -> Self {
        let info = &request.certification_request_info;
        let oid = dotted(&request.signature_algorithm.algorithm);
        let key = Key::of(&info.subject_pki);
        let Some(algorithm) = algorithm(&key, &oid) else {
            // A known way to sign that goes with another kind of key: somebody else's.
            let is_anothers =
                [Key::Rsa(0), Key::Ecdsa(256)].iter().any(|other| algorithm(other, &oid).is_some());
            return if is_anothers && !matches!(key, Key::Other(_)) { Self::Bad } else { Self::Unknown(oid) };
        };
        let key = UnparsedPublicKey::new(algorithm, &info.subject_pki.subject_public_key.data);
        match key.verify(info.raw, &request.signature_value.data) {
            Ok(()) => Self::Good,
            Err(_) => Self::Bad,
        }
    }
}

/// Those that Go signs requests with (`crypto/x509` `signingParamsForKey`). SHA-1 is not among them.
fn algorithm(key: &Key, oid: &str) -> Option<&'static dyn VerificationAlgorithm> {
    Some(match (key, oid) {
        (Key::Rsa(_), "1.2.840.113549.1.1.11") => &signature::RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY,
        (Key::Rsa(_), "1.2.840.113549.1.1.12") => &signature::RSA_PKCS1_2048_8192_SHA384,
        (Key::Rsa(_), "1.2.840.113549.1.1.13") => &signature::RSA_PKCS1_2048_8192_SHA512,
        (Key::Ecdsa(256), "1.2.840.10045.4.3.2") => &signature::ECDSA_P256_SHA256_ASN1,
        (Key::Ecdsa(256), "1.2.840.10045.4.3.3") => &signature::ECDSA_P256_SHA384_ASN1,
        (Key::Ecdsa(384), "1.2.840.10045.4.3.2") => &signature::ECDSA_P384_SHA256_ASN1,
        (Key::Ecdsa(384), "1.2.840.10045.4.3.3") => &signature::ECDSA_P384_SHA384_ASN1,
        (Key::Ecdsa(521), "1.2.840.10045.4.3.2") => &signature::ECDSA_P521_SHA256_ASN1,
        (Key::Ecdsa(521), "1.2.840.10045.4.3.3") => &signature::ECDSA_P521_SHA384_ASN1,
        (Key::Ecdsa(521), "1.2.840.10045.4.3.4") => &signature::ECDSA_P521_SHA512_ASN1,
        _ => return None,
    })
}

/// An OID as people write it. One that is not in the shortest form, or cut off, is shown with its bytes: it equals no other.
pub(super) fn dotted(oid: &Oid<'_>) -> String {
    let arcs: Vec<u32> = oid.iter().into_iter().flatten().filter_map(|arc| u32::try_from(arc).ok()).collect();
    let is_written_once = arcs.len() > 2 && der::oid(&arcs) == der::tagged(0x06, oid.as_bytes());
    if is_written_once { oid.to_id_string() } else { format!("malformed {:02x?}", oid.as_bytes()) }
}
