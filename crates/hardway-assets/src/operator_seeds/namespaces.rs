//! The namespaces that other seeds and manifests are created in.
//!
//! The operators' renders bring the first seven. The rest are in the release and would come with the cluster version
//! operator; they are here so that creating the manifests never has to wait for it. It adds its own marks to them
//! later.

use serde_json::{Map, Value, json};

use super::seed;
use crate::object_file::ObjectFile;

pub(super) fn seeds() -> Vec<ObjectFile> {
    let name = |namespace: &Namespace| format!("00_{}-ns", namespace.name);
    NAMESPACES.iter().map(|namespace| seed::fixed(name(namespace), namespace.object())).collect()
}

struct Namespace {
    name: &'static str,
    annotations: &'static [(&'static str, &'static str)],
    labels: &'static [(&'static str, &'static str)],
    /// The level of pod security, empty to say nothing.
    pod_security: &'static str,
}

const NAMESPACES: [Namespace; 12] = [
    // cluster-etcd-operator bindata/bootkube/manifests
    Namespace { name: "openshift-etcd", annotations: &[ANY_NODE], labels: &[RUN_LEVEL_0], pod_security: "" },
    // cluster-kube-apiserver-operator bindata/bootkube/manifests
    Namespace {
        name: "openshift-kube-apiserver",
        annotations: &[ANY_NODE, MANAGEMENT],
        labels: &[RUN_LEVEL_0, MONITORED],
        pod_security: "privileged",
    },
    Namespace {
        name: "openshift-kube-apiserver-operator",
        annotations: &[ANY_NODE, MANAGEMENT],
        labels: &[RUN_LEVEL_0, MONITORED],
        pod_security: "restricted",
    },
    // cluster-kube-controller-manager-operator bindata/bootkube/manifests
    Namespace {
        name: "openshift-infra",
        annotations: &[MANAGEMENT],
        labels: &[],
        pod_security: "privileged",
    },
    Namespace {
        name: "openshift-kube-controller-manager",
        annotations: &[ANY_NODE, MANAGEMENT],
        labels: &[RUN_LEVEL_0, MONITORED],
        pod_security: "",
    },
    Namespace {
        name: "openshift-kube-controller-manager-operator",
        annotations: &[ANY_NODE, MANAGEMENT],
        labels: &[RUN_LEVEL_0, MONITORED],
        pod_security: "",
    },
    // cluster-kube-scheduler-operator bindata/bootkube/manifests
    Namespace {
        name: "openshift-kube-scheduler",
        annotations: &[ANY_NODE, MANAGEMENT],
        labels: &[RUN_LEVEL_0],
        pod_security: "",
    },
    // cluster-config-operator manifests
    Namespace {
        name: "openshift-config",
        annotations: &[ANY_NODE],
        labels: &[RUN_LEVEL_0],
        pod_security: "privileged",
    },
    Namespace {
        name: "openshift-config-managed",
        annotations: &[ANY_NODE],
        labels: &[RUN_LEVEL_0],
        pod_security: "",
    },
    // cluster-version-operator install
    Namespace {
        name: "openshift-cluster-version",
        annotations: &[ANY_NODE, MANAGEMENT],
        labels: &[("name", "openshift-cluster-version"), NO_RUN_LEVEL, MONITORED],
        pod_security: "privileged",
    },
    // machine-api-operator install
    Namespace {
        name: "openshift-machine-api",
        annotations: &[ANY_NODE, MANAGEMENT],
        labels: &[("name", "openshift-machine-api"), NO_RUN_LEVEL, MONITORED],
        pod_security: "privileged",
    },
    // machine-config-operator install
    Namespace {
        name: "openshift-machine-config-operator",
        annotations: &[ANY_NODE, MANAGEMENT],
        labels: &[("name", "openshift-machine-config-operator"), NO_RUN_LEVEL, MONITORED],
        pod_security: "privileged",
    },
];

/// A default node selector of the cluster must not keep its pods off masters.
const ANY_NODE: (&str, &str) = ("openshift.io/node-selector", "");
/// Its pods may be pinned to the cores kept for management.
const MANAGEMENT: (&str, &str) = ("workload.openshift.io/allowed", "management");
/// Prometheus looks here for what to scrape.
const MONITORED: (&str, &str) = ("openshift.io/cluster-monitoring", "true");
/// Pods here skip SCC admission, so that they start before it can work.
const RUN_LEVEL_0: (&str, &str) = ("openshift.io/run-level", "0");
/// Says that an earlier release's level is over.
const NO_RUN_LEVEL: (&str, &str) = ("openshift.io/run-level", "");

impl Namespace {
    fn object(&self) -> Value {
        let map = |pairs: &[(&str, &str)]| -> Map<String, Value> {
            pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).into())).collect()
        };
        let mut labels = map(self.labels);
        for mode in ["audit", "enforce", "warn"].iter().filter(|_| !self.pod_security.is_empty()) {
            labels.insert(format!("pod-security.kubernetes.io/{mode}"), self.pod_security.into());
        }
        json!({
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": self.name, "annotations": map(self.annotations), "labels": labels},
        })
    }
}
