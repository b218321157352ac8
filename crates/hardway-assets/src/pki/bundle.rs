//! The table of all bundles: one row each.

/// A file of several signers' certificates.
#[derive(Clone, Copy, Debug)]
pub struct Bundle {
    /// File base: `pki/<name>.crt`.
    pub name: &'static str,
    /// Certificates, in order. Only the first certificate of each file is taken.
    pub members: &'static [&'static str],
}

/// Every bundle.
pub const BUNDLES: &[Bundle] = &[
    Bundle { name: "admin-kubeconfig-ca-bundle", members: &["admin-kubeconfig-signer"] },
    Bundle { name: "aggregator-ca-bundle", members: &["aggregator-signer"] },
    Bundle { name: "etcd-ca-bundle", members: &["etcd-signer"] },
    Bundle { name: "etcd-metrics-ca-bundle", members: &["etcd-metric-signer"] },
    Bundle {
        name: "kube-apiserver-complete-client-ca-bundle",
        members: &[
            "admin-kubeconfig-signer",
            "kubelet-signer",
            "kube-control-plane-signer",
            "kube-apiserver-to-kubelet-signer",
            "kubelet-bootstrap-kubeconfig-signer",
        ],
    },
    Bundle {
        name: "kube-apiserver-complete-server-ca-bundle",
        members: &[
            "kube-apiserver-localhost-signer",
            "kube-apiserver-service-network-signer",
            "kube-apiserver-lb-signer",
        ],
    },
    Bundle { name: "kube-apiserver-lb-ca-bundle", members: &["kube-apiserver-lb-signer"] },
    Bundle { name: "kube-apiserver-localhost-ca-bundle", members: &["kube-apiserver-localhost-signer"] },
    Bundle {
        name: "kube-apiserver-service-network-ca-bundle",
        members: &["kube-apiserver-service-network-signer"],
    },
    Bundle { name: "kube-apiserver-to-kubelet-ca-bundle", members: &["kube-apiserver-to-kubelet-signer"] },
    Bundle {
        name: "kube-control-plane-ca-bundle",
        members: &[
            "kube-control-plane-signer",
            "kube-apiserver-lb-signer",
            "kube-apiserver-localhost-signer",
            "kube-apiserver-service-network-signer",
        ],
    },
    Bundle {
        name: "kubelet-bootstrap-kubeconfig-ca-bundle",
        members: &["kubelet-bootstrap-kubeconfig-signer"],
    },
    Bundle { name: "kubelet-client-ca-bundle", members: &["kubelet-signer"] },
    Bundle { name: "kubelet-serving-ca-bundle", members: &["kubelet-signer"] },
];
