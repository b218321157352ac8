//! The bootstrap scheduler: `kube-scheduler-pod.yaml` (cluster-kube-scheduler-operator `bindata/bootkube`).

use serde_json::{Value, json};

use super::argument::{self, Facts, Flag};
use super::pod::{self, LOGS, Pod, SECRETS, StaticPodFile};
use crate::graph::{Inputs, MakeError, Source};

pub(super) const POD: StaticPodFile =
    StaticPodFile { name: "kube-scheduler-pod", sources: || vec![Source::image("hyperkube")], build };

/// What is explained as `kube-scheduler --…`. Upstream renders a configuration file too, but never passes it.
pub(super) const FLAGS: &[Flag] = &[
    Flag::fixed("kubeconfig", &[KUBECONFIG]),
    Flag::fixed("authentication-kubeconfig", &[KUBECONFIG]),
    Flag::fixed("authorization-kubeconfig", &[KUBECONFIG]),
    Flag::fixed("cert-dir", &["/var/run/kubernetes"]),
    Flag::fixed("leader-elect", &["true"]),
    Flag::fixed("v", &["2"]),
];

fn build(inputs: &Inputs<'_>) -> Result<Value, MakeError> {
    let pod = Pod {
        name: "bootstrap-kube-scheduler".to_owned(),
        namespace: "kube-system",
        labels: json!({"openshift.io/control-plane": "true", "openshift.io/component": "scheduler"}),
        annotations: json!({
            "openshift.io/run-level": "0",
            "target.workload.openshift.io/management": r#"{"effect": "PreferredDuringScheduling"}"#,
        }),
    };
    Ok(pod.object(json!({
        "containers": [{
            "name": "kube-scheduler",
            "image": inputs.image("hyperkube")?,
            "imagePullPolicy": "IfNotPresent",
            "command": ["hyperkube", "kube-scheduler"],
            "args": argument::flags(FLAGS, &Facts::new(inputs.cluster)),
            "ports": [{"containerPort": 10259}],
            "resources": pod::requests("50Mi", "15m"),
            "terminationMessagePolicy": "FallbackToLogsOnError",
            "volumeMounts": pod::mounts(&[&SECRETS, &LOGS]),
        }],
        "volumes": pod::volumes(&[&SECRETS, &LOGS]),
    })))
}

const KUBECONFIG: &str = "/etc/kubernetes/secrets/kubeconfig";
