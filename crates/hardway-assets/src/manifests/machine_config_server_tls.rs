//! `manifests/machine-config-server-tls-secret.yaml`: the certificate and key that nodes boot by; and its CA, in the
//! releases whose machine-config-operator issues that certificate again by itself.
//!
//! There the three objects carry the annotations of certificate rotation. One without them counts as expired and is
//! made anew, with a CA that no pointer config trusts.

use serde_json::{Value, json};

use crate::graph::{Facet, Inputs, MakeError, Source};
use crate::object_file::ObjectFile;
use crate::pki;
use crate::release_payload::{ReleasePayload, VersionContract};
use crate::rotation::{self, DESCRIPTION, OWNER, RotatedKind, labelled, pair};

const LEAF: &str = "machine-config-server";
const CA: &str = "root-ca";
const NAMESPACE: &str = "openshift-machine-config-operator";

/// The Secret openshift-machine-config-operator/machine-config-server-tls.
pub(super) fn tls_secret() -> ObjectFile {
    let mut sources = rotation::sources(LEAF);
    sources.push(Source::Release(Facet::Version));
    ObjectFile::new(
        "machine-config-server-tls-secret",
        "manifests/machine-config-server-tls-secret.yaml",
        sources,
        leaf,
    )
    .secret()
}

/// The Secret and the ConfigMap machine-config-server-ca, where the operator rotates.
pub(super) fn rotated_ca(release: &ReleasePayload) -> Vec<ObjectFile> {
    if !release.promises(VersionContract::ships_machine_config_server_ca) {
        return Vec::new();
    }
    let signer = ObjectFile::new(
        "machine-config-server-ca-secret",
        "manifests/machine-config-server-ca-secret.yaml",
        rotation::sources(CA),
        signer,
    );
    let bundle = ObjectFile::new(
        "machine-config-server-ca-configmap",
        "manifests/machine-config-server-ca-configmap.yaml",
        [Source::file(pki::path(CA))],
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
        "data": pair(inputs, LEAF)?,
        "kind": "Secret",
        "metadata": {
            "annotations": { OWNER: COMPONENT },
            "name": "machine-config-server-tls",
            "namespace": NAMESPACE,
        },
        "type": "Opaque",
    }))
}

fn rotated_leaf(inputs: &Inputs<'_>) -> Result<Value, MakeError> {
    let place = (NAMESPACE, "machine-config-server-tls");
    let mut object = rotation::tls_secret(inputs, place, LEAF, RotatedKind::Serving, COMPONENT)?;
    object["metadata"]["annotations"][DESCRIPTION] =
        "What the machine-config-server proves itself with to booting nodes.".into();
    Ok(labelled(object, "target"))
}

fn signer(inputs: &Inputs<'_>) -> Result<Value, MakeError> {
    let place = (NAMESPACE, "machine-config-server-ca");
    let mut object = rotation::tls_secret(inputs, place, CA, RotatedKind::Signer, COMPONENT)?;
    object["metadata"]["annotations"][DESCRIPTION] =
        "Signs the certificate of the machine-config-server.".into();
    Ok(labelled(object, "signer"))
}

fn bundle(inputs: &Inputs<'_>) -> Result<Value, MakeError> {
    let object = json!({
        "apiVersion": "v1",
        "data": {"ca-bundle.crt": inputs.text(&pki::path(CA))?},
        "kind": "ConfigMap",
        "metadata": {
            "annotations": {
                DESCRIPTION: "Every CA that a certificate of the machine-config-server may be from.",
                OWNER: COMPONENT,
            },
            "name": "machine-config-server-ca",
            "namespace": NAMESPACE,
        },
    });
    Ok(labelled(object, "ca-bundle"))
}

/// The owner's name, as the payload's own objects give it.
const COMPONENT: &str = "Machine Config Operator";

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
