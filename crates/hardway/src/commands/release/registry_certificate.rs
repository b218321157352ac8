//! The certificate of `hardway release serve`: a person's own, or one that hardway makes once and keeps.
//!
//! A CA signs it, because that is what `additionalTrustBundle` takes. The CA's key is thrown away at once: nobody can sign
//! anything else that the cluster's nodes would believe.

use std::path::Path;

use hardway_assets::inventory::KeyAlgorithm;
use hardway_assets::pki::{San, Subject, Template, Usage, inspect, issue, key_id};
use hardway_assets::secrets::{KeyError, PrivateKey, Random};
use hardway_base::{Secret, files, hex, pem};
use hardway_release::bundle::ServerTls;
use jiff::SignedDuration;

use crate::cli::ReleaseServeArgs;
use crate::clock;
use crate::inputs::{Workdir, at};
use crate::report::{Code, Report};
use crate::terminal::Output;

/// What is served with, and what clients have to trust.
pub(super) struct RegistryCertificate {
    pub(super) tls: ServerTls,
    /// PEM; none where the certificate is a person's own, who knows who signed it.
    pub(super) ca: Option<String>,
}

const FOLDER: &str = "registry";
const CA: &str = "registry/ca.crt";
const CHAIN: &str = "registry/tls.crt";
const KEY: &str = "registry/tls.key";
/// Longer than any install; a site that serves for longer has a registry.
const LIFETIME: SignedDuration = SignedDuration::from_hours(2 * 365 * 24);

impl RegistryCertificate {
    /// The one that is named, or kept, or made now for these names.
    pub(super) fn find(
        workdir: &Workdir,
        args: &ReleaseServeArgs,
        names: &[String],
        out: &Output,
    ) -> Result<Self, Report> {
        if let (Some(certificate), Some(key)) = (&args.certificate, &args.key) {
            let read =
                |path: &Path| fs_err::read(path).map_err(|error| Report::from_error(Code::Usage, &error));
            let tls = ServerTls { chain: read(certificate)?, key: Secret::new(read(key)?) };
            return Ok(Self { tls, ca: None });
        }
        match (workdir.text(CA)?, workdir.text(CHAIN)?, workdir.bytes(KEY)?) {
            (Some(ca), Some(chain), Some(key)) => {
                fits(workdir, &chain, names)?;
                let tls = ServerTls { chain: chain.into_bytes(), key: Secret::new(key) };
                Ok(Self { tls, ca: Some(ca) })
            }
            _ => {
                let made =
                    Self::make(names).map_err(|error| Report::from_error(Code::ServeFailed, &error))?;
                made.keep(workdir)?;
                out.info(&format!("made {} for {}", workdir.shown(CHAIN), names.join(", ")));
                Ok(made)
            }
        }
    }

    fn make(names: &[String]) -> Result<Self, KeyError> {
        let random = Random::default();
        let draw = || PrivateKey::generate(KeyAlgorithm::EcdsaP256, &random);
        let (ca_key, key) = (draw()?, draw()?);
        // A name of its own: two CAs of one name in a trust bundle are taken for each other.
        let name = format!("hardway registry {}", hex::encode(random.bytes::<4>()));
        let issuer = Subject::user(name, &[]).to_der();
        let now = clock::second();
        let ca = Template {
            subject: issuer.clone(),
            issuer: issuer.clone(),
            not_before: now,
            not_after: now + LIFETIME,
            usage: Usage::Signer,
            with_key_usage: true,
            sans: Vec::new(),
            authority_key_id: None,
        };
        let server = Template {
            subject: Subject::user(names.first().cloned().unwrap_or_default(), &[]).to_der(),
            usage: Usage::Server,
            sans: names
                .iter()
                .map(|name| name.parse().map_or_else(|_| San::Dns(name.clone()), San::Ip))
                .collect(),
            authority_key_id: Some(key_id(&ca_key)),
            ..ca.clone()
        };
        let ca = pem::encode("CERTIFICATE", &issue(&ca, &ca_key, &ca_key)?);
        let chain = pem::encode("CERTIFICATE", &issue(&server, &key, &ca_key)?) + &ca;
        Ok(Self { tls: ServerTls { chain: chain.into_bytes(), key: key.to_pem() }, ca: Some(ca) })
    }

    /// The key first, and only for its owner: what is half there is made anew.
    fn keep(&self, workdir: &Workdir) -> Result<(), Report> {
        let folder = workdir.path(FOLDER);
        fs_err::create_dir_all(&folder).map_err(|error| at(&folder, &error))?;
        let ca = self.ca.as_deref().unwrap_or_default().as_bytes();
        for (name, mode, content) in
            [(KEY, 0o600, self.tls.key.expose()), (CHAIN, 0o644, self.tls.chain.as_slice()), (CA, 0o644, ca)]
        {
            let path = workdir.path(name);
            files::replace(&path, mode, content).map_err(|error| at(&path, &error))?;
        }
        Ok(())
    }
}

/// Whether a certificate that was made before is still right. Nodes trust its CA by now, so it is not replaced behind anybody's back.
fn fits(workdir: &Workdir, chain: &str, names: &[String]) -> Result<(), Report> {
    let shown = workdir.shown(CHAIN);
    let again = format!("rm -r {}, and put the new CA into additionalTrustBundle", workdir.shown(FOLDER));
    let unfit = |why: String| Report::new(Code::ServeFailed, format!("{shown} {why}")).fix(again.clone());
    let facts = inspect(chain).ok().and_then(|facts| facts.into_iter().next());
    let facts = facts.ok_or_else(|| unfit("is not a certificate".to_owned()))?;
    if facts.not_after <= clock::now() {
        return Err(unfit(format!("ended on {}", facts.not_after)));
    }
    match names.iter().find(|name| !facts.sans.contains(name)) {
        Some(name) => Err(unfit(format!("is for {}, not for {name}", facts.sans.join(", ")))),
        None => Ok(()),
    }
}
