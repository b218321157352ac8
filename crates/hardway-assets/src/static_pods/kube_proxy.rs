//! A kube-proxy for masters, only where the inventory asks for it: `kube-proxy-pod.yaml`.
//!
//! OVN-Kubernetes serves ClusterIPs itself, and what must run before it uses the host's network and `api-int`. The
//! leftover rules of a kube-proxy compete with OVN's, so the switch is off unless somebody knows why not.

use serde_json::{Value, json};

use super::argument::{self, Facts, Flag};
use super::pod::{self, Access, Mount, Pod, StaticPodFile};
use crate::graph::{Inputs, MakeError, Source};
use crate::ignition::KUBECONFIG_PATH;

pub(super) const POD: StaticPodFile = StaticPodFile {
    name: "kube-proxy-pod",
    sources: || vec![Source::image("kube-proxy"), Source::config("networking.clusterNetwork")],
    build,
};

/// What is explained as `kube-proxy --…`.
pub(super) const FLAGS: &[Flag] = &[
    Flag::of("cluster-cidr", |facts| vec![facts.pod_networks().join(",")]),
    Flag::fixed("kubeconfig", &[KUBECONFIG_PATH]),
    Flag::fixed("v", &["2"]),
];

fn build(inputs: &Inputs<'_>) -> Result<Value, MakeError> {
    let pod = Pod {
        name: "kube-proxy".to_owned(),
        namespace: "kube-system",
        labels: json!({"k8s-app": "kube-proxy"}),
        annotations: json!({}),
    };
    Ok(pod.object(json!({
        "containers": [{
            "name": "kube-proxy",
            // Not hyperkube's, whose wrapper wants more than these flags.
            "image": inputs.image("kube-proxy")?,
            "imagePullPolicy": "IfNotPresent",
            "command": ["/usr/bin/kube-proxy"],
            "args": argument::flags(FLAGS, &Facts::new(inputs.cluster)),
            "resources": pod::requests("64Mi", "10m"),
            "securityContext": {"privileged": true},
            "terminationMessagePolicy": "FallbackToLogsOnError",
            "volumeMounts": pod::mounts(&[&KUBECONFIG, &MODULES]),
        }],
        "priorityClassName": "system-node-critical",
        "tolerations": [{"operator": "Exists"}],
        "volumes": pod::volumes(&[&KUBECONFIG, &MODULES]),
    })))
}

/// The node's bootstrap identity.
const KUBECONFIG: Mount =
    Mount { name: "kubeconfig", host: KUBECONFIG_PATH, container: KUBECONFIG_PATH, access: Access::ReadFile };

const MODULES: Mount =
    Mount { name: "modules", host: "/lib/modules", container: "/lib/modules", access: Access::Read };
