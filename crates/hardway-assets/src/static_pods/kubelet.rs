//! The flags of the bootstrap machine's kubelet.
//!
//! It has no kubeconfig on purpose: it runs the static pods and registers no node, so no Deployment can land on a
//! machine that is about to go (installer `data/data/bootstrap/files/usr/local/bin/kubelet.sh.template`).

use super::argument::{self, Argument, Facts, Row};
use crate::Cluster;

/// The command line for one cluster.
pub fn arguments(cluster: &Cluster) -> Vec<Argument> {
    argument::arguments(FLAGS, &Facts::new(cluster))
}

/// What is explained as `kubelet --…`. The pause image is CRI-O's to know, so there is no flag for it here.
pub(super) const FLAGS: &[Row] = &[
    Row::fixed("anonymous-auth", &["false"]),
    Row::fixed("container-runtime-endpoint", &["/var/run/crio/crio.sock"]),
    Row::fixed("runtime-request-timeout", &["10m"]),
    Row::of("node-ip", |facts| vec![facts.cluster.bootstrap_ip().to_string()]),
    Row::fixed("pod-manifest-path", &["/etc/kubernetes/manifests"]),
    Row::fixed("minimum-container-ttl-duration", &["6m0s"]),
    Row::fixed("cluster-domain", &["cluster.local"]),
    Row::fixed("cgroup-driver", &["systemd"]),
    Row::fixed("serialize-image-pulls", &["false"]),
    Row::fixed("v", &["2"]),
    Row::fixed("volume-plugin-dir", &["/etc/kubernetes/kubelet-plugins/volume/exec"]),
];
