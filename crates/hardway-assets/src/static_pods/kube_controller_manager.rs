//! The bootstrap controller manager and, in the same pod, the cluster policy controller:
//! `kube-controller-manager-pod.yaml`, `kube-controller-manager-config.yaml`, `cluster-policy-controller-config.yaml`.
//!
//! The policy controller gives every namespace the numbers that SCC admission asks for; without it no pod that needs
//! an SCC is admitted. Facts: cluster-kube-controller-manager-operator `bindata/bootkube`,
//! `bindata/assets/config/defaultconfig.yaml`, `pkg/cmd/render/render.go`.

use serde_json::{Value, json};

use super::argument::{self, Facts, Flag, Setting, Variable};
use super::pod::{self, CONFIGS, LOGS, Pod, SECRETS, SSL_CERTS, StaticPodFile};
use super::upstream;
use crate::Cluster;
use crate::feature_gates;
use crate::graph::{Facet, Inputs, MakeError, Source};
use crate::release_payload::ReleasePayload;

pub(super) const POD: StaticPodFile =
    StaticPodFile { name: "kube-controller-manager-pod", sources: pod_sources, build: build_pod };

pub(super) const CONFIG: StaticPodFile = StaticPodFile {
    name: "kube-controller-manager-config",
    sources: config_sources,
    build: |inputs| Ok(document(&Facts::with_gates(inputs.cluster, inputs.release)?)),
};

pub(super) const POLICY_CONFIG: StaticPodFile = StaticPodFile {
    name: "cluster-policy-controller-config",
    sources: || feature_gates::sources().to_vec(),
    build: |inputs| Ok(policy_document(&Facts::with_gates(inputs.cluster, inputs.release)?)),
};

/// What stands on the command line before the extended arguments.
pub(super) const FLAGS: &[Flag] = &[
    Flag::fixed("openshift-config", &["/etc/kubernetes/config/kube-controller-manager-config.yaml"]),
    Flag::fixed("kubeconfig", &[KUBECONFIG]),
    Flag::fixed("v", &["2"]),
];

/// `extendedArguments`: explained as `kube-controller-manager --…`. The program no longer reads them from the file, so
/// they stand on its command line as well.
pub(super) const ARGUMENTS: &[Flag] = &[
    // OVN-Kubernetes hands out the pods' addresses.
    Flag::fixed("allocate-node-cidrs", &["false"]),
    Flag::fixed("authentication-kubeconfig", &[KUBECONFIG]),
    Flag::fixed("authorization-kubeconfig", &[KUBECONFIG]),
    Flag::fixed("cert-dir", &["/var/run/kubernetes"]),
    Flag::of("cloud-provider", |facts| {
        facts.contract.tells_of_external_clouds().then(|| "external".to_owned()).into_iter().collect()
    }),
    // One value with a comma: the flag is no list, and of two the last would win.
    Flag::of("cluster-cidr", |facts| vec![facts.pod_networks().join(",")]),
    Flag::fixed("cluster-signing-cert-file", &["/etc/kubernetes/secrets/kubelet-signer.crt"]),
    Flag::fixed("cluster-signing-duration", &["720h"]),
    Flag::fixed("cluster-signing-key-file", &["/etc/kubernetes/secrets/kubelet-signer.key"]),
    Flag::of("controllers", |facts| {
        let warner = facts.contract.warns_of_selinux_labels().then_some("selinux-warning-controller");
        ["*", "-ttl", "-bootstrapsigner", "-tokencleaner"]
            .into_iter()
            .chain(warner)
            .map(str::to_owned)
            .collect()
    }),
    Flag::fixed("enable-dynamic-provisioning", &["true"]),
    Flag::of("feature-gates", argument::gate_flags),
    Flag::fixed("flex-volume-plugin-dir", &["/etc/kubernetes/kubelet-plugins/volume/exec"]),
    Flag::fixed("kube-api-burst", &["300"]),
    Flag::fixed("kube-api-qps", &["150"]),
    Flag::fixed("leader-elect", &["true"]),
    Flag::fixed("leader-elect-renew-deadline", &["12s"]),
    Flag::fixed("leader-elect-resource-lock", &["leases"]),
    Flag::fixed("leader-elect-retry-period", &["3s"]),
    Flag::fixed("pv-recycler-pod-template-filepath-hostpath", &[""]),
    Flag::fixed("pv-recycler-pod-template-filepath-nfs", &[""]),
    Flag::fixed("root-ca-file", &["/etc/kubernetes/secrets/kube-apiserver-complete-server-ca-bundle.crt"]),
    Flag::fixed("secure-port", &["10257"]),
    Flag::fixed("service-account-private-key-file", &["/etc/kubernetes/secrets/service-account.key"]),
    Flag::of("service-cluster-ip-range", |facts| vec![facts.service_networks().join(",")]),
    Flag::fixed("use-service-account-credentials", &["true"]),
];

/// The cluster policy controller's command line.
pub(super) const POLICY_FLAGS: &[Flag] = &[
    Flag::fixed("config", &["/etc/kubernetes/config/cluster-policy-controller-config.yaml"]),
    Flag::fixed("kubeconfig", &[KUBECONFIG]),
    Flag::fixed("namespace", &["$(POD_NAMESPACE)"]),
    Flag::fixed("v", &["2"]),
];

/// The cluster policy controller's environment.
pub(super) const POLICY_ENVIRONMENT: &[Variable] =
    &[Variable::field("POD_NAME", "metadata.name"), Variable::field("POD_NAMESPACE", "metadata.namespace")];

