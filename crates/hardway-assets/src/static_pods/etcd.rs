//! The first etcd member: `etcd-member-pod.yaml`.
//!
//! A cluster of one that the masters' members join later. The etcd operator removes a member named exactly
//! `etcd-bootstrap`; in place, the member is permanent from the start and named after the node
//! (cluster-etcd-operator `bindata/bootkube/bootstrap-manifests/etcd-member-pod.yaml`, `pkg/cmd/render/env.go`).

use serde_json::{Value, json};

use super::argument::{self, Facts, Flag, Variable, in_url};
use super::pod::{self, Access, Mount, Pod, StaticPodFile};
use crate::graph::{Facet, Inputs, MakeError, Source};

pub(super) const POD: StaticPodFile = StaticPodFile { name: "etcd-member-pod", sources, build };

/// Flags; each is explained under `etcd --…`.
pub(super) const FLAGS: &[Flag] = &[
    Flag::fixed("logger", &["zap"]),
    Flag::of("experimental-initial-corrupt-check", |facts| before_3_6(facts, "true").into_iter().collect()),
    Flag::of("feature-gates", |facts| since_3_6(facts, "InitialCorruptCheck=true").into_iter().collect()),
    Flag::of("initial-advertise-peer-urls", |facts| vec![advertised(facts, 2380)]),
    Flag::of("cert-file", |facts| vec![node_file(facts, "serving", "crt")]),
    Flag::of("key-file", |facts| vec![node_file(facts, "serving", "key")]),
    Flag::fixed("trusted-ca-file", &[CA]),
    Flag::fixed("client-cert-auth", &["true"]),
    Flag::of("peer-cert-file", |facts| vec![node_file(facts, "peer", "crt")]),
    Flag::of("peer-key-file", |facts| vec![node_file(facts, "peer", "key")]),
    Flag::fixed("peer-trusted-ca-file", &[CA]),
    Flag::fixed("peer-client-cert-auth", &["true"]),
    Flag::of("advertise-client-urls", |facts| vec![advertised(facts, 2379)]),
    Flag::of("listen-client-urls", |facts| vec![listening(facts, 2379)]),
    Flag::of("listen-client-http-urls", |facts| {
        facts.contract.etcd_serves_http_apart().then(|| listening(facts, HTTP_PORT)).into_iter().collect()
    }),
    Flag::of("listen-peer-urls", |facts| vec![listening(facts, 2380)]),
    Flag::of("listen-metrics-urls", |facts| vec![listening(facts, 9978)]),
];

/// What is explained as `etcd ETCD_…`. Nothing here may also be a flag: etcd refuses to start then.
pub(super) const ENVIRONMENT: &[Variable] = &[
    Variable::of("ETCD_CIPHER_SUITES", |_| Some(CIPHER_SUITES.join(","))),
    Variable::fixed("ETCD_DATA_DIR", "/var/lib/etcd"),
    Variable::fixed("ETCD_ELECTION_TIMEOUT", "1000"),
    Variable::fixed("ETCD_ENABLE_PPROF", "true"),
    Variable::of("ETCD_EXPERIMENTAL_MAX_LEARNERS", |facts| before_3_6(facts, &masters(facts))),
    Variable::of("ETCD_EXPERIMENTAL_WARNING_APPLY_DURATION", |facts| before_3_6(facts, "200ms")),
    Variable::of("ETCD_EXPERIMENTAL_WATCH_PROGRESS_NOTIFY_INTERVAL", |facts| before_3_6(facts, "5s")),
    Variable::fixed("ETCD_HEARTBEAT_INTERVAL", "100"),
    Variable::of("ETCD_MAX_LEARNERS", |facts| since_3_6(facts, &masters(facts))),
    Variable::of("ETCD_NAME", |facts| Some(member_name(facts))),
    Variable::fixed("ETCD_SOCKET_REUSE_ADDRESS", "true"),
    Variable::of("ETCD_UNSUPPORTED_ARCH", unsupported_architecture),
    Variable::of("ETCD_WARNING_APPLY_DURATION", |facts| since_3_6(facts, "200ms")),
    Variable::of("ETCD_WATCH_PROGRESS_NOTIFY_INTERVAL", |facts| since_3_6(facts, "5s")),
];

/// Variables; each is explained under `etcdctl ETCDCTL_…`.
pub(super) const ETCDCTL_ENVIRONMENT: &[Variable] = &[
    Variable::fixed("ETCDCTL_CACERT", CA),
    Variable::of("ETCDCTL_CERT", |facts| Some(node_file(facts, "serving", "crt"))),
    Variable::fixed("ETCDCTL_ENDPOINTS", "https://localhost:2379"),
    Variable::of("ETCDCTL_KEY", |facts| Some(node_file(facts, "serving", "key"))),
];

fn sources() -> Vec<Source> {
    vec![
        Source::image("etcd"),
        Source::Release(Facet::Version),
        Source::config("baseDomain"),
        Source::config("bootstrapInPlace"),
        Source::config("controlPlane"),
        Source::config("metadata.name"),
        Source::config("networking.serviceNetwork"),
        Source::inventory("hosts"),
    ]
}

