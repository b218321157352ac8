//! What the API server operator finds: the signers and bundles that the bootstrap API server and every kubeconfig use,
//! and the keys of service-account tokens (cluster-kube-apiserver-operator `bindata/bootkube/manifests`).

use super::cluster_role::{Binding, PolicyRule, Role, Subject};
use super::seed::{self, NamespacedName, config_map_of_files, object};
use crate::graph::{Facet, Source};
use crate::object_file::{ObjectFile, base64};
use crate::rotation::{self, RotatedKind, private_key, tls_secret};

pub(super) fn seeds() -> Vec<ObjectFile> {
    let mut seeds = vec![ROLE.seed(), binding(), bound_signing_key()];
    seeds.extend(
        BUNDLES.iter().map(|(file, named, owner, files)| config_map_of_files(file, *named, owner, files)),
    );
    seeds.extend(SIGNERS.iter().map(|(file, secret, certificate)| signer(file, secret, certificate)));
    seeds
}

/// What the API server may ask kubelets for.
const ROLE: Role = Role {
    file: "cluster-role-kube-apiserver",
    name: "kube-apiserver",
    annotations: &[],
    rules: &[PolicyRule {
        groups: &[""],
        resources: &["nodes/proxy"],
        names: &[],
        verbs: &["get", "create"],
    }],
};

const BINDING: Binding = Binding {
    file: "cluster-role-binding-kube-apiserver",
    name: "kube-apiserver",
    annotations: &[],
    role: "kube-apiserver",
    subjects: &[Subject::User("system:kube-apiserver")],
};

const OLD_BINDING: Binding = Binding {
    subjects: &[Subject::User("kube-apiserver"), Subject::User("system:kube-apiserver")],
    ..BINDING
};

fn binding() -> ObjectFile {
    seed::public(BINDING.file, vec![Source::Release(Facet::Version)], |inputs| {
        let is_old = inputs.version_contract()?.has_plain_api_server_user();
        Ok(if is_old { OLD_BINDING.object() } else { BINDING.object() })
    })
}

type Bundle = (&'static str, NamespacedName, &'static str, &'static [(&'static str, &'static str)]);

/// File, object, owner, and which file of `pki/` is under which key.
const BUNDLES: &[Bundle] = &[
    (
        "configmap-admin-kubeconfig-client-ca",
        NamespacedName { namespace: "openshift-config", name: "admin-kubeconfig-client-ca" },
        "kube-apiserver",
        &[("ca-bundle.crt", "admin-kubeconfig-ca-bundle.crt")],
    ),
    (
        "configmap-csr-controller-ca",
        NamespacedName { namespace: "openshift-config-managed", name: "csr-controller-ca" },
        "kube-controller-manager",
        &[("ca-bundle.crt", "kubelet-client-ca-bundle.crt")],
    ),
    (
        "configmap-kubelet-bootstrap-kubeconfig-ca",
        NamespacedName { namespace: "openshift-config-managed", name: "kubelet-bootstrap-kubeconfig" },
        "kube-apiserver",
        &[("ca-bundle.crt", "kubelet-bootstrap-kubeconfig-ca-bundle.crt")],
    ),
    (
        "configmap-sa-token-signing-certs",
        NamespacedName { namespace: "openshift-config-managed", name: "sa-token-signing-certs" },
        "",
        &[("service-account-001.pub", "service-account.pub")],
    ),
];

const OPERATOR: &str = "openshift-kube-apiserver-operator";

/// File, Secret, and the certificate in it.
const SIGNERS: &[(&str, &str, &str)] = &[
    ("secret-aggregator-client-signer", "aggregator-client-signer", "aggregator-signer"),
    ("secret-control-plane-client-signer", "kube-control-plane-signer", "kube-control-plane-signer"),
    (
        "secret-kube-apiserver-to-kubelet-signer",
        "kube-apiserver-to-kubelet-signer",
        "kube-apiserver-to-kubelet-signer",
    ),
    ("secret-loadbalancer-serving-signer", "loadbalancer-serving-signer", "kube-apiserver-lb-signer"),
    ("secret-localhost-serving-signer", "localhost-serving-signer", "kube-apiserver-localhost-signer"),
    (
        "secret-service-network-serving-signer",
        "service-network-serving-signer",
        "kube-apiserver-service-network-signer",
    ),
];

fn signer(file: &'static str, secret: &'static str, certificate: &'static str) -> ObjectFile {
    seed::secret(file, rotation::sources(certificate), move |inputs| {
        tls_secret(inputs, (OPERATOR, secret), certificate, RotatedKind::Signer, "kube-apiserver")
    })
}

/// The key that the masters' API servers sign tokens with. The bootstrap one uses it already, so that either accepts
/// the other's tokens while both are behind the load balancer.
fn bound_signing_key() -> ObjectFile {
    const KEY: &str = "bound-service-account-signing-key";
    let sources = vec![Source::file(format!("pki/{KEY}.pub")), Source::key(KEY)];
    seed::secret("secret-bound-sa-token-signing-key", sources, |inputs| {
        let mut object = object("Secret", OPERATOR, "next-bound-service-account-signing-key");
        object["data"]["service-account.key"] = private_key(inputs, KEY)?;
        object["data"]["service-account.pub"] = base64(inputs.text(&format!("pki/{KEY}.pub"))?).into();
        Ok(object)
    })
}
