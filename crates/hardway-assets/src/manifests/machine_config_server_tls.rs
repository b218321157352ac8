//! `manifests/machine-config-server-tls-secret.yaml`: the certificate and key that nodes boot by; and its CA, in the
//! releases whose machine-config-operator issues that certificate again by itself.
//!
//! There the three objects carry the annotations of library-go's certificate rotation. One without them counts as
//! expired and is made anew, with a CA that no pointer config trusts.

use serde_json::{Value, json};

use super::manifest::{Manifest, base64};
use crate::graph::{Inputs, MakeError, Source};
use crate::pki::{CertificateFacts, inspect};
use crate::release_payload::{ReleasePayload, VersionContract};

const LEAF: &str = "pki/machine-config-server.crt";
const CA: &str = "pki/root-ca.crt";
const NAMESPACE: &str = "openshift-machine-config-operator";

/// The Secret openshift-machine-config-operator/machine-config-server-tls.
pub(super) fn tls_secret() -> Manifest {
    let sources = [Source::file(LEAF), Source::key("machine-config-server"), Source::release("version")];
    Manifest::new(
        "machine-config-server-tls-secret",
        "manifests/machine-config-server-tls-secret.yaml",
        sources,
        leaf,
    )
    .secret()
}

/// The Secret and the ConfigMap machine-config-server-ca, where the operator rotates.
pub(super) fn rotated_ca(release: &ReleasePayload) -> Vec<Manifest> {
    if !release.promises(VersionContract::ships_machine_config_server_ca) {
        return Vec::new();
    }
    let signer = Manifest::new(
        "machine-config-server-ca-secret",
        "manifests/machine-config-server-ca-secret.yaml",
        [Source::file(CA), Source::key("root-ca")],
        signer,
    );
    let bundle = Manifest::new(
        "machine-config-server-ca-configmap",
        "manifests/machine-config-server-ca-configmap.yaml",
        [Source::file(CA)],
        bundle,
    );
    vec![signer.secret(), bundle]
}

fn leaf(inputs: &Inputs<'_>) -> Result<Value, MakeError> {
    if inputs.version_contract()?.mcs_tls_secret_is_typed() {
        rotated_leaf(inputs)
    } else {
        plain_leaf(inputs)
    }
}

fn plain_leaf(inputs: &Inputs<'_>) -> Result<Value, MakeError> {
    Ok(json!({
        "apiVersion": "v1",
        "data": pair(inputs, LEAF, "machine-config-server.key")?,
        "kind": "Secret",
        "metadata": {
            "annotations": {"openshift.io/owning-component": OWNER},
            "name": "machine-config-server-tls",
            "namespace": NAMESPACE,
        },
        "type": "Opaque",
    }))
}

fn rotated_leaf(inputs: &Inputs<'_>) -> Result<Value, MakeError> {
    let facts = first(inputs, LEAF)?;
    let mut annotations =
        rotation(&facts, "What the machine-config-server proves itself with to booting nodes.");
    annotations["auth.openshift.io/certificate-hostnames"] = facts.sans.join(",").into();
    Ok(json!({
        "apiVersion": "v1",
        "data": pair(inputs, LEAF, "machine-config-server.key")?,
        "kind": "Secret",
        "metadata": {
            "annotations": annotations,
            "labels": {"auth.openshift.io/managed-certificate-type": "target"},
            "name": "machine-config-server-tls",
            "namespace": NAMESPACE,
        },
        "type": "kubernetes.io/tls",
    }))
}

fn signer(inputs: &Inputs<'_>) -> Result<Value, MakeError> {
    let facts = first(inputs, CA)?;
    Ok(json!({
        "apiVersion": "v1",
        "data": pair(inputs, CA, "root-ca.key")?,
        "kind": "Secret",
        "metadata": {
            "annotations": rotation(&facts, "Signs the certificate of the machine-config-server."),
            "labels": {"auth.openshift.io/managed-certificate-type": "signer"},
            "name": "machine-config-server-ca",
            "namespace": NAMESPACE,
        },
        "type": "kubernetes.io/tls",
    }))
}

