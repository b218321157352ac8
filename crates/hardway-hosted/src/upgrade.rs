//! Upgrades in place, which on platform None nobody else drives.
//!
//! What HyperShift's upgrader does for machines it made (openshift/hypershift
//! `control-plane-operator/hostedclusterconfigoperator/controllers/inplaceupgrader`) works for any node: the config in a ConfigMap, an
//! annotation, and a pod of the machine-config-daemon, which asks the hosted cluster's drainer for room before it reboots.

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Pod};
use serde_json::json;

use crate::names;
use crate::node_view::NodeView;

/// How one node stands to the pool's config.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigState {
    /// It has it, and nothing is left to do.
    Current,
    /// It has it; the daemon's pod can go.
    Finished,
    /// It has another, and was not asked yet.
    Outdated,
    /// It was asked, and works on it.
    Underway,
    /// The daemon gave up.
    Degraded(String),
}

/// How a node stands. `booted` is the config it was booted with: a node that was never upgraded says nothing itself.
pub fn config_state(node: &NodeView, booted: Option<&str>, wanted: &str, is_underway: bool) -> ConfigState {
    let has = node.current_config.as_deref().or(booted);
    let is_asked = node.desired_config.as_deref() == Some(wanted);
    let is_done = node.daemon_state.as_deref() == Some("Done") && node.is_drain_settled;
    match (has == Some(wanted), is_asked) {
        (true, true) if is_underway && is_done => ConfigState::Finished,
        (true, true) if is_underway => ConfigState::Underway,
        (true, _) => ConfigState::Current,
        (false, true) if node.daemon_state.as_deref() == Some("Degraded") => ConfigState::Degraded(
            node.daemon_reason.clone().unwrap_or_else(|| "no reason is given".to_owned()),
        ),
        (false, true) => ConfigState::Underway,
        (false, false) => ConfigState::Outdated,
    }
}

/// Whether one that is underway has been so for too long.
pub fn is_stuck(since: Option<Timestamp>, now: Timestamp, limit: SignedDuration) -> bool {
    since.is_some_and(|since| now.duration_since(since) >= limit)
}

/// The namespace of a pool's upgrades. The daemon may do anything on its node, so its namespace says so.
pub fn namespace(node_pool: &str) -> Namespace {
    let privileged = ["enforce", "audit", "warn"]
        .map(|mode| (format!("pod-security.kubernetes.io/{mode}"), "privileged".to_owned()));
    let mut labels: std::collections::BTreeMap<String, String> = privileged.into();
    labels.insert("security.openshift.io/scc.podSecurityLabelSync".to_owned(), "false".to_owned());
    Namespace {
        metadata: kube::api::ObjectMeta {
            name: Some(names::upgrade(node_pool)),
            labels: Some(labels),
            ..Default::default()
        },
        ..Namespace::default()
    }
}

/// The config that nodes are to have, as it lies in the token Secret: base64 of gzip.
pub fn config_map(node_pool: &str, config_hash: &str, payload: &[u8]) -> ConfigMap {
    let name = names::upgrade(node_pool);
    let text = String::from_utf8_lossy(payload).into_owned();
    ConfigMap {
        metadata: kube::api::ObjectMeta {
            name: Some(name.clone()),
            namespace: Some(name),
            ..Default::default()
        },
        data: Some([("config".to_owned(), text), ("hash".to_owned(), config_hash.to_owned())].into()),
        ..ConfigMap::default()
    }
}

/// The name of the daemon's pod for a node.
pub fn daemon_pod_name(node: &str) -> String {
    format!("machine-config-daemon-{node}")
}

/// The daemon's pod for a node.
///
/// # Panics
/// Never: the object is written out below.
pub fn daemon_pod(node_pool: &str, node: &str, image: &str) -> Pod {
    let namespace = names::upgrade(node_pool);
    let desired = "/etc/machine-config-daemon-desired-config";
    let pod = json!({
        "metadata": {"name": daemon_pod_name(node), "namespace": namespace},
        "spec": {
            "containers": [{
                "name": "machine-config-daemon", "image": image,
                "command": ["/usr/bin/machine-config-daemon"],
                "args": ["start", format!("--node-name={node}"), "--root-mount=/rootfs",
                    "--kubeconfig=/var/lib/kubelet/kubeconfig", format!("--desired-configmap={desired}")],
                "securityContext": {"privileged": true, "runAsUser": 0},
                "volumeMounts": [{"name": "rootfs", "mountPath": "/rootfs"},
                    {"name": "desired-config-mount", "mountPath": format!("/rootfs{desired}")}],
            }],
            "hostNetwork": true, "hostPID": true, "terminationGracePeriodSeconds": 600, "restartPolicy": "OnFailure",
            "enableServiceLinks": false, "automountServiceAccountToken": false,
            "tolerations": [{"operator": "Exists"}],
            "nodeSelector": {"kubernetes.io/hostname": node},
            "volumes": [{"name": "rootfs", "hostPath": {"path": "/"}},
                {"name": "desired-config-mount", "configMap": {"name": namespace}}],
        },
    });
    serde_json::from_value(pod).expect("a pod that is written out here")
}
