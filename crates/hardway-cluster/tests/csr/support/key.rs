//! Keys of every kind somebody may ask with. Made once in a test run: an RSA key takes a while.

use std::sync::LazyLock;

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{
    ECDSA_P384_SHA384_ASN1_SIGNING, ECDSA_P521_SHA512_ASN1_SIGNING, EcdsaKeyPair, EcdsaSigningAlgorithm,
    Ed25519KeyPair, KeyPair as _,
};
use hardway_assets::inventory::KeyAlgorithm;
use hardway_assets::pki::der;
use hardway_assets::secrets::{PrivateKey, Random};

/// A key that can sign a request.
pub(crate) enum TestKey {
    /// P-256, or RSA of 2048 bits.
    Own(PrivateKey),
    /// A larger curve: its OID, the OID of its signature.
    Ecdsa(EcdsaKeyPair, &'static [u32], &'static [u32]),
    Ed25519(Ed25519KeyPair),
}

/// The kinds that are allowed.
pub(crate) static GOOD: LazyLock<[(&str, TestKey); 4]> = LazyLock::new(|| {
    [
        ("P-256", TestKey::p256()),
        (
            "P-384",
            TestKey::ecdsa(
                &ECDSA_P384_SHA384_ASN1_SIGNING,
                &[1, 3, 132, 0, 34],
                &[1, 2, 840, 10_045, 4, 3, 3],
            ),
        ),
        (
            "P-521",
            TestKey::ecdsa(
                &ECDSA_P521_SHA512_ASN1_SIGNING,
                &[1, 3, 132, 0, 35],
                &[1, 2, 840, 10_045, 4, 3, 4],
            ),
        ),
        ("RSA-2048", TestKey::Own(PrivateKey::generate(KeyAlgorithm::Rsa2048, &Random::default()).unwrap())),
    ]
});

/// A key that nobody else has.
pub(crate) static STRANGERS: LazyLock<TestKey> = LazyLock::new(TestKey::p256);

/// A good kind of key, but none that kubelets or Go's signer for nodes know.
pub(crate) static ED25519: LazyLock<TestKey> =
    LazyLock::new(|| TestKey::Ed25519(Ed25519KeyPair::generate().unwrap()));

const EC_PUBLIC_KEY: &[u32] = &[1, 2, 840, 10_045, 2, 1];
const ID_ED25519: &[u32] = &[1, 3, 101, 112];

impl TestKey {
    pub(crate) fn p256() -> Self {
        Self::Own(PrivateKey::generate(KeyAlgorithm::EcdsaP256, &Random::default()).unwrap())
    }

    fn ecdsa(
        algorithm: &'static EcdsaSigningAlgorithm,
        curve: &'static [u32],
        signature: &'static [u32],
    ) -> Self {
        Self::Ecdsa(EcdsaKeyPair::generate(algorithm).unwrap(), curve, signature)
    }

    /// `SubjectPublicKeyInfo`
    pub(crate) fn public_key_info(&self) -> Vec<u8> {
        match self {
            Self::Own(key) => key.public_key_info(),
            Self::Ecdsa(pair, curve, _) => der::sequence(&[
                der::sequence(&[der::oid(EC_PUBLIC_KEY), der::oid(curve)]),
                der::bits(pair.public_key().as_ref()),
            ]),
            Self::Ed25519(pair) => der::sequence(&[
                der::sequence(&[der::oid(ID_ED25519)]),
                der::bits(pair.public_key().as_ref()),
            ]),
        }
    }

    pub(crate) fn signature_algorithm(&self) -> Vec<u8> {
        match self {
            Self::Own(key) => der::signature_algorithm(key.algorithm()),
            Self::Ecdsa(_, _, signature) => der::sequence(&[der::oid(signature)]),
            Self::Ed25519(_) => der::sequence(&[der::oid(ID_ED25519)]),
        }
    }

    pub(crate) fn sign(&self, message: &[u8]) -> Vec<u8> {
        match self {
            Self::Own(key) => key.sign(message).unwrap(),
            Self::Ecdsa(pair, ..) => pair.sign(&SystemRandom::new(), message).unwrap().as_ref().to_vec(),
            Self::Ed25519(pair) => pair.sign(message).as_ref().to_vec(),
        }
    }
}
