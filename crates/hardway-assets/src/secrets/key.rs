//! Private keys: made, read, written, and used to sign.

use aws_lc_rs::encoding::{AsDer as _, Pkcs8V1Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{KeyPair as _, RSA_PKCS1_SHA256, RsaKeyPair};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use hardway_base::redaction::HIDDEN;
use hardway_base::{Secret, pem};
use p256::ecdsa::signature::Signer as _;
use p256::pkcs8::{DecodePrivateKey as _, EncodePrivateKey as _};
use sha2::{Digest as _, Sha256};

use crate::der;
use crate::inventory::KeyAlgorithm;

/// A private key that can sign certificates.
///
/// Both kinds sign deterministically (PKCS#1 v1.5; ECDSA by RFC 6979), which is what makes two runs give the same
/// certificates byte for byte.
pub struct PrivateKey {
    pkcs8: Secret,
    pair: Pair,
}

enum Pair {
    Rsa(Box<RsaKeyPair>),
    P256(Box<p256::ecdsa::SigningKey>),
}

/// A key could not be made or read. The key itself is never part of the message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The cryptographic library refused to make one.
    #[error("making a key failed")]
    Make,
    /// Not a PEM block of PKCS#8, PKCS#1 or SEC 1 with a supported key.
    #[error("not a PEM private key of a supported kind (RSA, or ECDSA on P-256)")]
    Read,
    /// Signing failed.
    #[error("signing failed")]
    Sign,
}

impl PrivateKey {
    /// Draws a new key. RSA takes about 90 ms of one core: callers make keys in parallel.
    pub fn generate(algorithm: KeyAlgorithm, random: &super::Random) -> Result<Self, KeyError> {
        match algorithm {
            KeyAlgorithm::Rsa2048 => {
                let pair = RsaKeyPair::generate(KeySize::Rsa2048).map_err(|_| KeyError::Make)?;
                let pkcs8: Pkcs8V1Der<'_> = pair.as_der().map_err(|_| KeyError::Make)?;
                Ok(Self { pkcs8: Secret::new(pkcs8.as_ref()), pair: Pair::Rsa(Box::new(pair)) })
            }
            KeyAlgorithm::EcdsaP256 => loop {
                // Rejection sampling: a random scalar is out of range about once in 2^32 draws.
                if let Ok(key) = p256::SecretKey::from_slice(&random.bytes::<32>()) {
                    let pkcs8 = key.to_pkcs8_der().map_err(|_| KeyError::Make)?;
                    return Self::from_pkcs8(pkcs8.as_bytes());
                }
            },
        }
    }

    /// Reads a PEM key, whichever of the usual labels it has.
    pub fn from_pem(text: &str) -> Result<Self, KeyError> {
        let blocks = pem::decode(text).map_err(|_| KeyError::Read)?;
        let block = blocks.iter().find(|b| b.label.ends_with("PRIVATE KEY")).ok_or(KeyError::Read)?;
        match block.label.as_str() {
            "RSA PRIVATE KEY" => Self::from_pkcs8(&der::pkcs8_of_rsa(&block.der)),
            "EC PRIVATE KEY" => {
                let key = p256::SecretKey::from_sec1_der(&block.der).map_err(|_| KeyError::Read)?;
                Self::from_pkcs8(key.to_pkcs8_der().map_err(|_| KeyError::Read)?.as_bytes())
            }
            _ => Self::from_pkcs8(&block.der),
        }
    }

    fn from_pkcs8(der: &[u8]) -> Result<Self, KeyError> {
        let pair = match RsaKeyPair::from_pkcs8(der) {
            Ok(pair) => Pair::Rsa(Box::new(pair)),
            Err(_) => Pair::P256(Box::new(
                p256::ecdsa::SigningKey::from_pkcs8_der(der).map_err(|_| KeyError::Read)?,
            )),
        };
        Ok(Self { pkcs8: Secret::new(der), pair })
    }

    /// As PEM: RSA in the PKCS#1 form that 4.18's installer writes (`RSA PRIVATE KEY`), ECDSA in PKCS#8.
    pub fn to_pem(&self) -> Secret {
        let text = match &self.pair {
            Pair::Rsa(_) => pem::encode("RSA PRIVATE KEY", der::rsa_of_pkcs8(self.pkcs8.expose())),
            Pair::P256(_) => pem::encode("PRIVATE KEY", self.pkcs8.expose()),
        };
        Secret::new(text)
    }

    /// Which kind.
    pub fn algorithm(&self) -> KeyAlgorithm {
        match self.pair {
            Pair::Rsa(_) => KeyAlgorithm::Rsa2048,
            Pair::P256(_) => KeyAlgorithm::EcdsaP256,
        }
    }

    /// The public key alone: PKCS#1 `RSAPublicKey` DER, or the uncompressed curve point.
    ///
    /// Go hashes exactly these bytes into the subject key identifier.
    pub fn public_bits(&self) -> Vec<u8> {
        match &self.pair {
            Pair::Rsa(pair) => pair.public_key().as_ref().to_vec(),
            Pair::P256(key) => key.verifying_key().to_sec1_point(false).as_bytes().to_vec(),
        }
    }

    /// The public key as PKIX `SubjectPublicKeyInfo`.
    pub fn public_key_info(&self) -> Vec<u8> {
        der::public_key_info(self.algorithm(), &self.public_bits())
    }

    /// Signs with SHA-256.
    pub fn sign(&self, message: &[u8]) -> Result<Vec<u8>, KeyError> {
        match &self.pair {
            Pair::Rsa(pair) => {
                let mut signature = vec![0; pair.public_modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), message, &mut signature)
                    .map_err(|_| KeyError::Sign)?;
                Ok(signature)
            }
            Pair::P256(key) => {
                let signature: p256::ecdsa::Signature = key.try_sign(message).map_err(|_| KeyError::Sign)?;
                Ok(signature.to_der().as_bytes().to_vec())
            }
        }
    }
}

impl std::fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PrivateKey({:?}, {HIDDEN})", self.algorithm())
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secrets::Random;

    #[test]
    fn keys_survive_pem_and_sign_the_same_twice() {
        for algorithm in [KeyAlgorithm::Rsa2048, KeyAlgorithm::EcdsaP256] {
            let key = PrivateKey::generate(algorithm, &Random::default()).unwrap();
            let again = PrivateKey::from_pem(key.to_pem().expose_text()).unwrap();
            assert_eq!(key.public_bits(), again.public_bits());
            assert_eq!(key.sign(b"x").unwrap(), again.sign(b"x").unwrap());
            assert!(!format!("{key:?}").contains("BEGIN"));
        }
    }

    #[test]
    fn what_is_not_a_key_is_refused_without_showing_it() {
        for text in ["", "hello", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"] {
            assert_eq!(PrivateKey::from_pem(text).unwrap_err(), KeyError::Read);
        }
    }
}
