//! The same node again: duplicates, replays, reinstalls, and those who ask too often.

use hardway_cluster::csr_policy::{
    Approval, CsrVerdict, IgnitionEvidence, ReasonCode as R, Redemption, Rival, SERVING_SIGNER, SeenNode,
    is_sound,
};
use jiff::SignedDuration;

use crate::csr::support::key::{GOOD, STRANGERS, TestKey};
use crate::csr::support::request::{BOOTSTRAPPER, Draft, HOST_USER, NODE, ago, now};

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

/// Whoever holds a host's identity could have a thousand requests held, each of which is looked at again and again.
#[test]
fn of_many_keys_only_the_newest_few_are_held() {
    let (_, key) = &GOOD[0];
    for (others, reason) in [(7, R::Contested), (8, R::Superseded)] {
        let mut draft = Draft::first_client();
        let keys: Vec<TestKey> = (0..others).map(|_| TestKey::p256()).collect();
        let newer = keys.iter().enumerate().map(|(n, key)| rival(&draft, &format!("csr-y{n}"), 1, key));
        draft.rivals = newer.collect();
        assert_eq!(draft.decide(key).reason(), reason, "{others} others");
    }
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
        let since = draft.decide(own()).reason();
        match draft.own().identity {
            Some(_) => assert_eq!(since, R::AlreadyApproved, "installed again, it has its next generation"),
            None => assert_eq!(since, R::Rejoin, "its config was fetched since then"),
        }
        draft.redemptions[0].source = "10.6.6.6".parse().unwrap();
        assert_eq!(draft.decide(own()).verdict(), CsrVerdict::Hold, "but not by itself");
    }
}

/// A host that joins within the second in which it fetched its config: the API server's times have no fraction, and look older than the
/// fetch. Its clock may be behind, too. Whoever holds the host then must not get a second certificate by that.
#[test]
fn the_fetch_before_a_join_is_not_one_after_it() {
    let millis = SignedDuration::from_millis;
    for (fetched, came_in, stock) in [
        (millis(-300_000 + 73), 300, R::NodeExists),
        (millis(-300_000 - 900), 300, R::NodeExists),
        (millis(-241_000), 300, R::NodeExists),
        (millis(-240_000 + 999), 300, R::NodeExists),
        (millis(-239_000), 300, R::Rejoin),
    ] {
        for base in [Draft::first_client, Draft::stock_client] {
            let mut draft = base();
            draft.nodes = Draft::serving().nodes;
            draft.nodes.values_mut().for_each(|node| node.created = ago(came_in));
            draft.approvals = vec![approval(&draft, came_in, &STRANGERS)];
            draft.redemptions[0].at = now() + fetched;
            let reason = if draft.own().identity.is_some() { R::NodeExists } else { stock };
            assert_eq!(draft.decide(own()).reason(), reason, "{fetched}");
            draft.nodes.clear();
            let without_node = if reason == R::Rejoin { R::Rejoin } else { R::AlreadyApproved };
            assert_eq!(draft.decide(own()).reason(), without_node, "{fetched}, and its Node was deleted");
        }
    }
}

/// The clock of whoever serves configs was an hour fast for the fetch and is right again, or the host fetched again after it had come in,
/// with a token that was not over yet: neither makes it another machine.
#[test]
fn a_generation_that_has_let_a_machine_in_lets_in_no_other() {
    for fetched in [-3_000, 0, 30, 200] {
        let mut draft = Draft::first_client();
        draft.nodes = Draft::serving().nodes;
        draft.nodes.values_mut().for_each(|node| node.created = ago(300));
        draft.approvals = vec![approval(&draft, 305, &STRANGERS)];
        draft.redemptions[0].at = ago(fetched);
        assert_ne!(draft.decide(own()).verdict(), CsrVerdict::Approve, "{fetched}");
        draft.nodes.clear();
        assert_ne!(draft.decide(own()).verdict(), CsrVerdict::Approve, "{fetched}, and its Node was deleted");
    }
    // Whoever has the old machine's key makes the Node of the next one: that must not keep it out for good.
    let mut draft = Draft::first_client();
    draft.next_generation(ago(900), false);
    draft.nodes = Draft::serving().nodes;
    draft.nodes.values_mut().for_each(|node| node.created = ago(800));
    draft.redemptions[0].at = ago(60);
    assert_eq!(draft.decide(own()).reason(), R::Rejoin);
}