/// The cluster policy controller's configuration file.
pub(super) const POLICY_SETTINGS: &[Setting] = &[
    Setting { path: &["featureGates"], value: |facts| json!(argument::gate_flags(facts)) },
    Setting { path: &["servingInfo", "bindAddress"], value: |_| "127.0.0.1:10357".into() },
    Setting { path: &["servingInfo", "bindNetwork"], value: |_| "tcp".into() },
    // Its probes do not check the certificate, so a client's serves here, as upstream.
    Setting {
        path: &["servingInfo", "certFile"],
        value: |_| "/etc/kubernetes/secrets/kube-control-plane-kube-controller-manager-client.crt".into(),
    },
    Setting {
        path: &["servingInfo", "clientCA"],
        value: |_| "/etc/kubernetes/secrets/kube-control-plane-ca-bundle.crt".into(),
    },
    Setting {
        path: &["servingInfo", "keyFile"],
        value: |_| "/etc/kubernetes/secrets/kube-control-plane-kube-controller-manager-client.key".into(),
    },
];

/// The command line of an upstream kube-controller-manager 1.31 for this cluster.
pub fn upstream_arguments(cluster: &Cluster, release: &ReleasePayload) -> Result<Vec<String>, MakeError> {
    let facts = Facts::with_gates(cluster, release)?;
    let config = crate::yaml::write(&document(&facts));
    let converted = upstream::kube_controller_manager(&config, &upstream::Replace::default())?;
    let first = argument::flags(&FLAGS[1..], &facts);
    Ok(first.into_iter().chain(converted.arguments).collect())
}

fn document(facts: &Facts<'_>) -> Value {
    json!({
        "apiVersion": "kubecontrolplane.config.openshift.io/v1",
        "kind": "KubeControllerManagerConfig",
        "extendedArguments": argument::lists(ARGUMENTS, facts),
    })
}

fn policy_document(facts: &Facts<'_>) -> Value {
    let api_version = "openshiftcontrolplane.config.openshift.io/v1";
    argument::document(api_version, "OpenShiftControllerManagerConfig", POLICY_SETTINGS, facts)
}

fn config_sources() -> Vec<Source> {
    let mut sources = vec![
        Source::Release(Facet::Version),
        Source::config("networking.clusterNetwork"),
        Source::config("networking.serviceNetwork"),
    ];
    sources.extend(feature_gates::sources());
    sources
}

fn pod_sources() -> Vec<Source> {
    let mut sources = config_sources();
    sources.extend([Source::image("cluster-policy-controller"), Source::image("hyperkube")]);
    sources
}

fn build_pod(inputs: &Inputs<'_>) -> Result<Value, MakeError> {
    let facts = Facts::with_gates(inputs.cluster, inputs.release)?;
    let pod = Pod {
        name: "bootstrap-kube-controller-manager".to_owned(),
        namespace: "kube-system",
        labels: json!({"openshift.io/control-plane": "true", "openshift.io/component": "controller-manager"}),
        annotations: json!({
            "openshift.io/run-level": "0",
            "target.workload.openshift.io/management": r#"{"effect": "PreferredDuringScheduling"}"#,
        }),
    };
    let manager = manager(inputs.image("hyperkube")?, &facts);
    let policy_controller = policy_controller(inputs.image("cluster-policy-controller")?, &facts);
    Ok(pod.object(json!({
        "containers": [manager, policy_controller],
        "volumes": pod::volumes(&[&SECRETS, &CONFIGS, &SSL_CERTS, &LOGS]),
    })))
}

fn manager(image: &str, facts: &Facts<'_>) -> Value {
    let mut args = argument::flags(FLAGS, facts);
    args.extend(argument::flags(ARGUMENTS, facts));
    let probe =
        |delay, timeout| probe(&json!({"scheme": "HTTPS", "port": 10257, "path": "healthz"}), delay, timeout);
    json!({
        "name": "kube-controller-manager",
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["hyperkube", "kube-controller-manager"],
        "args": args,
        "ports": [{"containerPort": 10257}],
        "resources": pod::requests("200Mi", "60m"),
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": pod::mounts(&[&SECRETS, &CONFIGS, &SSL_CERTS, &LOGS]),
        "startupProbe": probe(0, 3),
        "readinessProbe": probe(10, 10),
        "livenessProbe": probe(45, 10),
    })
}

fn policy_controller(image: &str, facts: &Facts<'_>) -> Value {
    // It listens on loopback only: the kubelet must ask there and not at the pod's address.
    let get = json!({"scheme": "HTTPS", "host": "localhost", "port": 10357, "path": "healthz"});
    json!({
        "name": "cluster-policy-controller",
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["cluster-policy-controller", "start"],
        "args": argument::flags(POLICY_FLAGS, facts),
        "env": argument::environment(POLICY_ENVIRONMENT, facts),
        "ports": [{"containerPort": 10357}],
        "resources": pod::requests("200Mi", "10m"),
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": pod::mounts(&[&SECRETS, &CONFIGS, &SSL_CERTS, &LOGS]),
        "startupProbe": probe(&get, 0, 3),
        "readinessProbe": probe(&get, 10, 10),
        "livenessProbe": probe(&get, 45, 10),
    })
}

fn probe(get: &Value, delay: u32, timeout: u32) -> Value {
    json!({"httpGet": get, "initialDelaySeconds": delay, "timeoutSeconds": timeout})
}

/// The administrator's, through localhost: put there by the bootstrap script.
const KUBECONFIG: &str = "/etc/kubernetes/secrets/kubeconfig";
