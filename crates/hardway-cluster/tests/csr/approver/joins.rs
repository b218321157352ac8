//! Nodes join, and nobody else does.

use hardway_cluster::approver::{Summary, Written};
use hardway_cluster::csr_policy::{CsrVerdict, ReasonCode};
use hardway_cluster::declared::HostIdentity;
use hardway_journal::{CsrDecided, IgnitionRedeemed, NodeJoined};
use hardway_testing::until_found;
use jiff::Timestamp;
use k8s_openapi::api::events::v1::Event;
use kube::api::{Api, ListParams};

use super::lab::{Lab, address, name, user};
use crate::csr::support::key::TestKey;
use crate::csr::support::pkcs10::{dns, ip};
use crate::csr::support::request::HOST_GROUPS;

fn pair(type_: &str, reason: &str) -> (String, String) {
    (type_.to_owned(), reason.to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn real_a_node_joins_and_it_is_written_down_everywhere() {
    let lab = Lab::start(2).await;
    let key = TestKey::p256();
    let approver = lab.run("one");
    let client = lab.ask_client(0, &key).await;
    assert_eq!(lab.until_decided(&client).await, pair("Approved", "FirstClient"));
    lab.until_issued(&client).await;
    // The kubelet may ask to serve before it has registered.
    let serving = lab.ask_serving(0, &key).await;
    approver.until_told(&format!("hold {serving}: node-missing")).await;
    lab.register(0).await;
    assert_eq!(lab.until_decided(&serving).await, pair("Approved", "FirstServing"));
    approver.until_told(&format!("joined {}", name(0))).await;

    let hostile = lab.ask_serving_as(0, &key, &[dns(&name(0)), ip(&address(1))]).await;
    assert_eq!(lab.until_decided(&hostile).await, pair("Denied", "AddressBelongsToAnother"));
    let second = lab.ask_client(0, &TestKey::p256()).await;
    approver.until_told(&format!("hold {second}: node-exists")).await;
    let summary = approver.stop().await;
    assert_eq!(summary, Summary { approved: 2, denied: 1, held: 1, left_to_another: 0 });
    audited(&lab, [&client, &serving, &hostile, &second]).await;
}

/// Strangers ask for a host's name before it and after it, with the identity that everybody can have, with another host's, and
/// with one of a generation that is over: none gets in, and the host is let in at once.
#[tokio::test(flavor = "multi_thread")]
async fn real_strangers_neither_get_in_nor_hold_a_host_up() {
    let mut lab = Lab::start(2).await;
    let since = Some(Timestamp::now());
    lab.declared.nodes[0].identity = Some(HostIdentity { user: user(0, 2), since, in_place: false });
    let keys = [(); 5].map(|()| TestKey::p256());
    let shared = lab.ask_shared(0, &keys[0]).await;
    let other = lab.ask_client_as(0, &keys[1], &user(1, 1), &HOST_GROUPS).await;
    let old = lab.ask_client_as(0, &keys[2], &user(0, 1), &HOST_GROUPS).await;
    let approver = lab.run("one");
    let own = lab.ask_client_as(0, &keys[3], &user(0, 2), &HOST_GROUPS).await;
    let later = lab.ask_shared(0, &keys[4]).await;
    assert_eq!(lab.until_decided(&own).await, pair("Approved", "FirstClient"));
    assert_eq!(lab.until_decided(&shared).await, pair("Denied", "SharedIdentity"));
    assert_eq!(lab.until_decided(&other).await, pair("Denied", "IdentityOfAnotherHost"));
    assert_eq!(lab.until_decided(&old).await, pair("Denied", "IdentityReplaced"));
    assert_eq!(lab.until_decided(&later).await, pair("Denied", "SharedIdentity"));
    lab.until_issued(&own).await;
    approver.stop().await;
    let let_in: Vec<CsrDecided> =
        lab.facts().into_iter().filter(|one: &CsrDecided| one.verdict == CsrVerdict::Approve).collect();
    assert_eq!(let_in.iter().map(|one| one.username.as_str()).collect::<Vec<_>>(), [user(0, 2)]);
}

/// Every decision is in the journal, in the log and an event.
async fn audited(lab: &Lab, [client, serving, hostile, second]: [&String; 4]) {
    let decided: Vec<CsrDecided> = lab.facts();
    let told = |request: &str| -> Vec<(CsrVerdict, ReasonCode)> {
        decided
            .iter()
            .filter(|one| one.request == request)
            .map(|one| (one.verdict, ReasonCode::named(one.reason.word()).unwrap()))
            .collect()
    };
    assert_eq!(told(client), [(CsrVerdict::Approve, ReasonCode::FirstClient)]);
    assert_eq!(
        told(serving),
        [(CsrVerdict::Hold, ReasonCode::NodeMissing), (CsrVerdict::Approve, ReasonCode::FirstServing)]
    );
    assert_eq!(told(hostile), [(CsrVerdict::Deny, ReasonCode::AddressBelongsToAnother)]);
    assert_eq!(told(second), [(CsrVerdict::Hold, ReasonCode::NodeExists)]);
    assert_eq!(lab.facts::<NodeJoined>(), [NodeJoined { host: name(0) }]);
    let log = lab.log();
    assert_eq!(log.len(), decided.len());
    assert!(log.iter().all(|line| line["findings"].as_array().unwrap().len() > 20));
    assert_eq!(log[0]["written"], serde_json::to_value(Written::Yes).unwrap());
    let events: Api<Event> = Api::namespaced(lab.client.clone(), "default");
    until_found("an event for each", async || {
        let events = events.list(&ListParams::default()).await.unwrap();
        let regarding = |event: &Event| event.regarding.clone().unwrap_or_default().name.unwrap_or_default();
        let of = |request: &str| events.iter().filter(|event| regarding(event) == request).count();
        ([client, serving, hostile, second].map(|request| of(request)) == [1, 2, 1, 1]).then_some(())
    })
    .await;
}

fn fetched(n: usize) -> IgnitionRedeemed {
    IgnitionRedeemed {
        host: name(n),
        digest: "1".into(),
        source: address(n).parse().unwrap(),
        face: hardway_journal::Face::Host,
    }
}

/// A join ends the host's token, so a host that fetches again after it was let in must not put it off; and it is known to whoever
/// approved it, however soon that ended: the cluster forgets requests within the hour.
#[tokio::test(flavor = "multi_thread")]
async fn real_a_join_is_known_at_once_though_its_host_fetches_again() {
    let lab = Lab::start(1).await;
    let (approver, _) = lab.approver("one");
    let key = TestKey::p256();
    lab.write(&fetched(0));
    let client = lab.ask_client(0, &key).await;
    approver.once(std::future::pending()).await.unwrap();
    assert_eq!(lab.state(&client).await, pair("Approved", "FirstClient"));
    assert!(lab.facts::<NodeJoined>().is_empty());
    lab.until_issued(&client).await;
    lab.register(0).await;
    let serving = lab.ask_serving(0, &key).await;
    lab.write(&fetched(0));
    let again = lab.ask_client(0, &TestKey::p256()).await;
    approver.once(std::future::pending()).await.unwrap();
    assert_eq!(lab.state(&serving).await, pair("Approved", "FirstServing"));
    assert_eq!(lab.state(&again).await, pair("", ""), "a second key for the name");
    assert_eq!(lab.facts::<NodeJoined>(), [NodeJoined { host: name(0) }]);
    lab.write(&fetched(0));
    approver.once(std::future::pending()).await.unwrap();
    assert_eq!(lab.facts::<NodeJoined>().len(), 1);
}

/// Whoever serves configs here knows who fetched one.
#[tokio::test(flavor = "multi_thread")]
async fn real_a_fetched_config_lets_its_host_in() {
    let lab = Lab::start(2).await;
    lab.write(&fetched(1));
    let approver = lab.run("one");
    let client = lab.ask_client(0, &TestKey::p256()).await;
    approver.until_told(&format!("hold {client}: ignition-not-redeemed")).await;
    lab.write(&fetched(0));
    assert_eq!(lab.until_decided(&client).await, pair("Approved", "FirstClient"));
    approver.stop().await;
}

/// A kubelet that was restarted, a stranger at the same time, and other people's business.
#[tokio::test(flavor = "multi_thread")]
async fn real_what_is_pending_is_decided_once_and_the_rest_is_left() {
    let lab = Lab::start(4).await;
    lab.register(0).await;
    let (first, second) = (TestKey::p256(), TestKey::p256());
    let older = lab.ask_serving(0, &first).await;
    // The API server counts in seconds.
    tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
    let newer = lab.ask_serving(0, &second).await;
    let contested = [lab.ask_client(1, &first).await, lab.ask_client(1, &second).await];
    let stranger = lab.ask_client(9, &first).await;
    let theirs = {
        let pem = crate::csr::support::pkcs10::Pkcs10Draft::of_node("x", Vec::new()).to_pem(&first, &first);
        lab.ask(
            &pem,
            "kubernetes.io/kube-apiserver-client",
            "client auth",
            "system:admin",
            &["system:masters"],
        )
        .await
    };
    let (mut approver, told) = lab.approver("looks");
    approver.dry_run = true;
    let looked = approver.once(std::future::pending()).await.unwrap();
    assert_eq!(looked, Summary { approved: 1, denied: 1, held: 3, left_to_another: 0 }, "{told:?}");
    assert!(lab.journal().is_empty() && lab.log().is_empty());
    assert_eq!(lab.state(&newer).await, pair("", ""), "a dry run writes nothing");

    let (approver, _) = lab.approver("acts");
    assert_eq!(approver.once(std::future::pending()).await.unwrap(), looked);
    assert_eq!(lab.state(&newer).await, pair("Approved", "FirstServing"));
    assert_eq!(lab.state(&older).await, pair("Denied", "Superseded"));
    for untouched in [&contested[0], &contested[1], &stranger, &theirs] {
        assert_eq!(lab.state(untouched).await, pair("", ""));
    }
    let again = approver.once(std::future::pending()).await.unwrap();
    assert_eq!((again.approved, again.denied, again.held), (0, 0, 3), "nothing is decided twice");
}
