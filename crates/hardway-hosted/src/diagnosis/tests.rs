//! A good cluster, broken once for every row.

use std::collections::{BTreeMap, BTreeSet};

use hardway_assets::explain::{Catalogue, Kind};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::*;
use crate::gates::{Gate, GateName};
use crate::node_view::NodeView;
use crate::ovn::OvnFacts;
use crate::pointer::PointerFlaw;
use crate::token::TokenSecret;
use crate::worker::{Trouble, Worker};

fn now() -> Timestamp {
    "2026-11-15T12:00:00Z".parse().unwrap()
}

fn good() -> Evidence {
    let pool = json!({"metadata": {"name": "demo", "namespace": "clusters", "annotations":
        {"hypershift.openshift.io/nodePoolCurrentConfigVersion": "11111111"}}, "spec": {"nodeLabels": {"zone": "a"}}});
    let token = json!({"metadata": {"name": "token-demo-11111111", "annotations": {"hypershift.openshift.io/ignition-config": "true",
        "hypershift.openshift.io/nodePool": "clusters/demo", "hypershift.openshift.io/last-token-generation-time": "2026-11-15T11:00:00Z"}},
        "data": {"token": "YQ=="}});
    let node = json!({"metadata": {"name": "w-0", "uid": "1", "creationTimestamp": "2026-11-01T00:00:00Z",
        "labels": {"zone": "a", "hypershift.openshift.io/nodePool": "demo"}},
        "status": {"conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-11-01T00:00:00Z"}]}});
    let mut worker = Worker::planned("w-0", "demo", &[], now());
    worker.history.booted = Some(now());
    worker.history.joined = Some(now());
    worker.history.config_hash = Some("11111111".to_owned());
    Evidence {
        now: now(),
        pools: vec![PoolEvidence {
            pool: serde_json::from_value(pool).unwrap(),
            gates: vec![gate(GateName::MachineConfig), gate(GateName::Payload), gate(GateName::ConfigAtRest)],
            tokens: vec![TokenSecret::read(&serde_json::from_value(token).unwrap()).unwrap()],
            pointer_flaws: Vec::new(),
            machines: Vec::new(),
        }],
        workers: vec![worker],
        nodes: BTreeMap::from([("w-0".to_owned(), NodeView::of(&serde_json::from_value(node).unwrap()))]),
        pending: Vec::new(),
        endpoint: Some("10.0.0.5:30003".to_owned()),
        served_names: Some(vec!["10.0.0.5".to_owned()]),
        probe: Probe::Status(200),
        bootstrap_expires: Some(now() + SignedDuration::from_hours(100)),
        ovn: OvnFacts { has_secret: true, has_deployment: true, ..OvnFacts::default() },
        logs: vec!["systemd[1]: Started kubelet.".to_owned()],
    }
}

fn gate(name: GateName) -> Gate {
    Gate { name, is_open: true, seen: "seen".to_owned(), fix: None }
}

fn hold(evidence: &mut Evidence, which: usize) {
    evidence.pools[0].gates[which].is_open = false;
}

fn trouble(evidence: &mut Evidence, reason: &str) {
    evidence.workers[0].history.trouble =
        Some(Trouble { reason: reason.to_owned().into(), message: "so".to_owned(), since: now() });
}

fn pending(evidence: &mut Evidence, is_serving: bool, hours_after_node: i64) {
    let created = evidence.nodes["w-0"].created + SignedDuration::from_hours(hours_after_node);
    evidence.pending.push(PendingRequest { name: "csr-1".into(), node: "w-0".into(), is_serving, created });
}

type Fault = fn(&mut Evidence);

