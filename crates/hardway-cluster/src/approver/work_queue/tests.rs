//! The queue alone, and deciding while the expected nodes change, against an API server that is played.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use jiff::Timestamp;
use kube::Client;
use kube::client::Body;
use serde_json::json;
use tower_service::Service;

use super::*;
use crate::approver::Approver;
use crate::csr_policy::{CLIENT_SIGNER, IgnitionEvidence, PolicySettings};
use crate::declared::{Declared, DeclaredNode, HostIdentity};
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

/// Knows requests of whatever name and no node, and counts the events it is given.
#[derive(Clone, Default)]
struct Answers {
    events: Arc<AtomicUsize>,
}

impl Service<http::Request<Body>> for Answers {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let path = request.uri().path();
        let name = path.split_once("/certificatesigningrequests/").map(|(_, rest)| rest.split('/').next());
        if path.ends_with("/events") {
            self.events.fetch_add(1, Ordering::SeqCst);
        }
        let (code, answer) = match name.flatten() {
            Some(name) => (200, object(name)),
            None => (
                404,
                json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "message": "", "code": 404}),
            ),
        };
        let body = Body::from(answer.to_string().into_bytes());
        ready(Ok(http::Response::builder().status(code).body(body).unwrap()))
    }
}

fn object(name: &str) -> serde_json::Value {
    use base64::Engine as _;
    let account = "openshift-machine-config-operator";
    json!({
        "apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest",
        "metadata": {"name": name, "uid": name, "creationTimestamp": now().to_string()},
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

fn approver(answers: Answers, folder: &Path) -> Approver {
    Approver {
        client: Client::new(answers, "default"),
        folder: folder.to_owned(),
        fetches: None,
        declared: Declared::default(),
        settings: PolicySettings { ignition: IgnitionEvidence::Ignored, ..PolicySettings::default() },
        identity: "one".to_owned(),
        standing: Standing::Principal,
        dry_run: false,
        now: Arc::new(now),
        tell: Arc::new(|_| {}),
    }
}

/// worker-0, with or without an identity of its own.
fn declared(identity: Option<HostIdentity>) -> Declared {
    let node = DeclaredNode {
        name: "worker-0".into(),
        host: "worker-0".into(),
        role: None,
        addresses: Vec::new(),
        identity,
    };
    Declared { nodes: [node].into(), ..Declared::default() }
}

/// Everybody can have the shared identity, and ask for a host that has its own. Ten thousand times: lines in the journal, in the log,
/// on the screen and in the cluster stay few, and so they do when the approver is restarted and finds what it denied.
#[tokio::test]
async fn ten_thousand_strangers_leave_few_lines() {
    const REQUESTS: usize = 10_000;
    let folder = tempfile::tempdir().unwrap();
    let answers = Answers::default();
    let told = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&told);
    let user = "hardway:host:worker-0:1".to_owned();
    let approver = Approver {
        declared: declared(Some(HostIdentity { user, since: None, in_place: false })),
        tell: Arc::new(move |_| _ = counter.fetch_add(1, Ordering::SeqCst)),
        ..approver(answers.clone(), folder.path())
    };
    let lines = |file: &str| fs_err::read_to_string(folder.path().join(file)).unwrap().lines().count();
    let counted = || {
        let (told, events) = (told.load(Ordering::SeqCst), answers.events.load(Ordering::SeqCst));
        (lines(hardway_journal::FILE_NAME), lines(hardway_assets::work_paths::APPROVAL_LOG), told, events)
    };

    let (audit, auditors) = Audit::begin(folder.path(), &approver.client, "one").unwrap();
    let reconciler = Reconciler::new(&approver, Leadership::of_us(), Some(audit.clone()));
    let mut work = Work::new(reconciler, Some(audit));
    work.push((0..REQUESTS).map(|n| format!("csr-{n}")));
    while !work.is_idle() {
        work.begin().unwrap();
        work.done().await.unwrap();
    }
    assert_eq!(work.summary().denied, REQUESTS);
    drop(work);
    auditors.finish().await.unwrap();
    // Eight, and then at 16, 32, … 8192.
    assert_eq!(counted(), (18, 18, 18, 18));
    let journal = hardway_journal::read(&folder.path().join(hardway_journal::FILE_NAME)).unwrap();
    let decided: Vec<CsrDecided> = journal.iter().map(|record| record.fact().unwrap().unwrap()).collect();
    assert!(decided.iter().all(|one| one.reason == ReasonCode::SharedIdentity));
    assert_eq!(decided.iter().map(|one| 1 + one.more).sum::<u64>(), 8192);

    let (audit, auditors) = Audit::begin(folder.path(), &approver.client, "one").unwrap();
    let reconciler = Reconciler::new(&approver, Leadership::of_us(), Some(audit.clone()));
    let mut work = Work::new(reconciler, Some(audit));
    for n in 0..REQUESTS {
        let mut request = object(&format!("csr-{n}"));
        let message = "hardway: shared-identity: it is not its own";
        let condition =
            json!({"type": "Denied", "status": "True", "reason": "SharedIdentity", "message": message});
        request["status"] = json!({"conditions": [condition]});
        work.apply(ApproverEvent::Request(serde_json::from_value(request).unwrap()));
    }
    work.record_news().unwrap();
    drop(work);
    auditors.finish().await.unwrap();
    assert_eq!(
        (lines(hardway_journal::FILE_NAME), lines(hardway_assets::work_paths::APPROVAL_LOG)),
        (36, 36)
    );
}

/// An API server of somebody else's: two requests with one uid, approved and denied in our name. No journal could be read with both.
#[tokio::test]
async fn of_two_requests_with_one_uid_one_is_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let approver = approver(Answers::default(), folder.path());
    let (audit, auditors) = Audit::begin(folder.path(), &approver.client, "one").unwrap();
    let reconciler = Reconciler::new(&approver, Leadership::of_us(), Some(audit.clone()));
    let mut work = Work::new(reconciler, Some(audit));
    for (name, kind, reason) in [("a", "Approved", "FirstClient"), ("b", "Denied", "Superseded")] {
        let mut request = object(name);
        request["metadata"]["uid"] = json!("the-same");
        let condition = json!({"type": kind, "status": "True", "reason": reason, "message": "hardway: x: y"});
        request["status"] = json!({"conditions": [condition]});
        work.apply(ApproverEvent::Request(serde_json::from_value(request).unwrap()));
    }
    work.record_news().unwrap();
    drop(work);
    auditors.finish().await.unwrap();
    let path = folder.path().join(hardway_journal::FILE_NAME);
    assert_eq!(hardway_journal::read(&path).unwrap().len(), 1);
    hardway_journal::LiveHistory::of(&path).now().unwrap();
}

/// Where configs are served by another folder, that one's journal says who fetched, and nothing else of it counts.
#[test]
fn of_another_folder_only_fetches_are_read() {
    use hardway_journal::{CsrVerdict, Face, IgnitionRedeemed, Journal, NodeJoined};
    let folder = tempfile::tempdir().unwrap();
    let (own, servers) = (folder.path().join("own"), folder.path().join("servers"));
    fs_err::create_dir(&servers).unwrap();
    let (host, digest) = ("clusters/demo".to_owned(), "1".to_owned());
    let fetched = IgnitionRedeemed { host, digest, source: [10, 0, 0, 1].into(), face: Face::Hosted };
    let decided = CsrDecided {
        request: "csr-1".into(),
        uid: "uid".into(),
        node: "worker-0".into(),
        signer: CLIENT_SIGNER.into(),
        key_id: "another".into(),
        username: String::new(),
        verdict: CsrVerdict::Approve,
        reason: Reason::new("first-client"),
        evidence: Vec::new(),
        more: 0,
    };
    let joined = NodeJoined { host: "worker-0".into() };
    let entries = [Entry::of(now(), &fetched), Entry::of(now(), &decided), Entry::of(now(), &joined)];
    Journal::open(&servers.join(hardway_journal::FILE_NAME)).unwrap().append(&entries).unwrap();
    let mut declared = declared(None);
    declared.nodes[0].addresses = vec![[10, 0, 0, 1].into()];
    for (folder, fetches, reason) in [
        (&own, Some(servers.clone()), ReasonCode::FirstClient),
        (&servers, None, ReasonCode::AlreadyApproved),
    ] {
        let settings = PolicySettings { ignition: IgnitionEvidence::Required, ..PolicySettings::default() };
        let client = Answers::default();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let _inside = runtime.enter();
        let approver = Approver { fetches, settings, ..approver(client, folder) };
        let reconciler = Reconciler::new(&approver, Leadership::of_us(), None);
        reconciler.read_journal().unwrap();
        let pools = [("worker-0".to_owned(), "clusters/demo".to_owned())].into();
        reconciler.view().expect(&Expected { declared: declared.clone(), pools, ..Expected::default() });
        let view = reconciler.view();
        let examined = view.examine(&serde_json::from_value(object("csr-2")).unwrap()).unwrap();
        let decision = view.decide(&examined, None, now());
        assert_eq!(decision.reason(), reason, "{:?}", decision.evidence());
    }
}

/// Whoever moves the journal away begins anew. What the old one said, for a node or against it, holds no more; what the cluster says does.
#[tokio::test]
async fn an_approver_whose_journal_begins_anew_forgets_what_the_old_one_said() {
    use hardway_journal::{Face, IgnitionRedeemed, Journal, NodeJoined};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(hardway_journal::FILE_NAME);
    let fetched = IgnitionRedeemed {
        host: "worker-0".into(),
        digest: "1".into(),
        source: [10, 0, 0, 1].into(),
        face: Face::Host,
    };
    let decided = CsrDecided {
        request: "csr-0".into(),
        uid: "csr-0".into(),
        node: "worker-0".into(),
        signer: CLIENT_SIGNER.into(),
        key_id: "another".into(),
        username: String::new(),
        verdict: CsrVerdict::Approve,
        reason: Reason::new("first-client"),
        evidence: Vec::new(),
        more: 0,
    };
    let mut declared = declared(None);
    declared.nodes[0].addresses = vec![[10, 0, 0, 1].into()];
    let settings = PolicySettings { ignition: IgnitionEvidence::Required, ..PolicySettings::default() };
    let approver = Approver { settings, declared, ..approver(Answers::default(), folder.path()) };
    let reconciler = Reconciler::new(&approver, Leadership::of_us(), None);
    let request = |name: &str| serde_json::from_value(object(name)).unwrap();
    let judge = || {
        reconciler.read_journal().unwrap();
        let view = reconciler.view();
        let decision = view.decide(&view.examine(&request("csr-2")).unwrap(), None, now());
        let budget = decision.findings().iter().find(|found| found.rule == "budget").unwrap();
        let is_second = format!("{:?}", budget.finding).contains("number 2 of");
        (decision.reason(), is_second)
    };
    let journal = Journal::open(&path).unwrap();
    journal.append(&[Entry::of(now(), &fetched), Entry::of(now(), &decided)]).unwrap();
    assert_eq!(judge(), (ReasonCode::AlreadyApproved, true));

    fs_err::rename(&path, folder.path().join("old.jsonl")).unwrap();
    assert_eq!(judge(), (ReasonCode::AlreadyApproved, true), "no other has begun yet");
    journal.append(&[Entry::of(now(), &NodeJoined { host: "worker-9".into() })]).unwrap();
    assert_eq!(judge(), (ReasonCode::IgnitionNotRedeemed, false));
    journal.append(&[Entry::of(now(), &fetched)]).unwrap();
    assert_eq!(judge(), (ReasonCode::FirstClient, false));

    // Written into the cluster a moment ago; the watch has not told it yet.
    let written = reconciler.view().examine(&request("csr-1")).unwrap();
    reconciler.view().note_written(&written, CsrVerdict::Approve, now());
    assert_eq!(judge(), (ReasonCode::FirstClient, true));
    fs_err::remove_file(&path).unwrap();
    journal.append(&[Entry::of(now(), &fetched)]).unwrap();
    assert_eq!(judge(), (ReasonCode::FirstClient, true));
}

/// The one moment in which nobody would ask again: it is decided that the node is not expected, but not yet known here.
#[tokio::test]
async fn a_node_that_becomes_expected_while_it_is_held_is_decided_about_again() {
    let folder = tempfile::tempdir().unwrap();
    let looks = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&looks);
    let approver = Approver {
        dry_run: true,
        now: Arc::new(move || {
            counter.fetch_add(1, Ordering::SeqCst);
            now()
        }),
        ..approver(Answers::default(), folder.path())
    };
    let mut work = Work::new(Reconciler::new(&approver, Leadership::of_nobody(), None), None);
    work.push(["csr-1".to_owned()]);
    work.begin().unwrap();
    // It looks at the clock before it decides, and again when it has.
    while looks.load(Ordering::SeqCst) < 2 {
        tokio::task::yield_now().await;
    }
    let declared = declared(None);
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
    for name in ["a1", "a2", "b1", "a1"] {
        queue.push(name.to_owned(), name[..1].to_owned(), Turn::InOrder, Instant::now());
    }
    let take = |queue: &mut Queue| queue.take().map(|queued| queued.name);
    assert_eq!(take(&mut queue).as_deref(), Some("a1"));
    assert_eq!(take(&mut queue).as_deref(), Some("b1"), "a is busy");
    assert_eq!(take(&mut queue), None);
    queue.done("a");
    assert_eq!(take(&mut queue).as_deref(), Some("a2"));
    assert!(queue.is_empty(), "a1 was in it once");
}

