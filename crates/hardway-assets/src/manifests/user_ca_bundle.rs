//! `manifests/user-ca-bundle-config.yaml`: the ConfigMap openshift-config/user-ca-bundle.

use serde_json::{Value, json};

use crate::graph::{Inputs, MakeError};
use crate::install_config::InstallConfig;
use crate::object_file::{ObjectFile, fields};
use hardway_base::pem;

/// The name of the ConfigMap, which the Proxy object refers to.
pub(super) const NAME: &str = "user-ca-bundle";

/// The additional trust bundle, whatever its policy.
pub(super) fn user_ca_bundle(config: &InstallConfig) -> Option<ObjectFile> {
    (!config.additional_trust_bundle.is_empty()).then(|| {
        ObjectFile::new(
            "user-ca-bundle",
            "manifests/user-ca-bundle-config.yaml",
            fields(["additionalTrustBundle"]),
            build,
        )
    })
}

fn build(inputs: &Inputs<'_>) -> Result<Value, MakeError> {
    Ok(json!({
        "apiVersion": "v1",
        "data": {"ca-bundle.crt": re_encoded(&inputs.cluster.config.additional_trust_bundle)?},
        "kind": "ConfigMap",
        "metadata": {
            "annotations": {"openshift.io/owning-component": "End User"},
            "name": NAME,
            "namespace": "openshift-config",
        },
    }))
}

/// The certificates and nothing else: remarks that bundles carry between them are dropped (installer
/// `manifests/additionaltrustbundleconfig.go`).
fn re_encoded(bundle: &str) -> Result<String, MakeError> {
    let mut text = String::new();
    let mut is_inside = false;
    for line in bundle.lines().map(str::trim) {
        is_inside |= line.starts_with("-----BEGIN ");
        if is_inside {
            text.push_str(line);
            text.push('\n');
        }
        is_inside &= !line.starts_with("-----END ");
    }
    let blocks = pem::decode(&text).unwrap_or_default();
    if blocks.is_empty() {
        return Err(MakeError::BadFile {
            path: "install-config.yaml".to_owned(),
            reason: "unable to parse certificate, please check the additionalTrustBundle section of install-config.yaml"
                .to_owned(),
            offset: None,
        });
    }
    Ok(blocks.iter().map(|block| pem::encode(&block.label, &block.der)).collect())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{CERTIFICATE, World};
    use crate::graph::Asset as _;

    const PATH: &str = "manifests/user-ca-bundle-config.yaml";

    #[test]
    fn is_there_only_with_a_bundle() {
        assert!(!World::new().paths().contains(&PATH.to_owned()));
    }

    #[test]
    fn remarks_between_certificates_are_dropped() {
        let mut world = World::new();
        world.cluster.config.additional_trust_bundle =
            format!("# ours\n{CERTIFICATE}\n# theirs\n{}\n", CERTIFICATE.replace('\n', "\r\n"));
        let bundle = world.object(PATH)["data"]["ca-bundle.crt"].clone();
        assert_eq!(bundle, CERTIFICATE.repeat(2));
    }

    #[test]
    fn a_bundle_without_a_certificate_is_refused_in_the_installers_words() {
        let mut world = World::new();
        world.cluster.config.additional_trust_bundle = "hello".to_owned();
        let manifest = super::user_ca_bundle(&world.cluster.config).unwrap();
        let error = manifest.make(&world.inputs()).unwrap_err().to_string();
        assert!(error.contains("please check the additionalTrustBundle section"), "{error}");
    }
}
