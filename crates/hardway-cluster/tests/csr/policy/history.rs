//! The same node again: duplicates, replays, reinstalls, and those who ask too often.

use hardway_cluster::csr_policy::{Approval, CsrVerdict, ReasonCode as R, Rival, SERVING_SIGNER};

use crate::csr::support::key::{GOOD, STRANGERS, TestKey};
use crate::csr::support::request::{BOOTSTRAPPER, Draft, HOST_USER, NODE, ago};

fn key_id(draft: &Draft, key: &TestKey) -> String {
    draft.examined(key).key_id().unwrap().to_owned()
}

fn own() -> &'static TestKey {
    &GOOD[0].1
}

fn rival(draft: &Draft, name: &str, age: i64, key: &TestKey) -> Rival {
    Rival { name: name.into(), created: ago(age), key_id: key_id(draft, key) }
}

fn approval(draft: &Draft, age: i64, key: &TestKey) -> Approval {
    let (node, signer) = (NODE.into(), draft.request.signer.clone());
    let (key_id, username) = (key_id(draft, key), draft.request.username.clone());
    Approval { uid: format!("uid-{age}"), node, signer, key_id, username, at: ago(age) }
}

/// For first certificates, with the approver's view of one rival: its age and key, and what becomes of a request made 100
/// seconds ago.
#[test]
fn of_several_first_requests_only_the_last_one_waiting_is_approved() {
    let cases = [
        ("an older one of the same key", 200, own(), R::FirstClient),
        ("a newer one of the same key", 50, own(), R::Superseded),
        ("an older one that nobody waits for", 2_000, &*STRANGERS, R::FirstClient),
        ("an older one that somebody may wait for", 600, &*STRANGERS, R::Contested),
        ("a newer one of another key", 50, &*STRANGERS, R::Contested),
    ];
    for (name, age, key, reason) in cases {
        let mut draft = Draft::first_client();
        draft.request.created = ago(100);
        draft.rivals = vec![rival(&draft, "csr-other", age, key)];
        assert_eq!(draft.decide(own()).reason(), reason, "{name}");
    }
}

/// Its kubelet has given up, and a newer one is there: nobody waits for it.
#[test]
fn an_abandoned_first_request_makes_room_for_a_newer_one() {
    let mut draft = Draft::first_client();
    draft.request.created = ago(1_000);
    draft.redemptions[0].at = ago(1_500);
    draft.rivals = vec![rival(&draft, "csr-newer", 90, &STRANGERS)];
    assert_eq!(draft.decide(own()).reason(), R::Superseded);
    draft.rivals.clear();
    assert_eq!(draft.decide(own()).reason(), R::Abandoned);
}

/// The node itself asks, so its newest request is what it wants.
#[test]
fn of_several_serving_requests_the_newest_is_approved() {
    for base in [Draft::serving, Draft::client_renewal] {
        let mut draft = base();
        draft.request.created = ago(100);
        draft.rivals = vec![rival(&draft, "csr-older", 200, &STRANGERS)];
        assert_eq!(draft.decide(own()).verdict(), CsrVerdict::Approve);
        draft.rivals.push(rival(&draft, "csr-newer", 50, &STRANGERS));
        let decision = draft.decide(own());
        assert_eq!((decision.verdict(), decision.reason()), (CsrVerdict::Deny, R::Superseded));
        assert!(decision.evidence()[0].contains("csr-newer"));
    }
}

/// The API server counts in seconds: of two in one second, the same one is always the newer.
#[test]
fn of_two_in_one_second_exactly_one_is_the_newest() {
    let mut draft = Draft::serving();
    let mut reasons = Vec::new();
    for (name, other) in [("csr-a", "csr-b"), ("csr-b", "csr-a")] {
        draft.request.name = name.into();
        draft.rivals = vec![rival(&draft, other, 5, &STRANGERS)];
        reasons.push(draft.decide(own()).reason());
    }
    assert_eq!(reasons, [R::Superseded, R::FirstServing]);
}

