//! Which certificates and keys the bootstrap host gets: what its control plane shows, and the signers in use there.
//!
//! Whoever holds this config can make certificates: eight signers come with their keys, as openshift-install sends them
//! (installer `pkg/asset/ignition/bootstrap/common.go`). The controller manager signs kubelet certificates with
//! kubelet-signer, and the cluster's operators go on signing with all of them but aggregator-ca. They adopt each from
//! a Secret in `/opt/openshift/operator-seeds`, and etcd's two besides; an operator that does not find its signer makes
//! a new one, and what was signed before fits no more.
//!
//! Not here, because nothing on the host signs with them: the keys of root-ca, admin-kubeconfig-signer and
//! kubelet-bootstrap-kubeconfig-signer. (Releases whose machine-config-operator rotates its CA get root-ca's key as a
//! manifest.) The admin's client key is inside the kubeconfigs only.

/// Certificate and key, into `/opt/openshift/tls`.
pub(super) const PAIRS: &[&str] = &[
    "aggregator-ca",
    "aggregator-client",
    "aggregator-signer",
    "apiserver-proxy",
    "etcd-client",
    "journal-gatewayd",
    "kube-apiserver-internal-lb-server",
    "kube-apiserver-lb-server",
    "kube-apiserver-lb-signer",
    "kube-apiserver-localhost-server",
    "kube-apiserver-localhost-signer",
    "kube-apiserver-service-network-server",
    "kube-apiserver-service-network-signer",
    "kube-apiserver-to-kubelet-client",
    "kube-apiserver-to-kubelet-signer",
    "kube-control-plane-kube-controller-manager-client",
    "kube-control-plane-kube-scheduler-client",
    "kube-control-plane-signer",
    "kubelet-client",
    "kubelet-signer",
    "machine-config-server",
];

/// Certificates only, into `/opt/openshift/tls`.
pub(super) const CERTIFICATES: &[&str] = &[
    "admin-kubeconfig-ca-bundle",
    "aggregator-ca-bundle",
    "etcd-ca-bundle",
    "kube-apiserver-complete-client-ca-bundle",
    "kube-apiserver-complete-server-ca-bundle",
    "kube-apiserver-lb-ca-bundle",
    "kube-apiserver-localhost-ca-bundle",
    "kube-apiserver-service-network-ca-bundle",
    "kube-apiserver-to-kubelet-ca-bundle",
    "kube-control-plane-ca-bundle",
    "kubelet-bootstrap-kubeconfig-ca-bundle",
    "kubelet-client-ca-bundle",
    "kubelet-serving-ca-bundle",
    "root-ca",
];

/// Public and private key of what signs service-account tokens, into `/opt/openshift/tls`.
pub(super) const KEY_PAIRS: &[&str] = crate::pki::catalogue::KEY_PAIRS;

/// Certificate and key of the etcd member on this host, into etcd's own folder.
pub(super) fn etcd_pairs(node_name: &str) -> [String; 3] {
    ["etcd-peer", "etcd-serving", "etcd-serving-metrics"].map(|kind| format!("{kind}-{node_name}"))
}
