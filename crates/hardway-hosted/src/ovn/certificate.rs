//! Making it, exactly as the control-plane-operator would: so that it is accepted unchanged when that takes over.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hardway_assets::inventory::KeyAlgorithm;
use hardway_assets::pki::{San, Subject, Template, Usage, issue};
use hardway_assets::secrets::{KeyError, PrivateKey, Random};
use hardway_base::Secret;
use hardway_base::pem;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use x509_parser::prelude::{FromDer as _, ParsedExtension, X509Certificate};

use super::{MADE_BY, SECRET, md5};
use crate::names;

const SERVICE: &str = "ovn-kubernetes-control-plane";
/// The control-plane-operator signs anew what is valid for another time.
const VALIDITY: SignedDuration = SignedDuration::from_hours(365 * 24);

/// Why it cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum OvnError {
    /// The signer's certificate.
    #[error("ca.crt of Secret root-ca is no certificate in PEM")]
    Signer,
    /// A key.
    #[error("the key of the signer, or the new one, cannot be used")]
    Key(#[from] KeyError),
}

/// The Secret, signed by the hosted control plane's own signer. `owner` is the HostedControlPlane: with it, the Secret goes too.
///
/// # Errors
/// When the signer is none.
pub fn secret(
    namespace: &str,
    ca_crt: &str,
    ca_key: &Secret,
    owner: Option<&Value>,
    now: Timestamp,
) -> Result<Value, OvnError> {
    let blocks = pem::decode(ca_crt).map_err(|_| OvnError::Signer)?;
    let der = &blocks.first().ok_or(OvnError::Signer)?.der;
    let (_, signer) = X509Certificate::from_der(der).map_err(|_| OvnError::Signer)?;
    let key_id = signer.extensions().iter().find_map(|extension| match extension.parsed_extension() {
        ParsedExtension::SubjectKeyIdentifier(id) => Some(id.0.to_vec()),
        _ => None,
    });
    let signing = PrivateKey::from_pem(ca_key.expose_text())?;
    let key = PrivateKey::generate(KeyAlgorithm::Rsa2048, &Random::default())?;
    let not_before = Timestamp::from_second(now.as_second()).unwrap_or(now);
    let template = Template {
        subject: Subject::user(SERVICE, &["openshift"]).to_der(),
        issuer: signer.subject().as_raw().to_vec(),
        not_before,
        not_after: not_before + VALIDITY,
        usage: Usage::ServerAndClient,
        with_key_usage: true,
        sans: sans(namespace),
        authority_key_id: key_id,
    };
    let certificate = pem::encode("CERTIFICATE", &issue(&template, &key, &signing)?);
    let base64 = |bytes: &[u8]| STANDARD.encode(bytes);
    let hash = md5::hex(&[ca_crt.as_bytes(), ca_key.expose()].concat());
    let mut metadata = json!({"name": SECRET, "namespace": namespace, "annotations": {names::CA_HASH: hash, MADE_BY: "hardway"}});
    if let Some(owner) = owner {
        metadata["ownerReferences"] = json!([owner]);
    }
    Ok(
        json!({"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls", "metadata": metadata, "data": {
        "tls.crt": base64(certificate.as_bytes()), "tls.key": base64(key.to_pem().expose()), "ca.crt": base64(ca_crt.as_bytes())}}),
    )
}

fn sans(namespace: &str) -> Vec<San> {
    [
        format!("{SERVICE}.{namespace}.svc"),
        format!("{SERVICE}.{namespace}.svc.cluster.local"),
        SERVICE.to_owned(),
        "localhost".to_owned(),
    ]
    .map(San::Dns)
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_the_operators_profile() {
        let now: Timestamp = "2026-11-15T12:00:00.5Z".parse().unwrap();
        let ca = PrivateKey::generate(KeyAlgorithm::Rsa2048, &Random::default()).unwrap();
        let name = Subject::signer("root-ca", "openshift").to_der();
        let template = Template {
            subject: name.clone(),
            issuer: name,
            not_before: now,
            not_after: now + SignedDuration::from_hours(24 * 3650),
            usage: Usage::Signer,
            with_key_usage: true,
            sans: Vec::new(),
            authority_key_id: None,
        };
        let ca_crt = pem::encode("CERTIFICATE", &issue(&template, &ca, &ca).unwrap());
        let made = secret("clusters-demo", &ca_crt, &ca.to_pem(), None, now).unwrap();
        let text = |key: &str| {
            String::from_utf8(STANDARD.decode(made["data"][key].as_str().unwrap()).unwrap()).unwrap()
        };
        let facts = &hardway_assets::pki::inspect(&text("tls.crt")).unwrap()[0];
        assert_eq!((facts.common_name.as_str(), facts.issuer_common_name.as_str()), (SERVICE, "root-ca"));
        assert_eq!(facts.extended_key_usage, ["clientAuth", "serverAuth"]);
        assert_eq!(facts.not_after.duration_since(facts.not_before), VALIDITY);
        assert_eq!(facts.sans.len(), 4);
        assert!(
            facts.sans.contains(&"ovn-kubernetes-control-plane.clusters-demo.svc".to_owned()),
            "{:?}",
            facts.sans
        );
        assert!(
            text("tls.key").starts_with("-----BEGIN RSA PRIVATE KEY-----"),
            "the operator reads PKCS#1 only"
        );
        assert_eq!(text("ca.crt"), ca_crt);
        let hash = md5::hex(&[ca_crt.as_bytes(), ca.to_pem().expose()].concat());
        assert_eq!(made["metadata"]["annotations"]["hypershiftlite.openshift.io/ca-hash"], json!(hash));
        assert!(secret("x", "nonsense", &ca.to_pem(), None, now).is_err());
    }
}
