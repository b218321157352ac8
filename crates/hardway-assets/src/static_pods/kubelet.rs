//! The flags of the bootstrap machine's kubelet.
//!
//! It has no kubeconfig on purpose: it runs the static pods and registers no node, so no Deployment can land on a
//! machine that is about to go. Its command line is written in `kubelet.sh`, because part of it is only known there.

/// What is explained as `kubelet --…` (installer `data/data/bootstrap/files/usr/local/bin/kubelet.sh.template`).
pub const FLAGS: &[&str] = &[
    "anonymous-auth",
    "cgroup-driver",
    "cluster-domain",
    "container-runtime-endpoint",
    "minimum-container-ttl-duration",
    "node-ip",
    "pod-infra-container-image",
    "pod-manifest-path",
    "runtime-request-timeout",
    "serialize-image-pulls",
    "v",
    "volume-plugin-dir",
];
