//! Faults of what operators take over, and what looks like one and is none.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::faults::{Fault, fault};
use super::good::{booting, report, settled};
use crate::bootstrap_progress::entries;
use crate::diagnosis::all_broken;
use crate::diagnosis::evidence::{ConfigFacts, Evidence};
use crate::objects::{Etcd, KubeApiServer};
use crate::testing::version;
use crate::watch::{ClusterEvent, Observed};

const ENDED: &str = r#"{"phase":"stage end","stage":"wait-for-ceo","result":"success"}"#;
const NO_KEYS: &str = r#"configmaps "sa-token-signing-certs" not found"#;
const NO_MEMBERS: &str = "failed to get member list: context deadline exceeded";

pub(super) fn seeds() -> Vec<Fault> {
    let gate = json!({"metadata": {"name": "cluster"}, "status": {"featureGates": [{"version": "4.17.9"}]}});
    let told = "{\"phase\":\"service end\",\"result\":\"failure\",\"errorMessage\":\"forbidden\"}";
    vec![
        fault("B30", booting(), |e| put_config(e, "etcd-prefix: [/registry]")),
        fault("B30", booting(), |e| put_config(e, "event-ttl: [3h]")),
        fault("B27", versioned(), |e| e.seeds.feature_gates = Some(Vec::new())),
        fault("B27", versioned(), |e| e.seeds.feature_gates = Some(vec![gate])),
        fault("B28", booting(), |e| {
            e.infrastructure = Some(json!({"status": {"apiServerInternalURL": "https://api-int:6443"}}))
        }),
        fault("B29", booting(), |e| {
            e.seeds.etcd_authorities = Some(2);
            e.state.apply(&etcd_says(NO_MEMBERS));
        }),
        fault("B31", booting(), |e| e.state.apply(&server_says(NO_KEYS))),
        fault("B32", booting(), |e| e.bootstrap = Some(report(ENDED))),
        fault("B32", booting(), |e| {
            e.bootstrap = Some(report(ENDED));
            e.bootstrap.as_mut().unwrap().records.insert("progress".to_owned(), entries(told));
        }),
    ]
}

#[test]
fn what_is_as_it_should_be_is_not_named() {
    let gate = json!({"metadata": {"name": "cluster"}, "status": {"featureGates": [{"version": "4.18.1"}]}});
    let mut evidence = versioned();
    put_config(&mut evidence, "etcd-prefix: [kubernetes.io]");
    evidence.seeds.feature_gates = Some(vec![gate]);
    evidence.seeds.etcd_authorities = Some(1);
    assert_eq!(all_broken(&evidence), []);
    // The same words while the operator copies what there is: it will have it in a moment.
    evidence.seeds.has_token_keys = true;
    evidence.state.apply(&server_says(NO_KEYS));
    assert_eq!(all_broken(&evidence), []);
    // Who reports is at it.
    evidence.bootstrap = Some(report(ENDED));
    let at_it = entries(r#"{"phase":"stage start","stage":"report-bootstrap-complete"}"#);
    evidence.bootstrap.as_mut().unwrap().records.insert("progress".to_owned(), at_it);
    assert_eq!(all_broken(&evidence), []);
}

#[test]
fn after_bootstrapping_signers_change_and_gates_lag_behind_an_update() {
    let mut evidence = settled();
    evidence.seeds.etcd_authorities = Some(2);
    evidence.seeds.feature_gates = Some(vec![json!({"metadata": {"name": "cluster"}})]);
    assert_eq!(all_broken(&evidence), []);
}

#[test]
fn an_api_server_that_was_not_up_yet_is_history_once_it_is() {
    let line = "dial tcp [::1]:6443: connect: connection refused".to_owned();
    let mut evidence = booting();
    let log = crate::diagnosis::evidence::LogTail {
        source: crate::diagnosis::evidence::LogSource::Bootstrap,
        name: "cluster-version-operator".to_owned(),
        lines: vec![line],
    };
    evidence.logs.push(log);
    assert_eq!(all_broken(&evidence)[0].code, "E-B18");
    evidence.bootstrap = Some(report(r#"{"phase":"stage end","stage":"wait-for-api","result":"success"}"#));
    assert_eq!(all_broken(&evidence), []);
}

/// The version operator has said which version it installs.
fn versioned() -> Evidence {
    let mut evidence = booting();
    evidence.state.apply(&ClusterEvent::Changed(version("FTF", "Working towards 4.18.1")));
    let status = &mut evidence.state.version.as_mut().unwrap().status;
    let history = json!([{"state": "Partial", "version": "4.18.1"}]);
    status.history = serde_json::from_value(history).unwrap();
    evidence
}

/// bootstrap.ign with an API server that is told this.
fn put_config(evidence: &mut Evidence, argument: &str) {
    let server = STANDARD.encode(format!("apiServerArguments:\n  {argument}\n"));
    let config = json!({"storage": {"files": [{
        "path": "/etc/kubernetes/bootstrap-configs/kube-apiserver-config.yaml",
        "contents": {"source": format!("data:text/plain;charset=utf-8;base64,{server}")},
    }]}});
    let facts = ConfigFacts::of(config.to_string().as_bytes());
    evidence.folder.configs.insert("bootstrap.ign".to_owned(), facts);
}

fn etcd_says(message: &str) -> ClusterEvent {
    let object = degraded("ClusterMemberControllerDegraded", message);
    ClusterEvent::Changed(Observed::Etcd(serde_json::from_value::<Etcd>(object).unwrap()))
}

fn server_says(message: &str) -> ClusterEvent {
    let object = degraded("RevisionControllerDegraded", message);
    ClusterEvent::Changed(Observed::KubeApiServer(serde_json::from_value::<KubeApiServer>(object).unwrap()))
}

fn degraded(kind: &str, message: &str) -> Value {
    json!({"metadata": {"name": "cluster"}, "status": {"conditions": [
        {"type": kind, "status": "True", "reason": "Error", "message": message}]}})
}