/// A fetch before the generation began brought another identity; and one by a stranger is not forgotten while what it brought is good.
#[test]
fn only_fetches_of_the_own_generation_count() {
    let stranger = |at| Redemption { host: "worker-0".into(), source: "192.168.126.66".parse().unwrap(), at };
    for (since, fetched, strangers, reason) in [
        (None, 600, None, R::FirstClient),
        (Some(500), 600, None, R::IgnitionNotRedeemed),
        (Some(700), 600, None, R::FirstClient),
        (None, 600, Some(20_000), R::IgnitionRedeemedElsewhere),
        (None, 600, Some(100_000), R::FirstClient),
        (Some(700), 600, Some(20_000), R::FirstClient),
        (Some(30_000), 600, Some(20_000), R::IgnitionRedeemedElsewhere),
    ] {
        let mut draft = Draft::first_client();
        draft.settings.ignition = IgnitionEvidence::Required;
        if let Some(since) = since {
            draft.next_generation(ago(since), false);
        }
        draft.redemptions[0].at = ago(fetched);
        draft.redemptions.extend(strangers.map(|age| stranger(ago(age))));
        assert_eq!(draft.decide(own()).reason(), reason, "{since:?} {fetched} {strangers:?}");
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
    draft.approvals[1].at = ago(960);
    assert_eq!(draft.decide(own()).reason(), R::AlreadyApproved, "by the clock of another approver");
    draft.approvals.truncate(1);
    assert_eq!(draft.decide(own()).reason(), R::Rejoin);
    draft.request.created = ago(20);
    assert_eq!(draft.decide(own()).reason(), R::AlreadyApproved, "an approver whose clock is ahead");
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
    draft.nodes.values_mut().for_each(|node| node.created = ago(300));
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
    assert_eq!(draft.decide(own()).reason(), R::NodeExists, "the node may have come with it: clocks differ");
    draft.nodes.values_mut().for_each(|node| node.created = ago(111));
    assert_eq!(draft.decide(own()).reason(), R::IgnitionNotRedeemed, "one in a config has to be fetched");
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

/// Machines that share an identity: what was asked before one was switched on was asked by another, whatever else proves or does not
/// prove who asks. It takes nobody's place.
#[test]
fn who_asks_before_its_machine_is_on_is_somebody_else() {
    for ignition in [IgnitionEvidence::Required, IgnitionEvidence::IfServed, IgnitionEvidence::Ignored] {
        let mut draft = Draft::stock_client();
        draft.settings.ignition = ignition;
        draft.redemptions[0].at = ago(30);
        draft.request.created = ago(20);
        for (on, reason) in [(19, R::AskedBeforeBoot), (20, R::FirstClient), (25, R::FirstClient)] {
            draft.settings.switched_on = [(NODE.to_owned(), ago(on))].into();
            let decision = draft.decide(own());
            assert_eq!(decision.reason(), reason, "on since {on}: {decision:?}");
            let is_sound = is_sound(&draft.examined(own()), &draft.declared, &draft.settings);
            assert_eq!(is_sound, reason == R::FirstClient, "a rival only if it can be the machine's");
        }
    }
    assert_eq!(R::AskedBeforeBoot.verdict(), CsrVerdict::Deny);
}

/// What the machine before it fetched, with the same name, address and token, proves nothing about this one.
#[test]
fn what_was_fetched_before_the_machine_is_on_is_no_proof() {
    let mut draft = Draft::stock_client();
    draft.settings.ignition = IgnitionEvidence::Required;
    draft.redemptions[0].at = ago(600);
    assert_eq!(draft.decide(own()).reason(), R::FirstClient);
    draft.settings.switched_on = [(NODE.to_owned(), ago(100))].into();
    assert_eq!(draft.decide(own()).reason(), R::IgnitionNotRedeemed);
    draft.redemptions[0].at = ago(90);
    assert_eq!(draft.decide(own()).reason(), R::FirstClient);
}

/// The token of a pool outlives the join of its workers, and a pod has the address of its node: what is fetched from there is no new
/// machine. Also once somebody has deleted the Node.
#[test]
fn a_machine_that_is_made_on_demand_does_not_come_again_by_a_fetch() {
    for (on, node, reason) in [
        (400, true, R::NodeExists),
        (400, false, R::AlreadyApproved),
        (50, true, R::Rejoin),
        (50, false, R::Rejoin),
    ] {
        let mut draft = Draft::stock_client();
        draft.settings.ignition = IgnitionEvidence::Required;
        draft.settings.switched_on = [(NODE.to_owned(), ago(on))].into();
        draft.approvals = vec![approval(&draft, 300, &STRANGERS)];
        // Registered a minute ago.
        draft.nodes = if node { Draft::serving().nodes } else { draft.nodes };
        draft.redemptions[0].at = ago(30);
        assert_eq!(draft.decide(own()).reason(), reason, "on since {on}, node there: {node}");
    }
}

/// It was given to a node that was there. Where that is gone, whoever has it is a machine that was removed or replaced; and an approver
/// in a pod may not have heard of that.
#[test]
fn an_identity_that_was_put_in_place_lets_nobody_in_without_its_node() {
    for ignition in [IgnitionEvidence::Required, IgnitionEvidence::IfServed, IgnitionEvidence::Ignored] {
        for fetched in [true, false] {
            let mut draft = Draft::first_client();
            draft.settings.ignition = ignition;
            draft.next_generation(ago(1_000), true);
            if !fetched {
                draft.nobody_serves();
            }
            let decision = draft.decide(own());
            let decided = (decision.verdict(), decision.reason());
            assert_eq!(decided, (CsrVerdict::Hold, R::NodeMissing), "{ignition:?} {fetched}");
            draft.nodes = Draft::serving().nodes;
            draft.nodes.values_mut().for_each(|node| node.created = ago(9_000));
            assert_eq!(draft.decide(own()).reason(), R::Rejoin, "{ignition:?} {fetched}");
        }
    }
}

/// Between two requests of the true machine there is a moment in which only a stranger's is live. It is not enough.
#[test]
fn a_stranger_is_not_alone_while_the_machine_is_about_to_ask_again() {
    for (age, reason) in [(905, R::Contested), (959, R::Contested), (961, R::FirstClient)] {
        let mut draft = Draft::stock_client();
        draft.rivals = vec![rival(&draft, "csr-a", age, &STRANGERS)];
        assert_eq!(draft.decide(own()).reason(), reason, "{age}");
    }
}

/// The cluster remembers what the journal of an approver in a pod does not: a node that reports again has its certificate.
#[test]
fn an_identity_that_was_put_in_place_is_used_up_once_the_node_reports() {
    for (heard, in_place, reason) in [
        (None, true, R::Rejoin),
        (Some(5_000), true, R::Rejoin),
        (Some(200), true, R::NodeExists),
        (Some(200), false, R::Rejoin),
    ] {
        let mut draft = Draft::first_client();
        let (created, addresses) = (ago(9_000), Vec::new());
        draft.nodes.insert(NODE.into(), SeenNode { created, addresses, heard: heard.map(ago) });
        draft.next_generation(ago(1_000), in_place);
        draft.nobody_serves();
        assert_eq!(draft.decide(own()).reason(), reason, "heard {heard:?} seconds ago, {in_place}");
    }
}
