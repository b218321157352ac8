//! The Secrets and ConfigMaps that hand one value on, or none.

use serde_json::{Value, json};

use crate::graph::{Facet, Inputs, MakeError, Source};
use crate::object_file::{ObjectFile, base64, fields};
use crate::release_payload::{ReleasePayload, VersionContract};

/// `openshift/openshift-install-manifests.yaml`: the ConfigMap openshift-config/openshift-install-manifests.
///
/// Says which program made the manifests, and on whose behalf. Telemetry and support read it.
pub(super) fn install_manifests() -> ObjectFile {
    ObjectFile::new("install-manifests", "openshift/openshift-install-manifests.yaml", [], |_| {
        Ok(json!({
            "apiVersion": "v1",
            "data": {"invoker": "hardway", "version": concat!("hardway v", env!("CARGO_PKG_VERSION"))},
            "kind": "ConfigMap",
            "metadata": {"name": "openshift-install-manifests", "namespace": "openshift-config"},
        }))
    })
}

/// `manifests/kube-cloud-config.yaml`: the Secret kube-system/kube-cloud-cfg.
///
/// A cloud configuration with nothing in it: platform none has no cloud, but a reader may look for the object.
pub(super) fn kube_cloud_config() -> ObjectFile {
    ObjectFile::new("kube-cloud-config", "manifests/kube-cloud-config.yaml", [], |_| {
        Ok(json!({
            "apiVersion": "v1",
            "data": {"config": ""},
            "kind": "Secret",
            "metadata": {"name": "kube-cloud-cfg", "namespace": "kube-system"},
            "type": "Opaque",
        }))
    })
}

const HASH: &str = "kubeadmin-password.hash";

/// `openshift/99_kubeadmin-password-secret.yaml`: the Secret kube-system/kubeadmin.
///
/// The bcrypt hash of the first user's password. The password itself never enters the cluster.
pub(super) fn kubeadmin_password() -> ObjectFile {
    ObjectFile::new(
        "kubeadmin-secret",
        "openshift/99_kubeadmin-password-secret.yaml",
        [Source::Secret(HASH.to_owned())],
        build_kubeadmin_password,
    )
    .secret()
}

fn build_kubeadmin_password(inputs: &Inputs<'_>) -> Result<Value, MakeError> {
    Ok(json!({
        "apiVersion": "v1",
        "data": {"kubeadmin": base64(inputs.secrets.get(HASH)?.expose())},
        "kind": "Secret",
        "metadata": {"name": "kubeadmin", "namespace": "kube-system"},
    }))
}

/// `manifests/openshift-config-secret-pull-secret.yaml`: the Secret openshift-config/pull-secret.
///
/// What every node logs in to registries with.
pub(super) fn pull_secret() -> ObjectFile {
    ObjectFile::new(
        "pull-secret",
        "manifests/openshift-config-secret-pull-secret.yaml",
        fields(["pullSecret"]),
        build_pull_secret,
    )
    .secret()
}

fn build_pull_secret(inputs: &Inputs<'_>) -> Result<Value, MakeError> {
    Ok(json!({
        "apiVersion": "v1",
        "data": {".dockerconfigjson": base64(inputs.cluster.config.pull_secret.expose())},
        "kind": "Secret",
        "metadata": {"name": "pull-secret", "namespace": "openshift-config"},
        "type": "kubernetes.io/dockerconfigjson",
    }))
}

/// `manifests/kube-system-configmap-root-ca.yaml`: the ConfigMap kube-system/root-ca.
///
/// The CA that signed the machine-config-server's certificate, for the operator that hands it to nodes.
pub(super) fn root_ca() -> ObjectFile {
    ObjectFile::new(
        "root-ca-configmap",
        "manifests/kube-system-configmap-root-ca.yaml",
        [Source::file("pki/root-ca.crt")],
        build_root_ca,
    )
}

fn build_root_ca(inputs: &Inputs<'_>) -> Result<Value, MakeError> {
    Ok(json!({
        "apiVersion": "v1",
        "data": {"ca.crt": inputs.text("pki/root-ca.crt")?},
        "kind": "ConfigMap",
        "metadata": {"name": "root-ca", "namespace": "kube-system"},
    }))
}

/// `openshift/90-okd-sca-pull-disable.yaml`: the Secret openshift-config/support, on OKD alone.
///
/// Keeps the insights operator from asking for a subscription that OKD does not have. openshift-install carries the template,
/// and no asset of 4.16 to 4.20 writes it.
pub(super) fn okd_support(release: &ReleasePayload) -> Option<ObjectFile> {
    release.promises(VersionContract::is_okd).then(|| {
        let sources = [Source::Release(Facet::Version)];
        ObjectFile::new("okd-support", "openshift/90-okd-sca-pull-disable.yaml", sources, |_| {
            Ok(json!({
                "apiVersion": "v1",
                "data": {"scaPullDisabled": base64("true")},
                "kind": "Secret",
                "metadata": {"name": "support", "namespace": "openshift-config"},
                "type": "Opaque",
            }))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::World;

    #[test]
    fn okd_asks_for_no_subscription() {
        let path = "openshift/90-okd-sca-pull-disable.yaml";
        let secret = World::of_version("4.18.0-okd-scos.3").object(path);
        assert_eq!(secret["metadata"]["namespace"], "openshift-config");
        assert_eq!(
            (&secret["metadata"]["name"], &secret["data"]["scaPullDisabled"]),
            (&"support".into(), &"dHJ1ZQ==".into())
        );
        assert!(World::of_version("4.18.1").paths().iter().all(|made| made != path));
    }
}
