//! The queue alone, and deciding while the expected nodes change, against an API server that is played.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use jiff::Timestamp;
use kube::Client;
use kube::client::Body;
use serde_json::json;
use tower_service::Service;

use super::*;
use crate::approver::Approver;
use crate::csr_policy::{CLIENT_SIGNER, IgnitionEvidence, Settings};
use crate::declared::{Declared, DeclaredNode};
use crate::leader_election::{Leadership, Standing};

/// Of openssl, for worker-0.
const REQUEST: &str = "-----BEGIN CERTIFICATE REQUEST-----
MIHwMIGYAgEAMDYxFTATBgNVBAoMDHN5c3RlbTpub2RlczEdMBsGA1UEAwwUc3lz
dGVtOm5vZGU6d29ya2VyLTAwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASczZmq
Gwdh8P++T0pACiMOu64WGfXohdijTYmeFli9jVeDUEUo9zAR0NnTxAKLUfNnkrev
ATNs1cR9b24ALieRoAAwCgYIKoZIzj0EAwIDRwAwRAIgF6FpWlcdggb7lNWbGb/K
ILyTI959GXnqmBPkFoNo8RACIBvpBHDqN3GRPwJ1qSDcRIbuUGUyGkWXfP39GgVn
rLHJ
-----END CERTIFICATE REQUEST-----
";

/// Knows one request and no node.
struct Answers;

impl Service<http::Request<Body>> for Answers {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let (code, answer) = match request.uri().path().contains("/certificatesigningrequests/") {
            true => (200, object()),
            false => (
                404,
                json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "message": "", "code": 404}),
            ),
        };
        let body = Body::from(answer.to_string().into_bytes());
        ready(Ok(http::Response::builder().status(code).body(body).unwrap()))
    }
}

fn object() -> serde_json::Value {
    use base64::Engine as _;
    let account = "openshift-machine-config-operator";
    json!({
        "apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest",
        "metadata": {"name": "csr-1", "uid": "1", "creationTimestamp": now().to_string()},
        "spec": {
            "signerName": CLIENT_SIGNER, "usages": ["digital signature", "client auth"],
            "request": base64::engine::general_purpose::STANDARD.encode(REQUEST),
            "username": format!("system:serviceaccount:{account}:node-bootstrapper"),
            "groups": ["system:serviceaccounts", format!("system:serviceaccounts:{account}"), "system:authenticated"],
        },
    })
}

fn now() -> Timestamp {
    "2026-11-15T12:00:00Z".parse().unwrap()
}

/// The one moment in which nobody would ask again: it is decided that the node is not expected, but not yet known here.
#[tokio::test]
async fn a_node_that_becomes_expected_while_it_is_held_is_decided_about_again() {
    let folder = tempfile::tempdir().unwrap();
    let looks = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&looks);
    let approver = Approver {
        client: Client::new(Answers, "default"),
        folder: folder.path().to_owned(),
        declared: Declared::default(),
        settings: Settings { ignition: IgnitionEvidence::Ignored, ..Settings::default() },
        identity: "one".to_owned(),
        standing: Standing::Principal,
        dry_run: true,
        now: Arc::new(move || {
            counter.fetch_add(1, Ordering::SeqCst);
            now()
        }),
        tell: Arc::new(|_| {}),
    };
    let mut work = Work::new(Reconciler::new(&approver, Leadership::of_nobody(), None), None);
    work.push(["csr-1".to_owned()]);
    work.begin().unwrap();
    // It looks at the clock before it decides, and again when it has.
    while looks.load(Ordering::SeqCst) < 2 {
        tokio::task::yield_now().await;
    }
    let node = DeclaredNode {
        name: "worker-0".into(),
        host: "worker-0".into(),
        role: None,
        addresses: Vec::new(),
        identity: None,
    };
    let declared = Declared { nodes: [node].into(), ..Declared::default() };
    work.expect(&Expected { declared, ..Expected::default() });
    work.done().await.unwrap();
    assert_eq!(work.summary().held, 1);
    assert!(!work.is_idle(), "nobody would ask again");
    work.begin().unwrap();
    work.done().await.unwrap();
    assert_eq!((work.summary().approved, work.summary().held), (1, 0));
}

#[test]
fn one_of_a_node_at_a_time_and_the_others_in_order() {
    let mut queue = Queue::default();
    let node = |name: &str| name[..1].to_owned();
    for name in ["a1", "a2", "b1", "a1"] {
        queue.push(name.to_owned(), Turn::InOrder, Instant::now());
    }
    let take = |queue: &mut Queue| queue.take(node).map(|queued| queued.name);
    assert_eq!(take(&mut queue).as_deref(), Some("a1"));
    assert_eq!(take(&mut queue).as_deref(), Some("b1"), "a is busy");
    assert_eq!(take(&mut queue), None);
    queue.done("a");
    assert_eq!(take(&mut queue).as_deref(), Some("a2"));
    assert!(queue.is_empty(), "a1 was in it once");
}

#[test]
fn whoever_the_api_server_vouches_for_is_decided_about_before_strangers() {
    let mut queue = Queue::default();
    let node = |name: &str| name[..1].to_owned();
    for (name, turn) in [
        ("a-stranger", Turn::InOrder),
        ("b-stranger", Turn::InOrder),
        ("a-host", Turn::First),
        ("a-node", Turn::First),
    ] {
        queue.push(name.to_owned(), turn, Instant::now());
    }
    let take = |queue: &mut Queue| queue.take(node).map(|queued| queued.name);
    assert_eq!(take(&mut queue).as_deref(), Some("a-host"));
    assert_eq!(take(&mut queue).as_deref(), Some("b-stranger"), "a is busy");
    queue.done("a");
    assert_eq!(take(&mut queue).as_deref(), Some("a-node"));
    queue.done("a");
    assert_eq!(take(&mut queue).as_deref(), Some("a-stranger"));
    assert!(queue.is_empty());
}
