//! Certificates and CA bundles in the form that library-go's rotation adopts.
//!
//! A signer or leaf whose annotations are missing, or do not say what the operator expects, is issued again
//! (library-go `pkg/operator/certrotation`). The operators also describe each object in a sentence of their own
//! (`openshift.io/description`) and add it when they first see it; that alone renews nothing.

use serde_json::{Map, Value, json};

use super::seed::{self, OWNER, base64, private_key};
use crate::graph::{Inputs, MakeError, Source};
use crate::pki::{self, CertificateFacts};

/// What a certificate is for its operator.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Signs others.
    Signer,
    /// A leaf without names.
    Client,
    /// A leaf with names, which must be exactly those the operator would ask for.
    Serving,
}

/// The sources of a certificate and its key.
pub(super) fn sources(certificate: &str) -> Vec<Source> {
    vec![Source::file(format!("pki/{certificate}.crt")), Source::key(certificate)]
}

/// A Secret of type kubernetes.io/tls with a certificate and its key.
pub(super) fn tls_secret(
    inputs: &Inputs<'_>,
    (namespace, name): (&str, &str),
    certificate: &str,
    kind: Kind,
    component: &str,
) -> Result<Value, MakeError> {
    let path = format!("pki/{certificate}.crt");
    let text = inputs.text(&path)?;
    let mut object = seed::object("Secret", namespace, name);
    object["type"] = "kubernetes.io/tls".into();
    object["data"] = json!({"tls.crt": base64(text), "tls.key": private_key(inputs, certificate)?});
    object["metadata"]["annotations"] = annotations(&first(&path, text)?, kind, component);
    Ok(object)
}

/// Marks an object as the operators of etcd do; those of the API server and controller manager do not.
pub(super) fn labelled(mut object: Value, kind: &str) -> Value {
    object["metadata"]["labels"] = json!({"auth.openshift.io/managed-certificate-type": kind});
    object
}

fn annotations(facts: &CertificateFacts, kind: Kind, component: &str) -> Value {
    let mut annotations = Map::new();
    let mut put = |key: &str, value: String| annotations.insert(key.to_owned(), value.into());
    put("auth.openshift.io/certificate-not-before", facts.not_before.to_string());
    put("auth.openshift.io/certificate-not-after", facts.not_after.to_string());
    put("auth.openshift.io/certificate-issuer", facts.issuer_common_name.clone());
    if kind == Kind::Serving {
        put("auth.openshift.io/certificate-hostnames", facts.sans.join(","));
    }
    put(OWNER, component.to_owned());
    annotations.into()
}

/// The leaf; its issuer may stand behind it.
fn first(path: &str, text: &str) -> Result<CertificateFacts, MakeError> {
    let bad = |reason: String| MakeError::BadFile { path: path.to_owned(), reason, offset: None };
    let certificates = pki::inspect(text).map_err(|error| bad(error.to_string()))?;
    certificates.into_iter().next().ok_or_else(|| bad("there is no certificate in it".to_owned()))
}