#[test]
fn one_key_a_name_until_the_host_is_installed_again() {
    for base in [Draft::first_client, Draft::stock_client] {
        let mut draft = base();
        draft.approvals = vec![approval(&draft, 300, own())];
        assert_eq!(draft.decide(own()).reason(), R::FirstClient, "the same key again");
        draft.approvals = vec![approval(&draft, 300, &STRANGERS)];
        let held = draft.decide(own());
        assert_eq!((held.verdict(), held.reason()), (CsrVerdict::Hold, R::AlreadyApproved));
        draft.redemptions[0].at = ago(200);
        assert_eq!(draft.decide(own()).reason(), R::Rejoin, "its config was fetched since then");
        draft.redemptions[0].source = "10.6.6.6".parse().unwrap();
        assert_eq!(draft.decide(own()).verdict(), CsrVerdict::Hold, "but not by itself");
    }
}

/// Restarted before it had its answer, it asks with another key: until the time in which a kubelet waits is over, whoever has
/// the first certificate may still come with it.
#[test]
fn a_kubelet_that_lost_its_key_is_let_in_once_nobody_came_with_it() {
    for (age, node, reason) in [
        (60, false, R::AlreadyApproved),
        (890, false, R::AlreadyApproved),
        (910, false, R::Rejoin),
        (910, true, R::NodeExists),
    ] {
        let mut draft = Draft::first_client();
        draft.redemptions[0].at = ago(1_000);
        draft.approvals = vec![approval(&draft, age, &STRANGERS)];
        if node {
            draft.nodes = Draft::serving().nodes;
        }
        assert_eq!(draft.decide(own()).reason(), reason, "{age} {node}");
    }
    let mut draft = Draft::first_client();
    draft.redemptions[0].at = ago(1_000);
    let first = approval(&draft, 910, &STRANGERS);
    let username = format!("system:node:{NODE}");
    let serving = Approval { username, signer: SERVING_SIGNER.into(), at: ago(900), ..first.clone() };
    draft.approvals = vec![first, serving];
    assert_eq!(
        draft.decide(own()).reason(),
        R::AlreadyApproved,
        "its node was there, and somebody deleted it"
    );
    let mut draft = Draft::stock_client();
    draft.redemptions[0].at = ago(1_000);
    draft.approvals = vec![approval(&draft, 910, &STRANGERS)];
    assert_eq!(
        draft.decide(own()).reason(),
        R::AlreadyApproved,
        "the shared identity proves nothing by waiting"
    );
}

/// What somebody else was given, however that came about, neither bars the host nor counts for it.
#[test]
fn what_others_or_an_earlier_generation_got_does_not_hold_a_host_up() {
    let mut draft = Draft::first_client();
    let one = approval(&draft, 0, &STRANGERS);
    let of = |username: &str, age| Approval { username: username.into(), at: ago(age), ..one.clone() };
    let others = [of(BOOTSTRAPPER, 30), of("system:admin", 20), of("hardway:host:worker-1:1", 10), of("", 5)];
    draft.approvals = others.into();
    assert_eq!(draft.decide(own()).reason(), R::FirstClient);
    draft.next_generation(ago(120), false);
    draft.redemptions[0].at = ago(100);
    draft.approvals.push(of("hardway:host:worker-0:1", 600));
    assert_eq!(draft.decide(own()).reason(), R::FirstClient, "the second generation is a new beginning");
    draft.approvals.push(of("hardway:host:worker-0:2", 60));
    assert_eq!(draft.decide(own()).reason(), R::AlreadyApproved, "and good for one key");
}

