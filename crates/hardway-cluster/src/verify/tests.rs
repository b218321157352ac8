//! The judges, case by case.

use std::net::IpAddr;

use hardway_assets::inventory::Role;
use serde_json::json;

use super::*;
use crate::declared::{Declared, DeclaredNode};
use crate::handshake::HandshakeError;
use crate::no_answer::NoAnswer;
use crate::objects::{ClusterOperator, ClusterVersion, Node, Pod, StaticPodStatus};
use crate::pivot::{BOOTSTRAP_MEMBER, Member};
use crate::testing::at;

fn declared() -> Declared {
    let ip = |text: &str| text.parse::<IpAddr>().unwrap();
    let node = |name: &str, role, address| DeclaredNode {
        name: name.to_owned(),
        host: name.to_owned(),
        role: Some(role),
        addresses: vec![ip(address)],
        identity: None,
    };
    Declared {
        nodes: [node("m0", Role::Master, "10.0.0.1"), node("w0", Role::Worker, "10.0.0.2")].into(),
        ..Declared::default()
    }
}

fn node(name: &str, role: &str, ip: &str, ready: &str, version: &str) -> Node {
    serde_json::from_value(json!({"metadata": {"name": name, "labels": {format!("node-role.kubernetes.io/{role}"): ""}},
        "status": {"conditions": [{"type": "Ready", "status": ready}], "addresses": [{"type": "InternalIP", "address": ip}],
            "nodeInfo": {"kubeletVersion": version}}}))
    .unwrap()
}

#[test]
fn nodes_are_compared_with_the_inventory() {
    let good = || {
        vec![
            node("m0", "master", "10.0.0.1", "True", "v1.31.5"),
            node("w0", "worker", "10.0.0.2", "True", "v1.31.5"),
        ]
    };
    let judge = |nodes: &[Node]| judge_nodes(&declared(), nodes, "v1.31.5");
    assert_eq!(judge(&good()).verdict, VerifyVerdict::Passed);
    let mut spoil: Vec<(&str, Vec<Node>)> = vec![
        ("w0 is not there", good().drain(..1).collect()),
        (
            "x is a node and not in the inventory",
            [good(), vec![node("x", "worker", "10.0.0.9", "True", "v1.31.5")]].concat(),
        ),
    ];
    spoil.push((
        "worker w0 calls itself w0.example.com",
        vec![good().remove(0), node("w0.example.com", "worker", "10.0.0.2", "True", "v1.31.5")],
    ));
    for (what, other) in [
        ("is not Ready", node("w0", "worker", "10.0.0.2", "False", "v1.31.5")),
        ("is no worker", node("w0", "infra", "10.0.0.2", "True", "v1.31.5")),
        ("has address 10.0.0.7, declared is 10.0.0.2", node("w0", "worker", "10.0.0.7", "True", "v1.31.5")),
        ("the kubelet of w0 is \"v1.29.0\"", node("w0", "worker", "10.0.0.2", "True", "v1.29.0")),
    ] {
        spoil.push((what, vec![good().remove(0), other]));
    }
    for (what, nodes) in spoil {
        let outcome = judge(&nodes);
        assert!(
            outcome.verdict == VerifyVerdict::Failed
                && outcome.seen.len() == 1
                && outcome.seen[0].contains(what),
            "{what}: {outcome:?}"
        );
    }
    assert_eq!(judge_nodes(&Declared::default(), &good(), "v1.31.5").verdict, VerifyVerdict::Passed);
    assert_eq!(
        judge_nodes(&Declared::default(), &[], "v1.31.5").verdict,
        VerifyVerdict::Failed,
        "none of none is not enough"
    );
}

#[test]
fn operators_are_all_well_and_there_are_some() {
    let version = |is: &str, overrides: serde_json::Value| -> ClusterVersion {
        let status = |good: bool| if good { "True" } else { "False" };
        serde_json::from_value(json!({"metadata": {"name": "version"}, "spec": {"overrides": overrides}, "status": {"conditions": [
            {"type": "Available", "status": status(is == "good")}, {"type": "Failing", "status": "False"}, {"type": "Progressing", "status": "False"}]}}))
        .unwrap()
    };
    let operator = |available: &str, degraded: &str| -> ClusterOperator {
        serde_json::from_value(json!({"metadata": {"name": "dns"}, "status": {"conditions": [
            {"type": "Available", "status": available}, {"type": "Degraded", "status": degraded}]}}))
        .unwrap()
    };
    let (good, none) = (version("good", json!(null)), json!([{"kind": "ConfigMap", "name": "x"}]));
    for (verdict, version, operators) in [
        (VerifyVerdict::Passed, Some(good.clone()), vec![operator("True", "False")]),
        (VerifyVerdict::Failed, None, vec![operator("True", "False")]),
        (VerifyVerdict::Failed, Some(version("bad", json!(null))), vec![operator("True", "False")]),
        (VerifyVerdict::Failed, Some(version("good", none)), vec![operator("True", "False")]),
        (VerifyVerdict::Failed, Some(good.clone()), vec![]),
        (VerifyVerdict::Failed, Some(good.clone()), vec![operator("False", "False")]),
        (VerifyVerdict::Failed, Some(good.clone()), vec![operator("True", "True")]),
        (VerifyVerdict::Failed, Some(good), vec![ClusterOperator::default()]),
    ] {
        assert_eq!(judge_operators(version.as_ref(), &operators).verdict, verdict);
    }
}