fn bundle(inputs: &Inputs<'_>) -> Result<Value, MakeError> {
    Ok(json!({
        "apiVersion": "v1",
        "data": {"ca-bundle.crt": inputs.text(CA)?},
        "kind": "ConfigMap",
        "metadata": {
            "annotations": {
                "openshift.io/description": "Every CA that a certificate of the machine-config-server may be from.",
                "openshift.io/owning-component": OWNER,
            },
            "labels": {"auth.openshift.io/managed-certificate-type": "ca-bundle"},
            "name": "machine-config-server-ca",
            "namespace": NAMESPACE,
        },
    }))
}

/// What rotation reads (library-go `operator/certrotation`), and who owns it.
fn rotation(facts: &CertificateFacts, description: &str) -> Value {
    json!({
        "auth.openshift.io/certificate-issuer": facts.issuer_common_name,
        "auth.openshift.io/certificate-not-after": facts.not_after.to_string(),
        "auth.openshift.io/certificate-not-before": facts.not_before.to_string(),
        "openshift.io/description": description,
        "openshift.io/owning-component": OWNER,
    })
}

fn pair(inputs: &Inputs<'_>, certificate: &str, key: &str) -> Result<Value, MakeError> {
    Ok(json!({
        "tls.crt": base64(inputs.file(certificate)?),
        "tls.key": base64(inputs.secrets.get(key)?.expose()),
    }))
}

fn first(inputs: &Inputs<'_>, path: &str) -> Result<CertificateFacts, MakeError> {
    let bad = |reason: String| MakeError::BadFile { path: path.to_owned(), reason, offset: None };
    let facts = inspect(inputs.text(path)?).map_err(|error| bad(error.to_string()))?;
    facts.into_iter().next().ok_or_else(|| bad("holds no certificate".to_owned()))
}

/// The owner's name, as the payload's own objects give it.
const OWNER: &str = "Machine Config Operator";

#[cfg(test)]
mod tests {
    use super::super::testing::{CERTIFICATE, World};
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use serde_json::json;

    const TLS: &str = "manifests/machine-config-server-tls-secret.yaml";
    const SIGNER: &str = "manifests/machine-config-server-ca-secret.yaml";
    const BUNDLE: &str = "manifests/machine-config-server-ca-configmap.yaml";

    #[test]
    fn up_to_4_18_there_is_only_the_plain_pair() {
        let world = World::new();
        assert!(!world.paths().iter().any(|path| [SIGNER, BUNDLE].contains(&path.as_str())));
        let secret = world.object(TLS);
        assert_eq!(secret["type"], "Opaque");
        assert_eq!(
            secret["metadata"]["annotations"],
            json!({"openshift.io/owning-component": "Machine Config Operator"})
        );
        let key = STANDARD.decode(secret["data"]["tls.key"].as_str().unwrap()).unwrap();
        assert_eq!(key, b"key of the machine-config-server");
        assert_eq!(world.mode(TLS), 0o600);
    }

    #[test]
    fn later_the_annotations_say_what_the_certificates_say() {
        let world = World::of_version("4.19.0");
        let secret = world.object(TLS);
        assert_eq!(secret["type"], "kubernetes.io/tls");
        let annotations = &secret["metadata"]["annotations"];
        for (name, value) in [
            ("certificate-hostnames", "192.168.126.10,api-int.ocp4.example.com"),
            ("certificate-issuer", "root-ca"),
            ("certificate-not-after", "2036-11-12T04:25:12Z"),
            ("certificate-not-before", "2026-11-15T04:25:12Z"),
        ] {
            assert_eq!(annotations[format!("auth.openshift.io/{name}")], value);
        }
        let label = |path| {
            world.object(path)["metadata"]["labels"]["auth.openshift.io/managed-certificate-type"].clone()
        };
        assert_eq!([label(TLS), label(SIGNER), label(BUNDLE)], ["target", "signer", "ca-bundle"]);
        assert_eq!(world.object(BUNDLE)["data"]["ca-bundle.crt"], CERTIFICATE);
        assert_eq!((world.mode(SIGNER), world.mode(BUNDLE)), (0o600, 0o644));
        let key = STANDARD.decode(world.object(SIGNER)["data"]["tls.key"].as_str().unwrap()).unwrap();
        assert_eq!(key, b"key of the root CA");
    }
}
