//! The judges, case by case.

use std::net::IpAddr;

use hardway_assets::inventory::Role;
use hardway_base::Verdict;
use serde_json::json;

use super::*;
use crate::certificates::{CertificatePlace, KnownCertificate};
use crate::declared::{Declared, DeclaredNode};
use crate::etcd::{BOOTSTRAP_MEMBER, Member, MembersError};
use crate::handshake::{HandshakeError, NoAnswer};
use crate::objects::{ClusterOperator, ClusterVersion, Node, Pod, StaticPodStatus};
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
    assert_eq!(judge(&good()).judged.verdict, Verdict::Passed);
    let mut spoil: Vec<(&str, Vec<Node>)> = vec![
        ("w0 does not exist", good().drain(..1).collect()),
        (
            "x is a node, but not in the inventory",
            [good(), vec![node("x", "worker", "10.0.0.9", "True", "v1.31.5")]].concat(),
        ),
    ];
    spoil.push((
        "worker w0 calls itself w0.example.com",
        vec![good().remove(0), node("w0.example.com", "worker", "10.0.0.2", "True", "v1.31.5")],
    ));
    for (what, other) in [
        ("is not Ready", node("w0", "worker", "10.0.0.2", "False", "v1.31.5")),
        ("is not a worker", node("w0", "infra", "10.0.0.2", "True", "v1.31.5")),
        (
            "has address 10.0.0.7, but 10.0.0.2 is declared",
            node("w0", "worker", "10.0.0.7", "True", "v1.31.5"),
        ),
        ("the kubelet of w0 has version \"v1.29.0\"", node("w0", "worker", "10.0.0.2", "True", "v1.29.0")),
    ] {
        spoil.push((what, vec![good().remove(0), other]));
    }
    for (what, nodes) in spoil {
        let outcome = judge(&nodes);
        assert!(
            outcome.judged.verdict == Verdict::Failed
                && outcome.judged.seen.len() == 1
                && outcome.judged.seen[0].contains(what),
            "{what}: {outcome:?}"
        );
    }
    assert_eq!(judge_nodes(&Declared::default(), &good(), "v1.31.5").judged.verdict, Verdict::Passed);
    assert_eq!(
        judge_nodes(&Declared::default(), &[], "v1.31.5").judged.verdict,
        Verdict::Failed,
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
        (Verdict::Passed, Some(good.clone()), vec![operator("True", "False")]),
        (Verdict::Failed, None, vec![operator("True", "False")]),
        (Verdict::Failed, Some(version("bad", json!(null))), vec![operator("True", "False")]),
        (Verdict::Failed, Some(version("good", none)), vec![operator("True", "False")]),
        (Verdict::Failed, Some(good.clone()), vec![]),
        (Verdict::Failed, Some(good.clone()), vec![operator("False", "False")]),
        (Verdict::Failed, Some(good.clone()), vec![operator("True", "True")]),
        (Verdict::Failed, Some(good), vec![ClusterOperator::default()]),
    ] {
        assert_eq!(judge_operators(version.as_ref(), &operators).judged.verdict, verdict);
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
        (Verdict::Passed, part(vec![pod("etcd-m0", "m0", "True")], 7)),
        (Verdict::Failed, part(vec![pod("etcd-m0", "m0", "True")], 6)),
        (Verdict::Failed, part(vec![pod("etcd-m0", "m0", "False")], 7)),
        (Verdict::Failed, part(vec![pod("etcd-guard-m0", "m0", "True")], 7)),
        (Verdict::Failed, part(vec![pod("etcd-m1", "m1", "True")], 7)),
        (Verdict::Failed, part(vec![], 7)),
    ] {
        assert_eq!(judge_control_plane(&masters, &parts).judged.verdict, verdict, "{parts:?}");
    }
    assert_eq!(judge_control_plane(&[], &part(vec![], 7)).judged.verdict, Verdict::Failed);
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
        (Verdict::Passed, vec![one.clone()]),
        (Verdict::Failed, vec![]),
        (Verdict::Failed, vec![one, member(BOOTSTRAP_MEMBER, true, false)]),
        (Verdict::Failed, vec![member("m0", false, false)]),
        (Verdict::Failed, vec![member("m0", true, true)]),
    ] {
        assert_eq!(judge_etcd(1, Ok(&members)).judged.verdict, verdict, "{members:?}");
    }
    assert_eq!(judge_etcd(1, Err(&MembersError::NoAddress)).judged.verdict, Verdict::Failed);
}

#[test]
fn certificates_that_end_are_told_in_time() {
    const DAY: i64 = 86_400;
    let secret = |from: i64, to: i64| KnownCertificate {
        place: CertificatePlace::Cluster,
        name: "a/b".to_owned(),
        signer: None,
        renewer: None,
        not_before: Some(at(from)),
        not_after: at(to),
    };
    for (verdict, secrets) in [
        (Verdict::Passed, vec![secret(-DAY, 30 * DAY)]),
        (Verdict::Passed, vec![KnownCertificate { not_before: None, ..secret(0, DAY) }]),
        (Verdict::Warned, vec![secret(-29 * DAY, 2 * DAY)]),
        (Verdict::Failed, vec![secret(-29 * DAY, 0)]),
        (Verdict::Failed, vec![secret(DAY, 2 * DAY)]),
    ] {
        assert_eq!(judge_certificates(at(0), &[], &secrets).judged.verdict, verdict, "{secrets:?}");
    }
    let lost = Presented { endpoint: "api:6443".to_owned(), chain: Err(HandshakeError::NoAddress) };
    assert_eq!(judge_certificates(at(0), &[lost], &[]).judged.seen, ["api:6443: it has no address"]);
}

