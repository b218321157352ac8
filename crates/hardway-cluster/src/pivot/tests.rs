//! The decision, case by case: no step is allowed too early.

use proptest::prelude::*;

use super::*;
use crate::etcd::{BOOTSTRAP_MEMBER, Member, MembersError};
use crate::objects::{ConfigMap, KubeApiServer};
use crate::state::ClusterState;
use crate::testing::{bootstrap, declared, etcd, version};
use crate::watch::{ClusterEvent, Observed};

fn members(names: &[&str]) -> Vec<Member> {
    let member = |name: &&str| Member {
        name: (*name).to_owned(),
        is_learner: false,
        is_healthy: true,
        client_urls: Vec::new(),
    };
    names.iter().map(member).collect()
}

fn three() -> Vec<Member> {
    members(&["m0", "m1", "m2"])
}

/// Everything holds but the load balancer.
fn ready() -> Facts {
    Facts {
        is_fresh: true,
        masters_needed: 2,
        api_servers: 2,
        controller_managers: 2,
        schedulers: 2,
        overrides: Some(0),
        etcd_in_cluster: true,
        bootstrap_complete: true,
        member_removed: true,
        members: MemberList::Told(three()),
        out_of_load_balancer: false,
    }
}

#[test]
fn when_everything_holds_the_load_balancer_comes_first_and_the_machine_second() {
    assert_eq!(decide(&ready()).allowed, Allowed::LeaveLoadBalancer);
    let out = Facts { out_of_load_balancer: true, ..ready() };
    assert_eq!(decide(&out).allowed, Allowed::PowerOff);
}

#[test]
fn each_fact_alone_forbids_everything() {
    let mut learner = three();
    learner[1].is_learner = true;
    learner[2].is_learner = true;
    let spoiled: [(&str, Facts); 13] = [
        ("api-heard", Facts { is_fresh: false, ..ready() }),
        ("kube-apiserver-on-masters", Facts { api_servers: 1, ..ready() }),
        ("kube-controller-manager-on-masters", Facts { controller_managers: 1, ..ready() }),
        ("kube-scheduler-on-masters", Facts { schedulers: 0, ..ready() }),
        ("overrides-restored", Facts { overrides: None, ..ready() }),
        ("overrides-restored", Facts { overrides: Some(3), ..ready() }),
        ("etcd-in-cluster", Facts { etcd_in_cluster: false, ..ready() }),
        ("bootstrap-complete", Facts { bootstrap_complete: false, ..ready() }),
        ("member-removed", Facts { member_removed: false, ..ready() }),
        ("member-list", Facts { members: MemberList::default(), ..ready() }),
        (
            "member-list",
            Facts { members: MemberList::Told(members(&["m0", "m1", "m2", BOOTSTRAP_MEMBER])), ..ready() },
        ),
        ("member-list", Facts { members: MemberList::Told(members(&["m0", "m1", ""])), ..ready() }),
        ("member-list", Facts { members: MemberList::Told(learner), ..ready() }),
    ];
    for (gate, facts) in spoiled {
        for out_of_load_balancer in [false, true] {
            let decision = decide(&Facts { out_of_load_balancer, ..facts.clone() });
            let closed = decision.gates.iter().filter(|gate| !gate.holds);
            let closed: Vec<_> = closed.map(|gate| serde_json::to_value(gate.name).unwrap()).collect();
            assert_eq!((decision.allowed, closed), (Allowed::Nothing, vec![gate.into()]));
            assert_eq!(decision.missing().count(), 1);
        }
    }
}

#[test]
fn a_single_node_needs_one_of_each() {
    let single = Facts {
        masters_needed: 1,
        api_servers: 1,
        controller_managers: 1,
        schedulers: 1,
        members: MemberList::Told(members(&["m0"])),
        ..ready()
    };
    assert_eq!(decide(&single).allowed, Allowed::LeaveLoadBalancer);
    assert_eq!(decide(&Facts { masters_needed: 0, api_servers: 0, ..single }).allowed, Allowed::Nothing);
}

