//! What tells two Kubernetes objects of a cluster apart.

use std::fmt;

use serde_json::Value;

/// The name of an object. The version of its API group is no part of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ObjectId {
    pub(crate) kind: String,
    pub(crate) group: String,
    /// Empty for an object of the cluster.
    pub(crate) namespace: String,
    pub(crate) name: String,
}

impl ObjectId {
    /// Of any object; parts that are missing are empty.
    pub(crate) fn of(object: &Value) -> Self {
        let text = |pointer| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        Self {
            kind: text("/kind"),
            group: text("/apiVersion").split_once('/').map(|(group, _)| group.to_owned()).unwrap_or_default(),
            namespace: text("/metadata/namespace"),
            name: text("/metadata/name"),
        }
    }
}

/// In the words of openshift-install (`ignition/bootstrap/cvoignore.go`).
impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, group, namespace, name } = self;
        write!(f, "group {group} kind {kind} namespace {namespace} name {name}")
    }
}