#[test]
fn every_master_runs_every_part() {
    let pod = |name: &str, node: &str, ready: &str| -> Pod {
        serde_json::from_value(json!({"metadata": {"name": name}, "spec": {"nodeName": node},
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": ready}]}}))
        .unwrap()
    };
    let status = |revision: i64| -> StaticPodStatus {
        serde_json::from_value(json!({"latestAvailableRevision": 7, "nodeStatuses": [{"nodeName": "m0", "currentRevision": revision}]})).unwrap()
    };
    let masters = ["m0".to_owned()];
    let part =
        |pods: Vec<Pod>, revision| [PodsOf { component: "etcd", pods, status: Some(status(revision)) }];
    for (verdict, parts) in [
        (VerifyVerdict::Passed, part(vec![pod("etcd-m0", "m0", "True")], 7)),
        (VerifyVerdict::Failed, part(vec![pod("etcd-m0", "m0", "True")], 6)),
        (VerifyVerdict::Failed, part(vec![pod("etcd-m0", "m0", "False")], 7)),
        (VerifyVerdict::Failed, part(vec![pod("etcd-guard-m0", "m0", "True")], 7)),
        (VerifyVerdict::Failed, part(vec![pod("etcd-m1", "m1", "True")], 7)),
        (VerifyVerdict::Failed, part(vec![], 7)),
    ] {
        assert_eq!(judge_control_plane(&masters, &parts).verdict, verdict, "{parts:?}");
    }
    assert_eq!(judge_control_plane(&[], &part(vec![], 7)).verdict, VerifyVerdict::Failed);
}

#[test]
fn etcd_has_the_masters_and_nobody_else() {
    let member = |name: &str, is_healthy, is_learner| Member {
        name: name.to_owned(),
        is_healthy,
        is_learner,
        client_urls: vec![],
    };
    let one = member("m0", true, false);
    for (verdict, members) in [
        (VerifyVerdict::Passed, vec![one.clone()]),
        (VerifyVerdict::Failed, vec![]),
        (VerifyVerdict::Failed, vec![one, member(BOOTSTRAP_MEMBER, true, false)]),
        (VerifyVerdict::Failed, vec![member("m0", false, false)]),
        (VerifyVerdict::Failed, vec![member("m0", true, true)]),
    ] {
        assert_eq!(judge_etcd(1, Ok(&members)).verdict, verdict, "{members:?}");
    }
    assert_eq!(judge_etcd(1, Err("refused")).verdict, VerifyVerdict::Failed);
}

#[test]
fn certificates_that_end_are_told_in_time() {
    const DAY: i64 = 86_400;
    let secret = |from: i64, to: i64| Expiring {
        secret: "a/b".to_owned(),
        not_before: Some(at(from)),
        not_after: at(to),
    };
    for (verdict, secrets) in [
        (VerifyVerdict::Passed, vec![secret(-DAY, 30 * DAY)]),
        (VerifyVerdict::Passed, vec![Expiring { not_before: None, ..secret(0, DAY) }]),
        (VerifyVerdict::Warned, vec![secret(-29 * DAY, 2 * DAY)]),
        (VerifyVerdict::Failed, vec![secret(-29 * DAY, 0)]),
        (VerifyVerdict::Failed, vec![secret(DAY, 2 * DAY)]),
    ] {
        assert_eq!(judge_certificates(at(0), &[], &secrets).verdict, verdict, "{secrets:?}");
    }
    let lost = Presented { endpoint: "api:6443".to_owned(), chain: Err(HandshakeError::NoAddress) };
    assert_eq!(judge_certificates(at(0), &[lost], &[]).seen, ["api:6443: it has no address"]);
}

#[test]
fn names_resolve_to_what_is_declared() {
    let ip = |text: &str| text.parse::<IpAddr>().unwrap();
    let name = |expected: &[&str], found: Result<Vec<IpAddr>, NoAnswer>| Resolved {
        name: "api".to_owned(),
        expected: expected.iter().map(|text| ip(text)).collect(),
        found,
    };
    for (verdict, resolved) in [
        (VerifyVerdict::Passed, name(&["10.0.0.1"], Ok(vec![ip("10.0.0.1")]))),
        (VerifyVerdict::Passed, name(&[], Ok(vec![ip("10.0.0.7")]))),
        (VerifyVerdict::Failed, name(&["10.0.0.1"], Ok(vec![ip("10.0.0.1"), ip("10.0.0.7")]))),
        (VerifyVerdict::Failed, name(&["10.0.0.1"], Ok(vec![]))),
        (VerifyVerdict::Failed, name(&["10.0.0.1"], Err(NoAnswer::Late))),
    ] {
        assert_eq!(judge_names(std::slice::from_ref(&resolved)).verdict, verdict, "{resolved:?}");
    }
}

#[test]
fn a_registry_without_storage_is_no_fault_until_it_is_asked_for() {
    for (verdict, config) in [
        (VerifyVerdict::Skipped, None),
        (VerifyVerdict::Warned, Some(json!({"spec": {"managementState": "Removed"}}))),
        (
            VerifyVerdict::Failed,
            Some(json!({"spec": {"managementState": "Managed", "storage": {"managementState": "Managed"}}})),
        ),
        (
            VerifyVerdict::Passed,
            Some(json!({"spec": {"managementState": "Managed", "storage": {"emptyDir": {}}}})),
        ),
    ] {
        assert_eq!(judge_registry(config.as_ref()).verdict, verdict, "{config:?}");
    }
}