#[test]
fn nothing_seen_allows_nothing() {
    assert_eq!(decide(&Facts::default()).allowed, Allowed::Nothing);
}

#[test]
fn facts_come_from_objects() {
    let mut state = ClusterState::default();
    let of = |state: &ClusterState, asked: Result<Vec<Member>, MembersError>| {
        Facts::of(state, &declared(), true, asked, false)
    };
    let facts = of(&state, Err(MembersError::NoAddress));
    assert_eq!((facts.masters_needed, facts.overrides, facts.bootstrap_complete), (2, None, false));
    assert_eq!(facts.members, MemberList::Unknown(MembersError::NoAddress.to_string()));

    let server: KubeApiServer = serde_json::from_value(serde_json::json!({"metadata": {"name": "cluster"}, "status": {
        "nodeStatuses": [{"nodeName": "m0", "currentRevision": 3}, {"nodeName": "m1"}, {"nodeName": "m2", "currentRevision": 1}]}}))
    .unwrap();
    for object in [
        version("FTF", "busy"),
        bootstrap("complete"),
        etcd(&["EtcdRunningInCluster"]),
        Observed::KubeApiServer(server),
    ] {
        state.apply(&ClusterEvent::Changed(object));
    }
    let facts = of(&state, Ok(three()));
    assert_eq!((facts.api_servers, facts.overrides, facts.bootstrap_complete), (2, Some(0), true));
    assert!(facts.etcd_in_cluster && !facts.member_removed);

    // When etcd cannot be asked, its operator's config map must have dropped the bootstrap address and hold others.
    let map = |value: serde_json::Value| {
        ClusterEvent::Changed(Observed::Endpoints(serde_json::from_value::<ConfigMap>(value).unwrap()))
    };
    for (value, inferred) in [
        (
            serde_json::json!({"metadata": {"annotations": {"alpha.installer.openshift.io/etcd-bootstrap": "10.0.0.9"}}, "data": {"a": "10.0.0.1"}}),
            false,
        ),
        (serde_json::json!({"metadata": {}, "data": {}}), false),
        (serde_json::json!({"metadata": {}}), false),
        (serde_json::json!({"metadata": {}, "data": {"a": "10.0.0.1"}}), true),
    ] {
        state.apply(&map(value));
        assert_eq!(
            of(&state, Err(MembersError::NoAddress)).members
                == MemberList::Inferred { unasked: MembersError::NoAddress.to_string() },
            inferred
        );
    }
    assert_eq!(of(&state, Ok(three())).members, MemberList::Told(three()), "etcd's own word comes first");
}

/// The facts that come true in some order, and may become false again.
fn change() -> impl Strategy<Value = (usize, bool)> {
    (0..10_usize, prop::bool::weighted(0.8))
}

fn apply(facts: &mut Facts, (which, holds): (usize, bool)) {
    let count = if holds { 2 } else { 1 };
    match which {
        0 => facts.is_fresh = holds,
        1 => facts.api_servers = count,
        2 => facts.controller_managers = count,
        3 => facts.schedulers = count,
        4 => facts.overrides = Some(usize::from(!holds)),
        5 => facts.etcd_in_cluster = holds,
        6 => facts.bootstrap_complete = holds,
        7 => facts.member_removed = holds,
        8 if holds => facts.members = MemberList::Told(three()),
        8 => facts.members = MemberList::Told(members(&["m0", BOOTSTRAP_MEMBER])),
        _ => facts.out_of_load_balancer = holds,
    }
}

proptest! {
    #[test]
    fn in_no_order_is_anything_allowed_early(changes in prop::collection::vec(change(), 0..80)) {
        let mut facts = Facts { masters_needed: 2, ..Facts::default() };
        for change in changes {
            apply(&mut facts, change);
            let all = Facts { out_of_load_balancer: facts.out_of_load_balancer, ..ready() };
            let expected = match (facts == all, facts.out_of_load_balancer) {
                (false, _) => Allowed::Nothing,
                (true, false) => Allowed::LeaveLoadBalancer,
                (true, true) => Allowed::PowerOff,
            };
            prop_assert_eq!(decide(&facts).allowed, expected);
        }
    }
}
