//! Objects for tests, in few words.

use hardway_assets::inventory::Role;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::declared::{Declared, DeclaredNode};
use crate::objects::{ClusterOperator, ClusterVersion, ConfigMap, Etcd, Node, SigningRequest};
use crate::watch::{ClusterEvent, Observed, WatchedKind};

/// Seconds after the start of the test.
pub(crate) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000).unwrap() + SignedDuration::from_secs(seconds)
}

/// `TFF` is Available=True, Progressing=False, Degraded=False; `-` leaves a condition out, `?` is Unknown.
pub(crate) fn operator(name: &str, conditions: &str) -> Observed {
    operator_written(name, conditions, None)
}

/// The same, with the time that the operator itself writes.
pub(crate) fn operator_written(name: &str, conditions: &str, written: Option<Timestamp>) -> Observed {
    let list: Vec<Value> = ["Available", "Progressing", "Degraded"]
        .iter()
        .zip(conditions.chars())
        .filter_map(|(kind, letter)| {
            let status = match letter {
                'T' => "True",
                'F' => "False",
                '?' => "Unknown",
                _ => return None,
            };
            Some(json!({"type": kind, "status": status, "lastTransitionTime": written}))
        })
        .collect();
    let object = json!({"metadata": {"name": name}, "status": {"conditions": list}});
    Observed::Operator(serde_json::from_value::<ClusterOperator>(object).unwrap())
}

/// `TFF` is Available=True, Progressing=False, Failing=False.
pub(crate) fn version(conditions: &str, message: &str) -> Observed {
    let word = |i: usize| if conditions.as_bytes()[i] == b'T' { "True" } else { "False" };
    let object = json!({"metadata": {"name": "version"}, "status": {"conditions": [
        {"type": "Available", "status": word(0)},
        {"type": "Progressing", "status": word(1), "message": message},
        {"type": "Failing", "status": word(2), "message": message}]}});
    Observed::Version(serde_json::from_value::<ClusterVersion>(object).unwrap())
}

pub(crate) fn node(name: &str, role: &str, ready: bool) -> Observed {
    let status = if ready { "True" } else { "False" };
    let object = json!({"metadata": {"name": name, "labels": {format!("node-role.kubernetes.io/{role}"): ""}},
        "status": {"conditions": [{"type": "Ready", "status": status, "reason": "KubeletNotReady"}]}});
    Observed::Node(serde_json::from_value::<Node>(object).unwrap())
}

/// A kubelet's first request, undecided.
pub(crate) fn request(name: &str) -> Observed {
    let object = json!({"metadata": {"name": name},
        "spec": {"signerName": "kubernetes.io/kube-apiserver-client-kubelet"}, "status": {}});
    Observed::Request(serde_json::from_value::<SigningRequest>(object).unwrap())
}

pub(crate) fn bootstrap(status: &str) -> Observed {
    let object =
        json!({"metadata": {"name": "bootstrap", "namespace": "kube-system"}, "data": {"status": status}});
    Observed::Bootstrap(serde_json::from_value::<ConfigMap>(object).unwrap())
}

/// The etcd operator's object with these conditions True.
pub(crate) fn etcd(conditions: &[&str]) -> Observed {
    let list: Vec<Value> = conditions.iter().map(|kind| json!({"type": kind, "status": "True"})).collect();
    let object = json!({"metadata": {"name": "cluster"}, "status": {"conditions": list}});
    Observed::Etcd(serde_json::from_value::<Etcd>(object).unwrap())
}

/// Three masters and two workers, m0…m2 and w0, w1.
pub(crate) fn declared() -> Declared {
    let node = |name: String, role| DeclaredNode {
        host: name.clone(),
        name,
        role: Some(role),
        addresses: Vec::new(),
        identity: None,
    };
    let masters = (0..3).map(|n| node(format!("m{n}"), Role::Master));
    let workers = (0..2).map(|n| node(format!("w{n}"), Role::Worker));
    Declared { nodes: masters.chain(workers).collect(), ..Declared::default() }
}

/// Every declared node, Ready.
pub(crate) fn all_nodes() -> ClusterEvent {
    let nodes = [("m0", "master"), ("m1", "master"), ("m2", "master"), ("w0", "worker"), ("w1", "worker")];
    ClusterEvent::Listed(
        WatchedKind::Nodes,
        nodes.iter().map(|(name, role)| node(name, role, true)).collect(),
    )
}