#[test]
fn names_resolve_to_what_is_declared() {
    let ip = |text: &str| text.parse::<IpAddr>().unwrap();
    let name = |expected: &[&str], found: Result<Vec<IpAddr>, NoAnswer>| ResolvedName {
        name: "api".to_owned(),
        expected: expected.iter().map(|text| ip(text)).collect(),
        found,
    };
    for (verdict, resolved) in [
        (Verdict::Passed, name(&["10.0.0.1"], Ok(vec![ip("10.0.0.1")]))),
        (Verdict::Passed, name(&[], Ok(vec![ip("10.0.0.7")]))),
        (Verdict::Failed, name(&["10.0.0.1"], Ok(vec![ip("10.0.0.1"), ip("10.0.0.7")]))),
        (Verdict::Failed, name(&["10.0.0.1"], Ok(vec![]))),
        (Verdict::Failed, name(&["10.0.0.1"], Err(NoAnswer::Late))),
    ] {
        assert_eq!(judge_names(std::slice::from_ref(&resolved), &[]).judged.verdict, verdict, "{resolved:?}");
    }
}

#[test]
fn a_registry_without_storage_is_no_fault_until_it_is_asked_for() {
    for (verdict, config) in [
        (Verdict::Skipped, None),
        (Verdict::Warned, Some(json!({"spec": {"managementState": "Removed"}}))),
        (
            Verdict::Failed,
            Some(json!({"spec": {"managementState": "Managed", "storage": {"managementState": "Managed"}}})),
        ),
        (Verdict::Passed, Some(json!({"spec": {"managementState": "Managed", "storage": {"emptyDir": {}}}}))),
    ] {
        assert_eq!(judge_registry(config.as_ref()).judged.verdict, verdict, "{config:?}");
    }
}

#[test]
fn the_balancer_leads_to_masters_and_to_nobody_else() {
    let ip = |last: u8| IpAddr::from([192, 0, 2, last]);
    let masters = (1..=3).map(|n| (format!("m{n}"), vec![ip(n)])).collect();
    let others = [(ip(9), "the bootstrap host".to_owned())].into();
    let seen = |answered: &[u8], failed: usize| BalancerSeen {
        url: "https://api:6443".to_owned(),
        answered: answered.iter().map(|last| (ip(*last), 8)).collect(),
        nameless: 0,
        failed: vec!["refused".to_owned(); failed],
    };
    for (verdict, words, seen) in [
        (Verdict::Passed, "came to 3 masters and nobody else", seen(&[1, 2, 3], 0)),
        (Verdict::Warned, "1 of 25 connections to https://api:6443 failed: refused", seen(&[1, 2, 3], 1)),
        (Verdict::Warned, "not in its pool: m2, m3", seen(&[1], 0)),
        (Verdict::Failed, "none of 16 connections to https://api:6443 came to m3", seen(&[1, 2], 0)),
        (Verdict::Failed, "8 of 24 connections to https://api:6443 failed: refused", seen(&[1, 2], 8)),
        (
            Verdict::Failed,
            "192.0.2.9 answers behind https://api:6443, but is not a master: the bootstrap host",
            seen(&[1, 2, 3, 9], 0),
        ),
        (Verdict::Skipped, "do not say who they are", BalancerSeen { nameless: 24, ..seen(&[], 0) }),
    ] {
        let outcome = judge_balancer(&masters, &others, &seen);
        assert!(
            outcome.judged.verdict == verdict && outcome.judged.seen.iter().any(|seen| seen.contains(words)),
            "{words}: {outcome:?}"
        );
    }
}

#[test]
fn masters_are_silent_together_or_one_by_one() {
    let asked = |last: u8, answer: MasterAnswer| {
        (format!("m{last}"), std::net::SocketAddr::from(([192, 0, 2, last], 6443)), answer)
    };
    let silent = || MasterAnswer::Unreachable("no answer".to_owned());
    for (verdict, words, asked) in [
        (Verdict::Passed, "2 masters", vec![asked(1, MasterAnswer::Ready), asked(2, MasterAnswer::Ready)]),
        (
            Verdict::Failed,
            "m2 does not answer at 192.0.2.2:6443",
            vec![asked(1, MasterAnswer::Ready), asked(2, silent())],
        ),
        (
            Verdict::Failed,
            "m1 is not ready at 192.0.2.1:6443: it waits for etcd",
            vec![asked(1, MasterAnswer::NotReady("it waits for etcd".to_owned()))],
        ),
        (
            Verdict::Skipped,
            "not checked: no master can be reached",
            vec![asked(1, silent()), asked(2, silent())],
        ),
        (Verdict::Skipped, "not checked: no address", vec![]),
    ] {
        let outcome = judge_masters(&asked);
        assert!(outcome.judged.verdict == verdict && outcome.judged.seen[0].contains(words), "{outcome:?}");
    }
}
