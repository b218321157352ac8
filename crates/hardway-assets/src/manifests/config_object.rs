//! The objects of config.openshift.io, of each kind of which a cluster has one.

use serde_json::{Value, json};

/// The one object of a kind. All are called `cluster`.
pub(super) fn config_object(kind: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": "config.openshift.io/v1",
        "kind": kind,
        "metadata": {"name": "cluster"},
        "spec": spec,
    })
}
