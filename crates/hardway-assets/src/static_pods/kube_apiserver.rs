//! The bootstrap API server's pod: `kube-apiserver-pod.yaml`.
//!
//! Facts: cluster-kube-apiserver-operator `bindata/bootkube/bootstrap-manifests/kube-apiserver-pod.yaml` and
//! `pkg/cmd/render/render.go`.

use serde_json::{Value, json};

use super::argument::{self, Facts, Flag};
use super::pod::{self, Access, CONFIGS, LOGS, Mount, Pod, SECRETS, SSL_CERTS, StaticPodFile};
use super::{kube_apiserver_config, upstream};
use crate::Cluster;
use crate::graph::{Inputs, MakeError, Source};
use crate::release_payload::ReleasePayload;

pub(super) const POD: StaticPodFile = StaticPodFile { name: "kube-apiserver-pod", sources, build };

/// What stands on the command line; everything else is in the configuration file.
pub(super) const FLAGS: &[Flag] = &[
    Flag::fixed("openshift-config", &["/etc/kubernetes/config/kube-apiserver-config.yaml"]),
    Flag::fixed("v", &["2"]),
    // Upstream asks the kubelet for the host's address. The inventory knows it, and it must be the one that etcd and
    // the etcd-endpoints object advertise, whatever other cards the host has.
    Flag::of("advertise-address", |facts| vec![facts.cluster.bootstrap_ip().to_string()]),
];

/// What is explained as `kube-apiserver-insecure-readyz --…`.
pub(super) const READYZ_FLAGS: &[Flag] = &[
    Flag::fixed("insecure-port", &["6080"]),
    Flag::fixed("delegate-url", &["https://localhost:6443/readyz"]),
];

/// The command line of an upstream kube-apiserver 1.31 that serves this cluster as far as upstream can.
pub fn upstream_arguments(cluster: &Cluster, release: &ReleasePayload) -> Result<Vec<String>, MakeError> {
    let facts = Facts::with_gates(cluster, release)?;
    let config = crate::yaml::write(&kube_apiserver_config::document(&facts));
    let converted = upstream::kube_apiserver(&config, &upstream::Replace::default())?;
    let rest = argument::arguments(&FLAGS[1..], &facts);
    Ok(converted.arguments.into_iter().chain(rest.iter().flat_map(argument::Argument::flags)).collect())
}

fn sources() -> Vec<Source> {
    vec![
        Source::image("cluster-kube-apiserver-operator"),
        Source::image("hyperkube"),
        Source::config("bootstrapInPlace"),
        Source::config("controlPlane.replicas"),
        Source::config("networking.serviceNetwork"),
        Source::inventory("hosts"),
    ]
}

fn build(inputs: &Inputs<'_>) -> Result<Value, MakeError> {
    let facts = Facts::new(inputs.cluster);
    let hyperkube = inputs.image("hyperkube")?;
    let operator = inputs.image("cluster-kube-apiserver-operator")?;
    let pod = Pod {
        name: "bootstrap-kube-apiserver".to_owned(),
        // That of the masters' API servers, so that in place the permanent pod takes over from this one.
        namespace: "openshift-kube-apiserver",
        labels: json!({"openshift.io/control-plane": "true", "openshift.io/component": "api"}),
        annotations: json!({
            "kubectl.kubernetes.io/default-logs-container": "kube-apiserver",
            "openshift.io/run-level": "0",
            "target.workload.openshift.io/management": r#"{"effect": "PreferredDuringScheduling"}"#,
        }),
    };
    // 70 s during which load balancers drain, 60 s for requests in flight, and a little. One node has nobody to
    // drain to.
    let grace = if inputs.cluster.is_single_node() { 15 } else { 135 };
    Ok(pod.object(json!({
        "initContainers": [setup(hyperkube)],
        "containers": [server(hyperkube, &facts), insecure_readyz(operator, &facts)],
        "terminationGracePeriodSeconds": grace,
        "volumes": pod::volumes(&[&SECRETS, &CONFIGS, &SSL_CERTS, &LOGS, &AUDIT]),
    })))
}

fn server(image: &str, facts: &Facts<'_>) -> Value {
    json!({
        "name": "kube-apiserver",
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["hyperkube", "kube-apiserver"],
        "args": argument::flags(FLAGS, facts),
        "ports": [{"containerPort": 6443}],
        "resources": pod::requests("1Gi", "265m"),
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": pod::mounts(&[&SECRETS, &CONFIGS, &SSL_CERTS, &LOGS, &AUDIT]),
        // etcd is left out of liveness: restarting the API server does not heal etcd.
        "livenessProbe": probe("livez?exclude=etcd", 10, 3),
        "readinessProbe": probe("readyz", 5, 3),
        "startupProbe": probe("livez", 5, 30),
    })
}

/// Answers load balancers that can only ask over plain HTTP.
fn insecure_readyz(image: &str, facts: &Facts<'_>) -> Value {
    json!({
        "name": "kube-apiserver-insecure-readyz",
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["cluster-kube-apiserver-operator", "insecure-readyz"],
        "args": argument::flags(READYZ_FLAGS, facts),
        "ports": [{"containerPort": 6080}],
        "resources": pod::requests("50Mi", "5m"),
        "terminationMessagePolicy": "FallbackToLogsOnError",
    })
}

/// The audit log tells who did what: only root may read it, also when an earlier run left it open.
fn setup(image: &str) -> Value {
    let script = "umask 077; cd /var/log/kube-apiserver; chmod 700 .; : >> audit.log; chmod 600 ./*";
    json!({
        "name": "setup",
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["/bin/sh", "-ec", script],
        "resources": pod::requests("50Mi", "5m"),
        "securityContext": {"privileged": true},
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": pod::mounts(&[&AUDIT]),
    })
}

fn probe(path: &str, period: u32, failures: u32) -> Value {
    json!({
        "httpGet": {"scheme": "HTTPS", "port": 6443, "path": path},
        "initialDelaySeconds": 0,
        "periodSeconds": period,
        "timeoutSeconds": 10,
        "successThreshold": 1,
        "failureThreshold": failures,
    })
}

const AUDIT: Mount = Mount {
    name: "audit-dir",
    host: "/var/log/kube-apiserver",
    container: "/var/log/kube-apiserver",
    access: Access::Write,
};
