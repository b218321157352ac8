//! What library-go's certificate rotation reads on a Secret or ConfigMap: who issued the certificate and until when it
//! is good.
//!
//! A signer or leaf whose annotations are missing, or do not say what its operator expects, is issued again
//! (library-go `pkg/operator/certrotation`). The operators also describe each object in a sentence of their own
//! (`openshift.io/description`) and write it anew where it differs; that alone renews nothing. Those whose render brings
//! it get it beforehand; that of the API server's and the controller manager's operators does not.

use serde_json::{Map, Value, json};

use crate::graph::{Inputs, MakeError, Source};
use crate::object_file::base64;
use crate::pki::{self, CertificateFacts};

/// Who answers for an object (openshift/api `annotations`).
pub(crate) const OWNER: &str = "openshift.io/owning-component";
/// What it is for, in a sentence.
pub(crate) const DESCRIPTION: &str = "openshift.io/description";

/// What a certificate is for its operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RotatedKind {
    /// Signs others.
    Signer,
    /// A leaf without names.
    Client,
    /// A leaf with names, which must be exactly those the operator would ask for.
    Serving,
}

/// The sources of a certificate and its key.
pub(crate) fn sources(certificate: &str) -> Vec<Source> {
    vec![Source::file(pki::path(certificate)), Source::key(certificate)]
}

/// A Secret of type kubernetes.io/tls with a certificate and its key.
pub(crate) fn tls_secret(
    inputs: &Inputs<'_>,
    (namespace, name): (&str, &str),
    certificate: &str,
    kind: RotatedKind,
    component: &str,
) -> Result<Value, MakeError> {
    let path = pki::path(certificate);
    Ok(json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "kubernetes.io/tls",
        "metadata": {
            "namespace": namespace,
            "name": name,
            "annotations": annotations(&first(&path, inputs.text(&path)?)?, kind, component),
        },
        "data": pair(inputs, certificate)?,
    }))
}

/// A certificate and its key as the `data` of a Secret.
pub(crate) fn pair(inputs: &Inputs<'_>, certificate: &str) -> Result<Value, MakeError> {
    Ok(json!({
        "tls.crt": base64(inputs.file(&pki::path(certificate))?),
        "tls.key": private_key(inputs, certificate)?,
    }))
}

/// A private key as PEM, for the `data` of a Secret.
pub(crate) fn private_key(inputs: &Inputs<'_>, name: &str) -> Result<Value, MakeError> {
    Ok(base64(inputs.secrets.get(&format!("{name}.key"))?.expose()).into())
}

/// Marks an object as the operators of etcd and of machine configs do; those of the API server and controller manager
/// do not.
pub(crate) fn labelled(mut object: Value, kind: &str) -> Value {
    object["metadata"]["labels"] = json!({"auth.openshift.io/managed-certificate-type": kind});
    object
}

fn annotations(facts: &CertificateFacts, kind: RotatedKind, component: &str) -> Value {
    let mut annotations = Map::new();
    let mut put = |key: &str, value: String| annotations.insert(key.to_owned(), value.into());
    put("auth.openshift.io/certificate-not-before", facts.not_before.to_string());
    put("auth.openshift.io/certificate-not-after", facts.not_after.to_string());
    put("auth.openshift.io/certificate-issuer", facts.issuer_common_name.clone());
    if kind == RotatedKind::Serving {
        put("auth.openshift.io/certificate-hostnames", facts.sans.join(","));
    }
    put(OWNER, component.to_owned());
    annotations.into()
}

/// The leaf; its issuer may stand behind it.
fn first(path: &str, text: &str) -> Result<CertificateFacts, MakeError> {
    let bad = |reason: String| MakeError::BadFile { path: path.to_owned(), reason, offset: None };
    let certificates = pki::inspect(text).map_err(|error| bad(error.to_string()))?;
    certificates.into_iter().next().ok_or_else(|| bad("it contains no certificate".to_owned()))
}
