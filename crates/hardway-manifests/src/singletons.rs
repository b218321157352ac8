//! Kinds of which there is one object, whose name everybody knows (openshift/api `config/v1` and `operator/v1`). Under
//! another name it is taken, and nobody looks at it.

use hardway_assets::violation::FieldErrorKind;
use serde_json::Value;

use crate::{FieldPath, Mistake};

const NAMES: [(&str, &str, &str); 35] = [
    ("config.openshift.io", "APIServer", "cluster"),
    ("config.openshift.io", "Authentication", "cluster"),
    ("config.openshift.io", "Build", "cluster"),
    ("config.openshift.io", "ClusterVersion", "version"),
    ("config.openshift.io", "Console", "cluster"),
    ("config.openshift.io", "DNS", "cluster"),
    ("config.openshift.io", "FeatureGate", "cluster"),
    ("config.openshift.io", "Image", "cluster"),
    ("config.openshift.io", "Infrastructure", "cluster"),
    ("config.openshift.io", "Ingress", "cluster"),
    ("config.openshift.io", "Network", "cluster"),
    ("config.openshift.io", "Node", "cluster"),
    ("config.openshift.io", "OAuth", "cluster"),
    ("config.openshift.io", "OperatorHub", "cluster"),
    ("config.openshift.io", "Project", "cluster"),
    ("config.openshift.io", "Proxy", "cluster"),
    ("config.openshift.io", "Scheduler", "cluster"),
    ("imageregistry.operator.openshift.io", "Config", "cluster"),
    ("operator.openshift.io", "Authentication", "cluster"),
    ("operator.openshift.io", "CSISnapshotController", "cluster"),
    ("operator.openshift.io", "CloudCredential", "cluster"),
    ("operator.openshift.io", "Config", "cluster"),
    ("operator.openshift.io", "Console", "cluster"),
    ("operator.openshift.io", "DNS", "default"),
    ("operator.openshift.io", "Etcd", "cluster"),
    ("operator.openshift.io", "KubeAPIServer", "cluster"),
    ("operator.openshift.io", "KubeControllerManager", "cluster"),
    ("operator.openshift.io", "KubeScheduler", "cluster"),
    ("operator.openshift.io", "KubeStorageVersionMigrator", "cluster"),
    ("operator.openshift.io", "MachineConfiguration", "cluster"),
    ("operator.openshift.io", "Network", "cluster"),
    ("operator.openshift.io", "OpenShiftAPIServer", "cluster"),
    ("operator.openshift.io", "OpenShiftControllerManager", "cluster"),
    ("operator.openshift.io", "ServiceCA", "cluster"),
    ("operator.openshift.io", "Storage", "cluster"),
];

/// What is wrong with the name, if anything.
pub(crate) fn check(object: &Value) -> Option<Mistake> {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let (group, _) = text("/apiVersion").rsplit_once('/')?;
    let (_, kind, wanted) =
        NAMES.iter().find(|(known, kind, _)| *known == group && *kind == text("/kind"))?;
    let name = text("/metadata/name");
    if name == *wanted || name.is_empty() {
        return None;
    }
    let detail = format!("the only {kind} that is used has the name {wanted:?}");
    let path = FieldPath::of(&["metadata", "name"]);
    Some(
        Mistake::new(&path, FieldErrorKind::Invalid, detail)
            .of(&name.into())
            .fix(format!("name it {wanted:?}")),
    )
}
