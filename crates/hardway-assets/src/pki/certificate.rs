//! The assets of the PKI: certificates, bundles and public keys.

use hardway_base::pem;
use jiff::SignedDuration;
use x509_parser::prelude::{FromDer as _, X509Certificate};

use super::catalogue::{Bundle, CertificateSpec, Lifetime};
use super::{Template, inspect, issue, key_id};
use crate::Phase;
use crate::graph::{Asset, Inputs, MakeError, Output, Source};

/// `pki/<name>.crt`
pub struct Certificate(pub CertificateSpec);

/// `pki/<name>.crt` of several signers.
pub struct CaBundle(pub Bundle);

/// `pki/<name>.pub`
pub struct PublicKey(pub &'static str);

impl Asset for Certificate {
    fn id(&self) -> String {
        self.0.name.clone()
    }

    fn phase(&self) -> Phase {
        Phase::MakePki
    }

    fn sources(&self) -> Vec<Source> {
        let row = &self.0;
        let mut sources = row.sources.clone();
        sources.extend([Source::key(&row.name), Source::Issued(row.name.clone())]);
        if let Some(signer) = row.signer {
            sources.extend([Source::key(signer), Source::file(path(signer))]);
        }
        if row.lifetime == Lifetime::ShortLived {
            sources.push(Source::inventory("pki.shortLivedHours"));
        }
        sources
    }

    fn outputs(&self) -> Vec<Output> {
        vec![Output::public(path(&self.0.name))]
    }

    fn make(&self, inputs: &Inputs<'_>) -> Result<Vec<Vec<u8>>, MakeError> {
        let row = &self.0;
        let issued = inputs.cluster.identity.issued(&row.name);
        let hours = row.lifetime.hours(inputs.cluster);
        let key = inputs.secrets.key(&row.name)?;
        let subject = row.subject.to_der();
        let mut template = Template {
            issuer: subject.clone(),
            subject,
            not_before: issued,
            not_after: issued + SignedDuration::from_hours(hours),
            usage: row.usage,
            with_key_usage: row.with_key_usage,
            sans: row.sans.clone(),
            authority_key_id: None,
        };
        let internal =
            |error: crate::secrets::KeyError| MakeError::Internal(format!("{}: {error}", row.name));
        let Some(signer) = row.signer else {
            template.authority_key_id = row.names_itself_as_authority.then(|| key_id(key));
            return Ok(vec![pem_of(&issue(&template, key, key).map_err(internal)?).into_bytes()]);
        };
        let signer_text = inputs.text(&path(signer))?;
        let signer_key = inputs.secrets.key(signer)?;
        let authority =
            Authority::read(signer_text).ok_or_else(|| bad_file(&path(signer), "not a PEM certificate"))?;
        if authority.public_key_info != signer_key.public_key_info() {
            return Err(bad_file(&path(signer), &format!("does not belong to secrets/{signer}.key")));
        }
        template.issuer = authority.name;
        template.not_before = authority.not_before;
        template.authority_key_id = Some(key_id(signer_key));
        let mut text = pem_of(&issue(&template, key, signer_key).map_err(internal)?);
        if row.with_signer {
            text += &first(signer_text).ok_or_else(|| bad_file(&path(signer), "not a PEM certificate"))?;
        }
        Ok(vec![text.into_bytes()])
    }
}

impl Asset for CaBundle {
    fn id(&self) -> String {
        self.0.name.to_owned()
    }

    fn phase(&self) -> Phase {
        Phase::MakePki
    }

    fn sources(&self) -> Vec<Source> {
        self.0.members.iter().map(|member| Source::file(path(member))).collect()
    }

    fn outputs(&self) -> Vec<Output> {
        vec![Output::public(path(self.0.name))]
    }

    fn make(&self, inputs: &Inputs<'_>) -> Result<Vec<Vec<u8>>, MakeError> {
        let mut bundle = String::new();
        for member in self.0.members {
            let text = inputs.text(&path(member))?;
            bundle += &first(text).ok_or_else(|| bad_file(&path(member), "not a PEM certificate"))?;
        }
        Ok(vec![bundle.into_bytes()])
    }
}

impl Asset for PublicKey {
    fn id(&self) -> String {
        format!("{}-public-key", self.0)
    }

    fn phase(&self) -> Phase {
        Phase::MakePki
    }

    fn sources(&self) -> Vec<Source> {
        vec![Source::key(self.0)]
    }

    fn outputs(&self) -> Vec<Output> {
        vec![Output::public(format!("pki/{}.pub", self.0))]
    }

    /// PKIX under the label `RSA PUBLIC KEY`: wrong by the book, but what the installer writes and operators compare.
    fn make(&self, inputs: &Inputs<'_>) -> Result<Vec<Vec<u8>>, MakeError> {
        let key = inputs.secrets.key(self.0)?;
        Ok(vec![pem::encode("RSA PUBLIC KEY", &key.public_key_info()).into_bytes()])
    }
}

/// What a leaf takes from its signer's certificate, as it lies on disk.
struct Authority {
    name: Vec<u8>,
    not_before: jiff::Timestamp,
    public_key_info: Vec<u8>,
}

impl Authority {
    fn read(text: &str) -> Option<Self> {
        let blocks = pem::decode(text).ok()?;
        let (_, certificate) = X509Certificate::from_der(&blocks.first()?.der).ok()?;
        Some(Self {
            name: certificate.subject().as_raw().to_vec(),
            not_before: jiff::Timestamp::from_second(certificate.validity().not_before.timestamp()).ok()?,
            public_key_info: certificate.public_key().raw.to_vec(),
        })
    }
}

/// Where a certificate lies.
pub fn path(name: &str) -> String {
    format!("pki/{name}.crt")
}

fn pem_of(der: &[u8]) -> String {
    pem::encode("CERTIFICATE", der)
}

/// The first certificate of a file. The installer's bundles take only that one, and so do the operators' tests.
fn first(text: &str) -> Option<String> {
    let blocks = pem::decode(text).ok()?;
    let block = blocks.first().filter(|block| block.label == "CERTIFICATE")?;
    inspect(text).ok()?;
    Some(pem_of(&block.der))
}

fn bad_file(path: &str, reason: &str) -> MakeError {
    MakeError::BadFile { path: path.to_owned(), reason: reason.to_owned(), offset: None }
}