#[test]
fn a_node_that_is_there_comes_again_only_when_installed_again_or_let_in() {
    let mut draft = Draft::stock_client();
    draft.nodes = Draft::serving().nodes;
    assert_eq!(draft.decide(own()).reason(), R::NodeExists);
    draft.redemptions[0].at = ago(30);
    assert_eq!(draft.decide(own()).reason(), R::Rejoin, "installed again after it had registered");
    draft.redemptions[0].at = ago(600);
    draft.settings.rejoin.insert(NODE.into(), ago(4));
    assert_eq!(draft.decide(own()).reason(), R::NodeExists, "it asked before a person said so");
    draft.settings.rejoin.insert(NODE.into(), ago(100));
    assert_eq!(draft.decide(own()).reason(), R::Rejoin, "a person said so");
    draft.approvals = vec![approval(&draft, 200, &STRANGERS)];
    assert_eq!(draft.decide(own()).reason(), R::Rejoin, "whoever came in before does not matter");
    draft.approvals = vec![approval(&draft, 50, &STRANGERS)];
    assert_eq!(draft.decide(own()).verdict(), CsrVerdict::Hold, "one certificate uses it up");
    draft.approvals.clear();
    draft.pkcs10.names = vec![crate::csr::support::pkcs10::dns(NODE)];
    assert_eq!(draft.decide(own()).verdict(), CsrVerdict::Deny, "which excuses nothing else");
}

/// The next generation takes the place of a permission: it is for one machine, and for one key of it.
#[test]
fn a_host_that_is_a_node_comes_again_with_its_next_generation() {
    let mut draft = Draft::first_client();
    draft.nodes = Draft::serving().nodes;
    assert_eq!(draft.decide(own()).reason(), R::NodeExists);
    draft.settings.rejoin.insert(NODE.into(), ago(100));
    assert_eq!(draft.decide(own()).reason(), R::NodeExists, "permissions are for stock pointers");
    draft.next_generation(ago(70), true);
    assert_eq!(
        draft.decide(own()).reason(),
        R::NodeExists,
        "the node is newer: it came with this generation"
    );
    draft.next_generation(ago(50), true);
    assert_eq!(draft.decide(own()).reason(), R::Rejoin);
    draft.redemptions[0].at = ago(9_000_000);
    assert_eq!(draft.decide(own()).reason(), R::Rejoin, "it was put in place, and nothing was fetched");
    draft.next_generation(ago(50), false);
    assert_eq!(draft.decide(own()).reason(), R::OutsideJoinWindow, "one in a config has to be fetched");
    draft.redemptions[0].at = ago(40);
    assert_eq!(draft.decide(own()).reason(), R::Rejoin);
    draft.approvals = vec![approval(&draft, 20, &STRANGERS)];
    assert_eq!(draft.decide(own()).verdict(), CsrVerdict::Hold, "one key uses it up");
    draft.approvals.clear();
    draft.request.username = HOST_USER.into();
    let old = draft.decide(own());
    assert_eq!((old.verdict(), old.reason()), (CsrVerdict::Deny, R::IdentityReplaced));
}

#[test]
fn an_old_approval_of_another_node_or_signer_means_nothing() {
    let mut draft = Draft::first_client();
    let other_node =
        Approval { node: "worker-1.ocp4.example.com".into(), ..approval(&draft, 300, &STRANGERS) };
    let other_signer = Approval { signer: SERVING_SIGNER.into(), ..approval(&draft, 300, &STRANGERS) };
    draft.approvals = vec![other_node, other_signer];
    assert_eq!(draft.decide(own()).reason(), R::FirstClient);
}

#[test]
fn a_node_gets_what_it_needs_and_no_more() {
    for base in [Draft::serving, Draft::client_renewal] {
        let mut draft = base();
        draft.approvals = [100, 200].map(|age| approval(&draft, age, &STRANGERS)).into();
        assert_eq!(draft.decide(own()).verdict(), CsrVerdict::Approve);
        draft.approvals.push(approval(&draft, 4_000, &STRANGERS));
        assert_eq!(draft.decide(own()).verdict(), CsrVerdict::Approve, "an hour ago is long ago");
        draft.approvals.push(approval(&draft, 300, &STRANGERS));
        assert_eq!(draft.decide(own()).reason(), R::OverBudget);
    }
    let mut draft = Draft::serving();
    draft.approvals = vec![approval(&draft, 86_400, &STRANGERS)];
    assert_eq!(draft.decide(own()).reason(), R::ServingRenewal);
}