fn build(inputs: &Inputs<'_>) -> Result<Value, MakeError> {
    let facts = Facts::with_contract(inputs)?;
    let image = inputs.image("etcd")?;
    let in_place = inputs.cluster.is_bootstrap_in_place();
    let pod = Pod {
        name: if in_place { member_name(&facts) } else { "etcd-bootstrap-member".to_owned() },
        namespace: "openshift-etcd",
        labels: json!({"k8s-app": "etcd"}),
        annotations: json!({}),
    };
    Ok(pod.object(json!({
        "containers": [etcdctl(image, &facts), etcd(image, &facts)],
        "priorityClassName": "system-node-critical",
        "tolerations": [{"operator": "Exists"}],
        "volumes": pod::volumes(&[&CERTS, &DATA]),
    })))
}

fn etcd(image: &str, facts: &Facts<'_>) -> Value {
    json!({
        "name": "etcd",
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["etcd"],
        "args": argument::flags(FLAGS, facts),
        "env": argument::environment(ENVIRONMENT, facts),
        "ports": ports(facts),
        "resources": pod::requests("600Mi", "245m"),
        "securityContext": {"privileged": true},
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": pod::mounts(&[&CERTS, &DATA]),
    })
}

fn ports(facts: &Facts<'_>) -> Value {
    let port = |name: &str, number: u16| json!({"name": name, "containerPort": number, "protocol": "TCP"});
    let mut ports = vec![port("peer", 2380), port("server", 2379)];
    if facts.contract.etcd_serves_http_apart() {
        ports.push(port("etcd-http", HTTP_PORT));
    }
    ports.into()
}

/// Does nothing but wait, so that a person can run `etcdctl` in it with everything set.
fn etcdctl(image: &str, facts: &Facts<'_>) -> Value {
    json!({
        "name": "etcdctl",
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["/bin/sh", "-c", "trap 'exit 0' TERM INT; sleep infinity & wait $!"],
        "env": argument::environment(ETCDCTL_ENVIRONMENT, facts),
        "resources": pod::requests("60Mi", "10m"),
        "securityContext": {"privileged": true},
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": pod::mounts(&[&CERTS]),
    })
}

/// Only for an etcd that knows a setting as experimental.
fn before_3_6(facts: &Facts<'_>, value: &str) -> Option<String> {
    (!facts.contract.etcd_uses_feature_gate_flags()).then(|| value.to_owned())
}

/// Only for an etcd that no longer does.
fn since_3_6(facts: &Facts<'_>, value: &str) -> Option<String> {
    facts.contract.etcd_uses_feature_gate_flags().then(|| value.to_owned())
}

/// How many members may be catching up at once: all masters.
fn masters(facts: &Facts<'_>) -> String {
    facts.cluster.config.control_plane.replicas.to_string()
}

fn member_name(facts: &Facts<'_>) -> String {
    if facts.cluster.is_bootstrap_in_place() {
        format!("etcd-{}", facts.host())
    } else {
        "etcd-bootstrap".to_owned()
    }
}

/// A file of the node's serving or peer certificate.
fn node_file(facts: &Facts<'_>, use_: &str, suffix: &str) -> String {
    format!("/etc/ssl/etcd/etcd-all-certs/etcd-{use_}-{}.{suffix}", facts.host())
}

fn advertised(facts: &Facts<'_>, port: u16) -> String {
    format!("https://{}:{port}", in_url(facts.cluster.bootstrap_ip()))
}

/// By the primary family, as the operator does it: `[::]` takes both.
fn listening(facts: &Facts<'_>, port: u16) -> String {
    let all = if facts.cluster.is_ipv6_primary() { "[::]" } else { "0.0.0.0" };
    format!("https://{all}:{port}")
}

/// etcd wants to hear that one knows what one is doing on anything but amd64 and ppc64le.
fn unsupported_architecture(facts: &Facts<'_>) -> Option<String> {
    let architecture = &facts.cluster.config.control_plane.architecture;
    ["arm64", "s390x"].contains(&architecture.as_str()).then(|| architecture.clone())
}

const CERTS: Mount = Mount {
    name: "certs",
    host: "/etc/kubernetes/static-pod-resources/etcd-member",
    container: "/etc/ssl/etcd",
    access: Access::Read,
};

const DATA: Mount =
    Mount { name: "data-dir", host: "/var/lib/etcd", container: "/var/lib/etcd", access: Access::Write };

/// Where etcd answers everything but gRPC, in releases that keep the two apart.
const HTTP_PORT: u16 = 2381;

const CA: &str = "/etc/ssl/etcd/ca.crt";

/// The Intermediate profile (openshift/api `config/v1/types_tlssecurityprofile.go`), less what Go does not have.
const CIPHER_SUITES: [&str; 9] = [
    "TLS_AES_128_GCM_SHA256",
    "TLS_AES_256_GCM_SHA384",
    "TLS_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
];
