//! Reading certificates back: for annotations, expiry, comparisons and tests.

use std::net::IpAddr;

use hardway_base::hex;
use jiff::Timestamp;
use x509_parser::prelude::{FromDer as _, GeneralName, ParsedExtension, X509Certificate, X509Name};
use x509_parser::public_key::PublicKey;

use hardway_base::pem;

/// What a certificate says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateFacts {
    /// In the form `CN=…,O=a+O=b`: common name first, values of one RDN sorted.
    pub subject: String,
    /// In the same form.
    pub issuer: String,
    /// The subject's common name.
    pub common_name: String,
    /// The issuer's common name.
    pub issuer_common_name: String,
    /// First second of validity.
    pub not_before: Timestamp,
    /// Last second of validity.
    pub not_after: Timestamp,
    /// May sign others.
    pub is_ca: bool,
    /// By name, in the order of their bits; empty when the extension is absent.
    pub key_usage: Vec<&'static str>,
    /// `serverAuth`, `clientAuth`, sorted.
    pub extended_key_usage: Vec<String>,
    /// DNS names and addresses, sorted, each once.
    pub sans: Vec<String>,
    /// Subject key identifier.
    pub subject_key_id: Option<Vec<u8>>,
    /// Authority key identifier.
    pub authority_key_id: Option<Vec<u8>>,
    /// `rsa2048`, `p256`.
    pub key: String,
    /// The public key as PKIX DER.
    pub public_key_info: Vec<u8>,
    /// Hexadecimal.
    pub serial: String,
}

/// The text is not PEM with certificates in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InspectError {
    /// A block is no certificate.
    #[error("certificate {0} of the file cannot be read")]
    Certificate(usize),
    /// Not PEM.
    #[error("not PEM")]
    Pem,
}

/// Every certificate of a PEM text, in order.
pub fn inspect(text: &str) -> Result<Vec<CertificateFacts>, InspectError> {
    let blocks = pem::decode(text).map_err(|_| InspectError::Pem)?;
    blocks
        .iter()
        .filter(|block| block.label == "CERTIFICATE")
        .enumerate()
        .map(|(i, block)| facts(&block.der).ok_or(InspectError::Certificate(i + 1)))
        .collect()
}

fn facts(der: &[u8]) -> Option<CertificateFacts> {
    let (_, certificate) = X509Certificate::from_der(der).ok()?;
    let mut facts = CertificateFacts {
        subject: name(certificate.subject()),
        issuer: name(certificate.issuer()),
        common_name: common_name(certificate.subject()),
        issuer_common_name: common_name(certificate.issuer()),
        not_before: Timestamp::from_second(certificate.validity().not_before.timestamp()).ok()?,
        not_after: Timestamp::from_second(certificate.validity().not_after.timestamp()).ok()?,
        is_ca: certificate.is_ca(),
        key_usage: Vec::new(),
        extended_key_usage: Vec::new(),
        sans: Vec::new(),
        subject_key_id: None,
        authority_key_id: None,
        key: key(&certificate),
        public_key_info: certificate.public_key().raw.to_vec(),
        serial: hex::encode(certificate.raw_serial()),
    };
    for extension in certificate.extensions() {
        match extension.parsed_extension() {
            ParsedExtension::AuthorityKeyIdentifier(id) => {
                facts.authority_key_id = id.key_identifier.as_ref().map(|id| id.0.to_vec());
            }
            ParsedExtension::ExtendedKeyUsage(usage) => {
                let named = [("clientAuth", usage.client_auth), ("serverAuth", usage.server_auth)];
                facts.extended_key_usage =
                    named.iter().filter(|(_, on)| *on).map(|(n, _)| (*n).to_owned()).collect();
            }
            ParsedExtension::KeyUsage(usage) => {
                let named = [
                    ("digitalSignature", usage.digital_signature()),
                    ("keyEncipherment", usage.key_encipherment()),
                    ("keyCertSign", usage.key_cert_sign()),
                    ("cRLSign", usage.crl_sign()),
                ];
                facts.key_usage = named.iter().filter(|(_, on)| *on).map(|(n, _)| *n).collect();
            }
            ParsedExtension::SubjectAlternativeName(names) => {
                facts.sans = names.general_names.iter().filter_map(san).collect();
                facts.sans.sort();
                facts.sans.dedup();
            }
            ParsedExtension::SubjectKeyIdentifier(id) => facts.subject_key_id = Some(id.0.to_vec()),
            _ => {}
        }
    }
    Some(facts)
}

/// `CN=x,O=a+O=b`: RDNs from the last to the first as RFC 4514 prints them, values of one RDN sorted.
fn name(name: &X509Name<'_>) -> String {
    let mut rdns: Vec<String> = name
        .iter()
        .map(|rdn| {
            let mut values: Vec<String> = rdn
                .iter()
                .map(|value| {
                    let label = match value.attr_type().to_id_string().as_str() {
                        "2.5.4.3" => "CN".to_owned(),
                        "2.5.4.10" => "O".to_owned(),
                        "2.5.4.11" => "OU".to_owned(),
                        other => other.to_owned(),
                    };
                    format!("{label}={}", value.as_str().unwrap_or_default())
                })
                .collect();
            values.sort();
            values.join("+")
        })
        .collect();
    rdns.reverse();
    rdns.join(",")
}

fn common_name(name: &X509Name<'_>) -> String {
    name.iter_common_name().next().and_then(|cn| cn.as_str().ok()).unwrap_or_default().to_owned()
}

fn san(name: &GeneralName<'_>) -> Option<String> {
    match name {
        GeneralName::DNSName(name) => Some((*name).to_owned()),
        GeneralName::IPAddress(bytes) => match bytes.len() {
            4 => <[u8; 4]>::try_from(*bytes).ok().map(|b| IpAddr::from(b).to_string()),
            _ => <[u8; 16]>::try_from(*bytes).ok().map(|b| IpAddr::from(b).to_string()),
        },
        _ => None,
    }
}

fn key(certificate: &X509Certificate<'_>) -> String {
    match certificate.public_key().parsed() {
        Ok(PublicKey::RSA(rsa)) => format!("rsa{}", rsa.key_size()),
        Ok(PublicKey::EC(point)) => format!("p{}", point.key_size()),
        _ => "unknown".to_owned(),
    }
}
