//! Which certificates and keys the bootstrap host gets: what its control plane needs, and nothing that could make more.
//!
//! No admin client key outside its kubeconfigs, no root CA key, no bootstrap-kubeconfig signer key.

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
