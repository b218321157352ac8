//! Making it exactly as the control-plane-operator would, so that it is accepted unchanged when that takes over, and putting it into
//! the control plane's namespace.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hardway_assets::inventory::KeyAlgorithm;
use hardway_assets::pki::{San, Subject, Template, Usage, issue};
use hardway_assets::secrets::{KeyError, PrivateKey, Random};
use hardway_base::{Secret, hex, pem};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1;
use kube::api::{Api, DynamicObject, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use md5::{Digest as _, Md5};
use serde_json::{Value, json};
use x509_parser::prelude::{FromDer as _, ParsedExtension, X509Certificate};

use super::{MADE_BY, SECRET};
use crate::error::HostedError;
use crate::management::Management;
use crate::names;

const SERVICE: &str = "ovn-kubernetes-control-plane";
/// The control-plane-operator signs anew what is valid for another time.
const VALIDITY: SignedDuration = SignedDuration::from_hours(365 * 24);

/// Why it cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum OvnError {
    /// The signer's certificate.
    #[error("ca.crt of Secret root-ca is not a PEM certificate")]
    Signer,
    /// A key.
    #[error("the key of the signer, or the new one, cannot be used")]
    Key(#[from] KeyError),
}

/// The Secret, signed by the hosted control plane's own signer. `owner` is the HostedControlPlane: with it, the Secret goes too.
fn secret(
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
    let hash = ca_hash(ca_crt, ca_key);
    let mut metadata = json!({"name": SECRET, "namespace": namespace, "annotations": {names::CA_HASH: hash, MADE_BY: "hardway"}});
    if let Some(owner) = owner {
        metadata["ownerReferences"] = json!([owner]);
    }
    Ok(
        json!({"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls", "metadata": metadata, "data": {
        "tls.crt": base64(certificate.as_bytes()), "tls.key": base64(key.to_pem().expose()), "ca.crt": base64(ca_crt.as_bytes())}}),
    )
}

impl Management {
    /// A reference to the HostedControlPlane, if there is one: what it owns goes with it.
    async fn control_plane_owner(&self) -> Result<Option<Value>, HostedError> {
        let kind = GroupVersionKind::gvk("hypershift.openshift.io", "v1beta1", "HostedControlPlane");
        let resource = ApiResource::from_gvk(&kind);
        let api: Api<DynamicObject> =
            Api::namespaced_with(self.client.clone(), &self.control_plane(), &resource);
        let found = match api.get_opt(&self.cluster).await {
            // A kind that the API server does not know.
            Err(kube::Error::Api(status)) if status.code == 404 => None,
            found => found.map_err(HostedError::api("HostedControlPlane"))?,
        };
        Ok(found.map(|found| {
            json!({"apiVersion": "hypershift.openshift.io/v1beta1", "kind": "HostedControlPlane", "name": self.cluster,
                "uid": found.metadata.uid, "controller": true, "blockOwnerDeletion": true})
        }))
    }

    /// Signs the certificate with the hosted control plane's own signer, and puts it where it is looked for. One that is there is left alone,
    /// unless `again` and hardway made it.
    ///
    /// # Errors
    /// When the signer is not there or cannot be used, or the API server refuses.
    pub async fn make_ovn_certificate(&self, again: bool, now: Timestamp) -> Result<(), HostedError> {
        let missing = || {
            let namespace = self.control_plane();
            HostedError::Missing(format!("Secret {} with ca.crt and ca.key in {namespace}", names::ROOT_CA))
        };
        let data = self.secret(names::ROOT_CA).await?.and_then(|secret| secret.data).ok_or_else(missing)?;
        let part = |key: &str| data.get(key).map(|bytes| bytes.0.clone()).ok_or_else(missing);
        let certificate = String::from_utf8(part("ca.crt")?).map_err(|_| missing())?;
        let owner = self.control_plane_owner().await?;
        let key = Secret::new(part("ca.key")?);
        let object =
            secret(&self.control_plane(), &certificate, &key, owner.as_ref(), now).map_err(|error| {
                HostedError::Secret { name: names::ROOT_CA.to_owned(), why: error.to_string() }
            })?;
        self.make_secret(&object, again).await
    }

    /// Makes the Secret. One that is there is left alone, unless `again` and hardway made it.
    ///
    /// # Errors
    /// When it is there, or the API server refuses.
    async fn make_secret(&self, object: &Value, again: bool) -> Result<(), HostedError> {
        let api = self.control_plane_api::<v1::Secret>();
        let what = || format!("Secret {SECRET}");
        let mut secret: v1::Secret = serde_json::from_value(object.clone())
            .map_err(|error| HostedError::Secret { name: SECRET.to_owned(), why: error.to_string() })?;
        let known = api.get_opt(SECRET).await.map_err(HostedError::api(what()))?;
        let Some(known) = known else {
            return api
                .create(&PostParams::default(), &secret)
                .await
                .map(drop)
                .map_err(HostedError::api(what()));
        };
        let is_ours = known.metadata.annotations.as_ref().is_some_and(|all| all.contains_key(MADE_BY));
        if !(again && is_ours) {
            return Err(HostedError::AlreadyThere(what()));
        }
        secret.metadata.resource_version = known.metadata.resource_version;
        api.replace(SECRET, &PostParams::default(), &secret).await.map(drop).map_err(HostedError::api(what()))
    }
}

/// Which signer a certificate is of, as the control-plane-operator writes it down: MD5, which protects nothing here.
fn ca_hash(ca_crt: &str, ca_key: &Secret) -> String {
    hex::encode(Md5::new_with_prefix(ca_crt).chain_update(ca_key.expose()).finalize())
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
        let hash = ca_hash(&ca_crt, &ca.to_pem());
        assert_eq!(made["metadata"]["annotations"]["hypershiftlite.openshift.io/ca-hash"], json!(hash));
        assert!(secret("x", "nonsense", &ca.to_pem(), None, now).is_err());
    }

    #[test]
    fn the_signer_is_named_by_the_md5_of_both_halves() {
        assert_eq!(ca_hash("message ", &Secret::new("digest")), "f96b697d7cb7938d525a2f31aaf161d0");
    }
}
