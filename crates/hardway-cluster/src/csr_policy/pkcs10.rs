//! What stands in a PKCS#10 request (RFC 2986), read more strictly than the signer does: where two readers could see two
//! things, it is refused.

use std::collections::BTreeSet;
use std::net::IpAddr;

use hardway_assets::pki::der;
use hardway_base::hex;
use hardway_base::pem;
use sha2::{Digest as _, Sha256};
use x509_parser::certification_request::X509CertificationRequest;
use x509_parser::cri_attributes::ParsedCriAttribute;
use x509_parser::prelude::{FromDer as _, GeneralName, ParsedExtension, X509Extension, X509Name};

use super::key::{Key, Signature, dotted};

/// The parsed request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pkcs10 {
    /// Every common name of the subject.
    pub common_names: Vec<String>,
    /// Every organization: Kubernetes reads them as groups.
    pub organizations: Vec<String>,
    /// Everything else in the subject, shown.
    pub other_attributes: Vec<String>,
    /// Subject alternative names.
    pub names: Vec<Name>,
    /// Wants to sign others.
    pub asks_for_ca: bool,
    /// Extensions besides the names, by OID.
    pub extensions: Vec<String>,
    /// Attributes besides the list of extensions, by OID.
    pub attributes: Vec<String>,
    /// The key it is about.
    pub key: Key,
    /// SHA-256 of the public key: whoever asks again with the same key is the same.
    pub key_id: String,
    /// Whether that key signed it.
    pub signature: Signature,
}

/// A subject alternative name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Name {
    /// A DNS name, as written.
    Dns(String),
    /// An address.
    Ip(IpAddr),
    /// Of any other kind, shown.
    Other(String),
}

/// Why a request cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Pkcs10Error {
    /// Not one PEM block with the right label and nothing around it.
    #[error("{0}")]
    Pem(&'static str),
    /// Too large to be read.
    #[error("it is too large to be read")]
    TooLarge,
    /// The bytes are not a request, or can be read in two ways.
    #[error("{0}")]
    Malformed(String),
}

const LABEL: &str = "CERTIFICATE REQUEST";

impl Pkcs10 {
    /// Reads the PEM text of a request.
    ///
    /// # Errors
    /// When it is not one request and nothing else.
    pub fn read(text: &[u8]) -> Result<Self, Pkcs10Error> {
        let text = std::str::from_utf8(text).map_err(|_| Pkcs10Error::Pem("the text is not UTF-8"))?;
        let blocks =
            pem::decode(text).map_err(|_| Pkcs10Error::Pem("there is data outside the PEM block"))?;
        match blocks.as_slice() {
            [block] if block.label == LABEL => Self::read_der(&block.der),
            [_] => Err(Pkcs10Error::Pem("the PEM block is not a certificate request")),
            [] => Err(Pkcs10Error::Pem("there is no PEM block")),
            _ => Err(Pkcs10Error::Pem("there is more than one PEM block")),
        }
    }

    fn read_der(bytes: &[u8]) -> Result<Self, Pkcs10Error> {
        let (rest, request) =
            X509CertificationRequest::from_der(bytes).map_err(|error| malformed(error.to_string()))?;
        if !rest.is_empty() {
            return Err(malformed("there is data after the request"));
        }
        if !is_written_once(bytes, &request) {
            return Err(malformed("it is not canonical DER"));
        }
        let info = &request.certification_request_info;
        if info.version.0 != 0 {
            return Err(malformed(format!("it is of version {}", info.version.0)));
        }
        let mut read = Self {
            common_names: Vec::new(),
            organizations: Vec::new(),
            other_attributes: Vec::new(),
            names: Vec::new(),
            asks_for_ca: false,
            extensions: Vec::new(),
            attributes: Vec::new(),
            key: Key::of(&info.subject_pki),
            key_id: hex::encode(Sha256::digest(info.subject_pki.raw)),
            signature: Signature::of(&request),
        };
        read.subject(&info.subject);
        read.attributes(&request)?;
        Ok(read)
    }

    fn subject(&mut self, name: &X509Name<'_>) {
        for attribute in name.iter_attributes() {
            let (kind, text) = (dotted(attribute.attr_type()), attribute.as_str().map(str::to_owned));
            match (kind.as_str(), text) {
                ("2.5.4.3", Ok(text)) => self.common_names.push(text),
                ("2.5.4.10", Ok(text)) => self.organizations.push(text),
                (_, text) => self.other_attributes.push(format!("{kind}={}", text.unwrap_or_default())),
            }
        }
    }

    fn attributes(&mut self, request: &X509CertificationRequest<'_>) -> Result<(), Pkcs10Error> {
        let mut lists = 0;
        for attribute in request.certification_request_info.iter_attributes() {
            match attribute.parsed_attribute() {
                ParsedCriAttribute::ExtensionRequest(list) => {
                    lists += 1;
                    self.extensions(&list.extensions)?;
                }
                _ => self.attributes.push(dotted(&attribute.oid)),
            }
        }
        if lists > 1 { Err(malformed("it has two lists of extensions")) } else { Ok(()) }
    }

    fn extensions(&mut self, extensions: &[X509Extension<'_>]) -> Result<(), Pkcs10Error> {
        let mut seen = BTreeSet::new();
        for extension in extensions {
            let oid = dotted(&extension.oid);
            if !seen.insert(oid.clone()) {
                return Err(malformed(format!("duplicate extension {oid}")));
            }
            match extension.parsed_extension() {
                ParsedExtension::SubjectAlternativeName(names) => {
                    self.names = names.general_names.iter().map(Name::of).collect();
                }
                ParsedExtension::BasicConstraints(constraints) if constraints.ca => self.asks_for_ca = true,
                ParsedExtension::ParseError { .. } => {
                    return Err(malformed(format!("extension {oid} cannot be read")));
                }
                _ => self.extensions.push(oid),
            }
        }
        Ok(())
    }
}

impl Name {
    fn of(name: &GeneralName<'_>) -> Self {
        match name {
            GeneralName::DNSName(name) => Self::Dns((*name).to_owned()),
            GeneralName::IPAddress(bytes) => {
                let four = <[u8; 4]>::try_from(*bytes).map(IpAddr::from);
                let address = four.or_else(|_| <[u8; 16]>::try_from(*bytes).map(IpAddr::from));
                // Go writes an IPv4 address in four bytes; in sixteen it would be the same one in disguise.
                match address {
                    Ok(address) if address.to_canonical() == address => Self::Ip(address),
                    Ok(address) => Self::Other(format!("IPv4 in IPv6: {address}")),
                    Err(_) => Self::Other(format!("address of {} bytes", bytes.len())),
                }
            }
            GeneralName::RFC822Name(name) => Self::Other(format!("email {name}")),
            GeneralName::URI(name) => Self::Other(format!("URI {name}")),
            other => Self::Other(format!("{other}")),
        }
    }
}

/// Nothing signs what is around the signed part, so it must be what anybody would write around it.
fn is_written_once(bytes: &[u8], request: &X509CertificationRequest<'_>) -> bool {
    let oid = der::tagged(0x06, request.signature_algorithm.algorithm.as_bytes());
    [vec![oid.clone()], vec![oid, der::null()]].iter().any(|algorithm| {
        let signed = request.certification_request_info.raw.to_vec();
        let parts = [signed, der::sequence(algorithm), der::bits(&request.signature_value.data)];
        der::sequence(&parts) == bytes
    })
}

fn malformed(why: impl Into<String>) -> Pkcs10Error {
    Pkcs10Error::Malformed(why.into())
}