#[test]
fn who_asks_a_thousand_times_for_one_node_holds_up_no_other() {
    let mut queue = Queue::default();
    for n in 0..1_000 {
        queue.push(format!("a{n}"), "a".to_owned(), Turn::First, Instant::now());
    }
    queue.push("b0".to_owned(), "b".to_owned(), Turn::First, Instant::now());
    let mut taken = Vec::new();
    while let Some(queued) = queue.take() {
        queue.done(&queued.node);
        taken.push(queued.name);
    }
    assert_eq!(taken.iter().position(|name| name == "b0"), Some(1));
    assert_eq!(taken.len(), 1_001);
}

#[test]
fn whoever_the_api_server_vouches_for_is_decided_about_before_strangers() {
    let mut queue = Queue::default();
    for (name, turn) in [
        ("a-stranger", Turn::InOrder),
        ("b-stranger", Turn::InOrder),
        ("a-host", Turn::First),
        ("a-node", Turn::First),
    ] {
        queue.push(name.to_owned(), name[..1].to_owned(), turn, Instant::now());
    }
    let take = |queue: &mut Queue| queue.take().map(|queued| queued.name);
    assert_eq!(take(&mut queue).as_deref(), Some("a-host"));
    assert_eq!(take(&mut queue).as_deref(), Some("b-stranger"), "a is busy");
    queue.done("a");
    assert_eq!(take(&mut queue).as_deref(), Some("a-node"));
    queue.done("a");
    assert_eq!(take(&mut queue).as_deref(), Some("a-stranger"));
    assert!(queue.is_empty());
}
