//! The bootstrap cluster version operator: `cluster-version-operator-pod.yaml`.
//!
//! It creates everything of the release, itself included: its own Deployment takes over on a master when this pod is
//! removed (cluster-version-operator `bootstrap/bootstrap-pod.yaml`).

use serde_json::{Value, json};

use super::argument::{self, Facts, Flag, Variable};
use super::pod::{self, Access, Mount, Pod, SSL_CERTS, StaticPodFile};
use crate::graph::{Facet, Inputs, MakeError, Source};
use crate::ignition::KUBECONFIG_PATH;

pub(super) const POD: StaticPodFile = StaticPodFile {
    name: "cluster-version-operator-pod",
    sources: || vec![Source::Release(Facet::Image), Source::config("networking.clusterNetwork")],
    build,
};

/// What is explained as `cluster-version-operator --…`, but for `--release-image`, which needs the release.
pub(super) const FLAGS: &[Flag] = &[
    Flag::fixed("enable-auto-update", &["false"]),
    Flag::fixed("kubeconfig", &[KUBECONFIG_PATH]),
    Flag::fixed("listen", &[""]),
    Flag::fixed("v", &["2"]),
];

/// Its environment.
pub(super) const ENVIRONMENT: &[Variable] = &[
    Variable::fixed("CLUSTER_PROFILE", "self-managed-high-availability"),
    Variable::of("KUBERNETES_SERVICE_HOST", |facts| {
        Some(if facts.is_ipv6_only() { "::1" } else { "127.0.0.1" }.to_owned())
    }),
    Variable::fixed("KUBERNETES_SERVICE_PORT", "6443"),
    Variable::field("NODE_NAME", "spec.nodeName"),
];

fn build(inputs: &Inputs<'_>) -> Result<Value, MakeError> {
    let facts = Facts::new(inputs.cluster);
    let image = &inputs.release.image;
    let mut args = vec!["start".to_owned(), format!("--release-image={image}")];
    args.extend(argument::flags(FLAGS, &facts));
    let pod = Pod {
        name: "bootstrap-cluster-version-operator".to_owned(),
        namespace: "openshift-cluster-version",
        labels: json!({"k8s-app": "cluster-version-operator"}),
        annotations: json!({}),
    };
    Ok(pod.object(json!({
        "containers": [{
            "name": "cluster-version-operator",
            "image": image,
            // By digest, so what is present is right, and a restart does not wait for the registry.
            "imagePullPolicy": "IfNotPresent",
            "args": args,
            "env": argument::environment(ENVIRONMENT, &facts),
            "securityContext": {"privileged": true},
            "terminationMessagePolicy": "FallbackToLogsOnError",
            "volumeMounts": pod::mounts(&[&KUBECONFIG, &SSL_CERTS]),
        }],
        "dnsPolicy": "ClusterFirstWithHostNet",
        "terminationGracePeriodSeconds": 130,
        "volumes": pod::volumes(&[&KUBECONFIG, &SSL_CERTS]),
    })))
}

/// The administrator's, through localhost: put there by the bootstrap script.
const KUBECONFIG: Mount =
    Mount { name: "kubeconfig", host: KUBECONFIG_PATH, container: KUBECONFIG_PATH, access: Access::ReadFile };
