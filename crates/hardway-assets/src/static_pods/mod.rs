//! The temporary control plane: static pods of the bootstrap machine, and their configuration files.
//!
//! ```text
//! etcd                      etcd-member-pod.yaml
//! kube_apiserver            kube-apiserver-pod.yaml, kube-apiserver-config.yaml
//! kube_controller_manager   kube-controller-manager-pod.yaml, -config.yaml, cluster-policy-controller-config.yaml
//! kube_scheduler            kube-scheduler-pod.yaml
//! cluster_version_operator  cluster-version-operator-pod.yaml
//! upstream                  a configuration file → the flags of the upstream program
//! ```
//!
//! In: install-config, inventory, release. Out: `static-pods/*.yaml`. On the host the pods see
//! `/etc/kubernetes/bootstrap-secrets` as `/etc/kubernetes/secrets` and `/etc/kubernetes/bootstrap-configs` as
//! `/etc/kubernetes/config`, as with openshift-install. Every flag, key and variable is a row of a table.

mod argument;
mod cluster_version_operator;
mod etcd;
pub mod kube_apiserver;
mod kube_apiserver_config;
pub mod kube_controller_manager;
mod kube_scheduler;
mod pod;
#[cfg(test)]
mod tests;
pub mod upstream;

pub use argument::Argument;

use argument::{Flag, Setting, Variable};

use crate::graph::Asset;

/// The assets of this module.
pub fn assets() -> Vec<Box<dyn Asset>> {
    vec![
        Box::new(etcd::POD),
        Box::new(kube_apiserver::POD),
        Box::new(kube_apiserver_config::CONFIG),
        Box::new(kube_controller_manager::POD),
        Box::new(kube_controller_manager::CONFIG),
        Box::new(kube_controller_manager::POLICY_CONFIG),
        Box::new(kube_scheduler::POD),
        Box::new(cluster_version_operator::POD),
    ]
}

/// Every flag, configuration key and environment variable that can occur, as (component, name). Each is explained.
pub fn arguments() -> Vec<(&'static str, String)> {
    let rows: [(&str, &[Flag]); 9] = [
        ("cluster-policy-controller", kube_controller_manager::POLICY_FLAGS),
        ("cluster-version-operator", cluster_version_operator::FLAGS),
        ("etcd", etcd::FLAGS),
        ("kube-apiserver", kube_apiserver::FLAGS),
        ("kube-apiserver", kube_apiserver_config::ARGUMENTS),
        ("kube-apiserver-insecure-readyz", kube_apiserver::READYZ_FLAGS),
        ("kube-controller-manager", kube_controller_manager::FLAGS),
        ("kube-controller-manager", kube_controller_manager::ARGUMENTS),
        ("kube-scheduler", kube_scheduler::FLAGS),
    ];
    let variables: [(&str, &[Variable]); 4] = [
        ("cluster-policy-controller", kube_controller_manager::POLICY_ENVIRONMENT),
        ("cluster-version-operator", cluster_version_operator::ENVIRONMENT),
        ("etcd", etcd::ENVIRONMENT),
        ("etcdctl", etcd::ETCDCTL_ENVIRONMENT),
    ];
    let settings: [(&str, &[Setting]); 2] = [
        ("cluster-policy-controller", kube_controller_manager::POLICY_SETTINGS),
        ("kube-apiserver", kube_apiserver_config::SETTINGS),
    ];
    let mut all = vec![("cluster-version-operator", "--release-image".to_owned())];
    all.extend(
        rows.iter().flat_map(|(who, rows)| rows.iter().map(move |row| (*who, format!("--{}", row.name)))),
    );
    all.extend(
        variables.iter().flat_map(|(who, rows)| rows.iter().map(move |row| (*who, row.name.to_owned()))),
    );
    all.extend(settings.iter().flat_map(|(who, rows)| rows.iter().map(move |row| (*who, row.name()))));
    all.extend(KUBELET_FLAGS.iter().map(|name| ("kubelet", format!("--{name}"))));
    all.sort();
    all
}

/// The flags of the bootstrap machine's kubelet, explained as `kubelet --…`. It has no kubeconfig on purpose: it runs the static pods and
/// registers no node, so no Deployment can land on a machine that is about to go. Its command line is written in `kubelet.sh`, because part of
/// it is only known there (installer `data/data/bootstrap/files/usr/local/bin/kubelet.sh.template`).
const KUBELET_FLAGS: &[&str] = &[
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