const FAULTS: &[(&str, Fault)] = &[
    ("E-W1", |e| hold(e, 0)),
    ("E-W2", |e| hold(e, 1)),
    ("E-W3", |e| {
        e.workers[0].history.joined = None;
        e.workers[0].history.pointer_good_until = Some(now());
    }),
    ("E-W3", |e| e.now = now() + SignedDuration::from_hours(11)),
    ("E-W3", |e| e.pools[0].pointer_flaws.push(PointerFlaw::UnknownToken("token-demo-11111111".into()))),
    ("E-W3", |e| e.logs.push("GET https://10.0.0.5:30003/ignition: Network Authentication Required".into())),
    ("E-W4", |e| e.pools[0].pointer_flaws.push(PointerFlaw::BadAuthorization)),
    ("E-W5", |e| e.pools[0].pointer_flaws.push(PointerFlaw::WrongAuthority)),
    ("E-W5", |e| e.logs.push("GET https://a/ignition: x509: certificate signed by unknown authority".into())),
    ("E-W6", |e| e.served_names = Some(vec!["other.example.com".into()])),
    ("E-W7", |e| e.probe = Probe::Silent("connection refused".into())),
    ("E-W8", |e| e.probe = Probe::Status(503)),
    ("E-W9", |e| e.pools[0].pointer_flaws.push(PointerFlaw::WrongHeaders("token-demo-11111111".into()))),
    ("E-W9", |e| {
        let status = json!({"conditions": [{"type": "ReachedIgnitionEndpoint", "status": "False"}]});
        e.pools[0].pool.status = serde_json::from_value(status).unwrap();
    }),
    ("E-W10", |e| trouble(e, "not-asked")),
    ("E-W10", |e| e.bootstrap_expires = Some(now())),
    ("E-W11", |e| pending(e, false, 1)),
    ("E-W12", |e| trouble(e, "name-taken")),
    ("E-W13", |e| pending(e, true, 1)),
    ("E-W14", |e| pending(e, true, 100)),
    ("E-W15", |e| {
        let node = e.nodes.get_mut("w-0").unwrap();
        node.ready = hardway_cluster::objects::Truth::False;
        node.ready_message = "container runtime network not ready: no CNI configuration file".into();
    }),
    ("E-W16", |e| drop(e.nodes.get_mut("w-0").unwrap().labels.remove("zone"))),
    ("E-W17", |e| e.workers[0].history.config_hash = Some("00000000".into())),
    ("E-W17", |e| trouble(e, "upgrade-stuck")),
    ("E-W18", |e| {
        e.pools[0].pool.metadata.deletion_timestamp =
            Some(k8s_openapi::apimachinery::pkg::apis::meta::v1::Time(now()));
        e.pools[0].machines.push("by-hand".into());
    }),
    ("E-W19", |e| hold(e, 2)),
    ("E-W20", |e| {
        let failed_mount = Some("MountVolume.SetUp failed for ovn-control-plane-metrics-cert".into());
        e.ovn = OvnFacts { has_deployment: true, failed_mount, is_marked: true, ..OvnFacts::default() };
    }),
];

#[test]
fn a_good_cluster_has_nothing() {
    assert_eq!(diagnose(&good()), []);
}

#[test]
fn every_row_finds_its_fault_and_no_other_row_does() {
    for (code, fault) in FAULTS {
        let mut evidence = good();
        fault(&mut evidence);
        let found: Vec<String> = diagnose(&evidence).into_iter().map(|found| found.code).collect();
        assert_eq!(found, [*code]);
    }
    let shown: BTreeSet<&str> = FAULTS.iter().map(|(code, _)| *code).collect();
    assert_eq!(shown, ROWS.iter().map(|row| row.code).collect());
}

#[test]
fn rows_and_explanations_are_the_same_set() {
    let catalogue = Catalogue::read(crate::EXPLANATIONS.iter().copied());
    let explained: BTreeSet<&str> =
        catalogue.iter().filter(|e| e.kind == Kind::HostedDiagnosis).map(|e| e.name).collect();
    assert_eq!(explained, ROWS.iter().map(|row| row.code).collect());
}
