//! Building and signing one certificate (RFC 5280), with the extensions and their order that Go's `x509` writes.

use std::net::IpAddr;

use jiff::Timestamp;
use sha2::{Digest as _, Sha256};

use super::der;
use crate::inventory::KeyAlgorithm;
use crate::secrets::{KeyError, PrivateKey};

/// What goes into a certificate besides keys.
#[derive(Clone, Debug)]
pub struct Template {
    /// X.501 name of the holder.
    pub subject: Vec<u8>,
    /// X.501 name of the signer; equal to `subject` when self-signed.
    pub issuer: Vec<u8>,
    /// First second.
    pub not_before: Timestamp,
    /// Last second.
    pub not_after: Timestamp,
    /// What the key may do.
    pub usage: Usage,
    /// Whether the key usage extension is written. The machine-config-server's certificate has none.
    pub with_key_usage: bool,
    /// Names and addresses it is for.
    pub sans: Vec<San>,
    /// Of the signer's key.
    pub authority_key_id: Option<Vec<u8>>,
}

/// What the key of a certificate may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usage {
    /// Prove who a client is.
    Client,
    /// Both ends: etcd dials its peers and itself with its serving certificate.
    ServerAndClient,
    /// Prove who a server is.
    Server,
    /// Sign other certificates.
    Signer,
}

/// A subject alternative name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum San {
    /// A DNS name.
    Dns(String),
    /// An address.
    Ip(IpAddr),
}

/// Signs a certificate for the public half of `key`. Everything in it follows from the arguments, the serial too.
pub fn issue(template: &Template, key: &PrivateKey, signer: &PrivateKey) -> Result<Vec<u8>, KeyError> {
    let mut body = vec![
        der::signature_algorithm(signer.algorithm()),
        template.issuer.clone(),
        der::sequence(&[time(template.not_before), time(template.not_after)]),
        template.subject.clone(),
        key.public_key_info(),
        der::tagged(0xa3, &der::sequence(&extensions(template, key))),
    ];
    // Derived from all the rest: the same certificate gets the same serial, any other gets another.
    let mut serial = Sha256::digest(body.concat())[..8].to_vec();
    serial[0] &= 0x7f;
    body.insert(0, der::integer(&serial));
    let version_3 = der::tagged(0xa0, &der::integer(&[2]));
    body.insert(0, version_3);
    let to_be_signed = der::sequence(&body);
    let signature = signer.sign(&to_be_signed)?;
    Ok(der::sequence(&[to_be_signed, der::signature_algorithm(signer.algorithm()), der::bits(&signature)]))
}

/// SHA-1 over the bare public key: the identifier Go's standard library and the installer compute.
pub fn key_id(key: &PrivateKey) -> Vec<u8> {
    let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA1_FOR_LEGACY_USE_ONLY, &key.public_bits());
    digest.as_ref().to_vec()
}

fn extensions(template: &Template, key: &PrivateKey) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    if template.with_key_usage {
        all.push(extension(&[2, 5, 29, 15], true, &key_usage(template.usage, key.algorithm())));
    }
    let purposes: &[u32] = match template.usage {
        Usage::Client => &[2],
        Usage::ServerAndClient => &[1, 2],
        Usage::Server => &[1],
        Usage::Signer => &[],
    };
    if !purposes.is_empty() {
        let oids: Vec<Vec<u8>> = purposes.iter().map(|p| der::oid(&[1, 3, 6, 1, 5, 5, 7, 3, *p])).collect();
        all.push(extension(&[2, 5, 29, 37], false, &der::sequence(&oids)));
    }
    let constraints = if template.usage == Usage::Signer { vec![der::yes()] } else { Vec::new() };
    all.push(extension(&[2, 5, 29, 19], true, &der::sequence(&constraints)));
    all.push(extension(&[2, 5, 29, 14], false, &der::octets(&key_id(key))));
    if let Some(id) = &template.authority_key_id {
        all.push(extension(&[2, 5, 29, 35], false, &der::sequence(&[der::tagged(0x80, id)])));
    }
    if !template.sans.is_empty() {
        let names: Vec<Vec<u8>> = template.sans.iter().map(general_name).collect();
        all.push(extension(&[2, 5, 29, 17], false, &der::sequence(&names)));
    }
    all
}

fn extension(oid: &[u32], critical: bool, value: &[u8]) -> Vec<u8> {
    let mut parts = vec![der::oid(oid)];
    if critical {
        parts.push(der::yes());
    }
    parts.push(der::octets(value));
    der::sequence(&parts)
}

/// A bit string whose unused tail is counted. Key encipherment is for RSA only: an ECDSA key cannot encipher.
fn key_usage(usage: Usage, algorithm: KeyAlgorithm) -> Vec<u8> {
    const DIGITAL_SIGNATURE: u8 = 0x80;
    const KEY_ENCIPHERMENT: u8 = 0x20;
    const KEY_CERT_SIGN: u8 = 0x04;
    let mut bits = DIGITAL_SIGNATURE;
    if algorithm == KeyAlgorithm::Rsa2048 {
        bits |= KEY_ENCIPHERMENT;
    }
    if usage == Usage::Signer {
        bits |= KEY_CERT_SIGN;
    }
    der::tagged(0x03, &[u8::try_from(bits.trailing_zeros()).unwrap_or_default(), bits])
}

fn general_name(san: &San) -> Vec<u8> {
    match san {
        San::Dns(name) => der::tagged(0x82, name.as_bytes()),
        San::Ip(IpAddr::V4(ip)) => der::tagged(0x87, &ip.octets()),
        San::Ip(IpAddr::V6(ip)) => der::tagged(0x87, &ip.octets()),
    }
}

/// UTCTime until 2049, GeneralizedTime after (RFC 5280 §4.1.2.5).
fn time(at: Timestamp) -> Vec<u8> {
    let at = at.to_zoned(jiff::tz::TimeZone::UTC);
    if at.year() < 2050 {
        der::tagged(0x17, at.strftime("%y%m%d%H%M%SZ").to_string().as_bytes())
    } else {
        der::tagged(0x18, at.strftime("%Y%m%d%H%M%SZ").to_string().as_bytes())
    }
}
