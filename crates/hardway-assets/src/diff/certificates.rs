//! Certificates and keys by what they say, never by their bytes: every run draws new ones.

use std::collections::BTreeMap;

use x509_parser::prelude::{FromDer as _, SubjectPublicKeyInfo};
use x509_parser::public_key::PublicKey;

use super::Difference;
use super::masks;
use super::meaning::Meaning;
use crate::inventory::KeyAlgorithm;
use crate::pki::{CertificateFacts, inspect};
use crate::secrets::PrivateKey;
use hardway_base::pem::{self, Block};

/// What a PEM text means; `None` when it is not PEM.
pub(super) fn meaning(text: &str, given: bool) -> Option<Meaning> {
    let blocks = pem::decode(text).ok()?;
    match blocks.as_slice() {
        [] => None,
        blocks if blocks.iter().all(|block| block.label == "CERTIFICATE") => {
            Some(Meaning::Certificates { facts: inspect(text).ok()?, given })
        }
        [one] => Some(Meaning::Random(key_kind(one))),
        several => {
            Some(Meaning::List(several.iter().map(|block| Meaning::Random(key_kind(block))).collect()))
        }
    }
}

/// Compares two files of certificates. One each: field by field. Chains: the leaf field by field. All others: members
/// are found by their subject, because the order of a bundle means nothing.
pub(super) fn compare(
    place: &str,
    ours: &[CertificateFacts],
    theirs: &[CertificateFacts],
    given: bool,
    found: &mut Vec<Difference>,
) {
    match (ours, theirs) {
        ([a], [b]) => one(place, a, b, given, found),
        ([a, above @ ..], [b, above_theirs @ ..]) if !a.is_ca && !b.is_ca => {
            one(place, a, b, given, found);
            members(place, above, above_theirs, given, found);
        }
        _ => members(place, ours, theirs, given, found),
    }
}

fn members(
    place: &str,
    ours: &[CertificateFacts],
    theirs: &[CertificateFacts],
    given: bool,
    found: &mut Vec<Difference>,
) {
    let (ours, theirs) = (by_subject(ours), by_subject(theirs));
    for (subject, a) in &ours {
        match theirs.get(subject) {
            Some(b) => one(&format!("{place}: {subject}"), a, b, given, found),
            None => found.push(Difference::new(place, Some(subject.clone()), None)),
        }
    }
    for subject in theirs.keys().filter(|subject| !ours.contains_key(*subject)) {
        found.push(Difference::new(place, None, Some(subject.clone())));
    }
}

/// Several members of one subject (an old and a new signer) are numbered.
fn by_subject(facts: &[CertificateFacts]) -> BTreeMap<String, &CertificateFacts> {
    let mut members = BTreeMap::new();
    for one in facts {
        let subject = masks::without_time(&one.subject);
        let mut name = subject.clone();
        let mut number = 2;
        while members.contains_key(&name) {
            name = format!("{subject} ({number})");
            number += 1;
        }
        members.insert(name, one);
    }
    members
}

fn one(
    place: &str,
    ours: &CertificateFacts,
    theirs: &CertificateFacts,
    given: bool,
    found: &mut Vec<Difference>,
) {
    let serial = |facts: &CertificateFacts| if given { facts.serial.clone() } else { String::new() };
    let rows = [
        ("subject", masks::without_time(&ours.subject), masks::without_time(&theirs.subject)),
        ("issuer", masks::without_time(&ours.issuer), masks::without_time(&theirs.issuer)),
        ("EKU", ours.extended_key_usage.join(", "), theirs.extended_key_usage.join(", ")),
        ("KU", ours.key_usage.join(", "), theirs.key_usage.join(", ")),
        ("SANs", lacking(&ours.sans, &theirs.sans), lacking(&theirs.sans, &ours.sans)),
        ("CA", ours.is_ca.to_string(), theirs.is_ca.to_string()),
        ("key", ours.key.clone(), theirs.key.clone()),
        ("validity", validity(ours), validity(theirs)),
        ("serial", serial(ours), serial(theirs)),
    ];
    for (field, a, b) in rows {
        if a != b {
            let shown = |text: String| (!text.is_empty()).then_some(text);
            found.push(Difference::new(format!("{place}: {field}"), shown(a), shown(b)));
        }
    }
}

/// The names of one list that the other lacks.
fn lacking(a: &[String], b: &[String]) -> String {
    a.iter().filter(|name| !b.contains(name)).cloned().collect::<Vec<_>>().join(", ")
}

/// In days: a leaf of openshift-install starts with its signer, so a few seconds are chance.
fn validity(facts: &CertificateFacts) -> String {
    let seconds = facts.not_after.as_second() - facts.not_before.as_second();
    format!("{} days", (seconds + DAY / 2) / DAY)
}

const DAY: i64 = 24 * 60 * 60;

/// `rsa2048 private key`: which key it is must not be seen, and differs by chance.
fn key_kind(block: &Block) -> String {
    if block.label.ends_with("PUBLIC KEY") {
        return format!("{} public key", public_kind(&block.der));
    }
    match PrivateKey::from_pem(&pem::encode(&block.label, &block.der)).map(|key| key.algorithm()) {
        Ok(KeyAlgorithm::Rsa2048) => "rsa2048 private key".to_owned(),
        Ok(KeyAlgorithm::EcdsaP256) => "p256 private key".to_owned(),
        Err(_) => block.label.to_lowercase(),
    }
}

/// The installer labels PKIX keys `RSA PUBLIC KEY`, so the label says nothing.
fn public_kind(der: &[u8]) -> String {
    match SubjectPublicKeyInfo::from_der(der).ok().map(|(_, info)| info.parsed().map(|key| size(&key))) {
        Some(Ok(kind)) => kind,
        _ => "unknown".to_owned(),
    }
}

fn size(key: &PublicKey<'_>) -> String {
    match key {
        PublicKey::RSA(rsa) => format!("rsa{}", rsa.key_size()),
        PublicKey::EC(point) => format!("p{}", point.key_size()),
        _ => "unknown".to_owned(),
    }
}
