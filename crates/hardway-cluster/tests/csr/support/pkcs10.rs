//! Writing PKCS#10 requests (RFC 2986), right ones and wrong ones.

use std::net::IpAddr;

use hardway_assets::pki::der;
use hardway_base::pem;

use super::key::TestKey;

pub(crate) const CN: &[u32] = &[2, 5, 4, 3];
pub(crate) const O: &[u32] = &[2, 5, 4, 10];
pub(crate) const OU: &[u32] = &[2, 5, 4, 11];
const EXTENSION_REQUEST: &[u32] = &[1, 2, 840, 113_549, 1, 9, 14];
const SUBJECT_ALT_NAME: &[u32] = &[2, 5, 29, 17];

/// What goes into a request; everything can be made wrong.
#[derive(Clone)]
pub(crate) struct Pkcs10Draft {
    pub(crate) version: u8,
    /// Attributes of the subject, each an RDN of its own.
    pub(crate) subject: Vec<(&'static [u32], String)>,
    /// `GeneralName`s, in DER.
    pub(crate) names: Vec<Vec<u8>>,
    /// More extensions, in DER.
    pub(crate) extensions: Vec<Vec<u8>>,
    /// More attributes, in DER.
    pub(crate) attributes: Vec<Vec<u8>>,
    /// Bytes behind the request.
    pub(crate) tail: Vec<u8>,
    /// Something that is done to the signature.
    pub(crate) spoil_signature: bool,
    pub(crate) label: &'static str,
}

impl Pkcs10Draft {
    /// As a kubelet of that node writes it.
    pub(crate) fn of_node(node: &str, names: Vec<Vec<u8>>) -> Self {
        Self {
            version: 0,
            subject: vec![(O, "system:nodes".into()), (CN, format!("system:node:{node}"))],
            names,
            extensions: Vec::new(),
            attributes: Vec::new(),
            tail: Vec::new(),
            spoil_signature: false,
            label: "CERTIFICATE REQUEST",
        }
    }

    /// In PEM, about one key and signed with another, or the same.
    pub(crate) fn to_pem(&self, key: &TestKey, signer: &TestKey) -> String {
        let subject: Vec<Vec<u8>> =
            self.subject.iter().map(|(oid, text)| der::set(vec![attribute(oid, text)])).collect();
        let info = der::sequence(&[
            der::integer(&[self.version]),
            der::sequence(&subject),
            key.public_key_info(),
            der::tagged(0xa0, &self.all_attributes().concat()),
        ]);
        let mut signature = signer.sign(&info);
        if self.spoil_signature {
            let middle = signature.len() / 2;
            signature[middle] ^= 0x01;
        }
        let mut request = der::sequence(&[info, signer.signature_algorithm(), der::bits(&signature)]);
        request.extend(&self.tail);
        pem::encode(self.label, &request)
    }

    fn all_attributes(&self) -> Vec<Vec<u8>> {
        let mut extensions = self.extensions.clone();
        if !self.names.is_empty() {
            extensions.insert(0, extension(SUBJECT_ALT_NAME, false, &der::sequence(&self.names)));
        }
        let mut all = self.attributes.clone();
        if !extensions.is_empty() {
            all.insert(0, extension_list(&extensions));
        }
        all
    }
}

/// The attribute that lists extensions.
pub(crate) fn extension_list(extensions: &[Vec<u8>]) -> Vec<u8> {
    der::sequence(&[der::oid(EXTENSION_REQUEST), der::set(vec![der::sequence(extensions)])])
}

pub(crate) fn extension(oid: &[u32], critical: bool, value: &[u8]) -> Vec<u8> {
    let mut parts = vec![der::oid(oid)];
    if critical {
        parts.push(der::yes());
    }
    parts.push(der::octets(value));
    der::sequence(&parts)
}

/// More names, as a second extension.
pub(crate) fn names_extension(names: &[Vec<u8>]) -> Vec<u8> {
    extension(SUBJECT_ALT_NAME, false, &der::sequence(names))
}

fn attribute(oid: &[u32], value: &str) -> Vec<u8> {
    der::sequence(&[der::oid(oid), der::tagged(0x0c, value.as_bytes())])
}

pub(crate) fn dns(name: &str) -> Vec<u8> {
    der::tagged(0x82, name.as_bytes())
}

pub(crate) fn ip(address: &str) -> Vec<u8> {
    match address.parse::<IpAddr>().unwrap() {
        IpAddr::V4(v4) => der::tagged(0x87, &v4.octets()),
        IpAddr::V6(v6) => der::tagged(0x87, &v6.octets()),
    }
}

pub(crate) fn email(address: &str) -> Vec<u8> {
    der::tagged(0x81, address.as_bytes())
}

pub(crate) fn uri(text: &str) -> Vec<u8> {
    der::tagged(0x86, text.as_bytes())
}
