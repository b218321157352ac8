//! Approvers that are killed, API servers that vanish, and two approvers at once.

use hardway_cluster::csr_policy::CsrVerdict;
use hardway_journal::CsrDecided;
use hardway_testing::until_found;

use super::lab::Lab;
use crate::csr::support::key::TestKey;

const NODES: usize = 60;

/// Asks for all nodes, one after the other, and returns the names of the requests.
async fn ask_all(lab: &Lab, nodes: std::ops::Range<usize>) -> Vec<String> {
    let key = TestKey::p256();
    let mut names = Vec::new();
    for n in nodes {
        names.push(lab.ask_client(n, &key).await);
    }
    names
}

/// Each was approved once, and each is in the journal once.
async fn all_approved_once(lab: &Lab, requests: &[String]) {
    for request in requests {
        assert_eq!(lab.until_decided(request).await.0, "Approved", "{request}");
        let object = lab.requests().get(request).await.unwrap();
        assert_eq!(object.status.unwrap().conditions.unwrap().len(), 1, "{request} was decided twice");
    }
    until_found("a line in the journal for each", async || {
        let decided: Vec<CsrDecided> = lab.facts();
        let lines = |request: &String| {
            decided.iter().filter(|one| &one.request == request && one.verdict == CsrVerdict::Approve).count()
        };
        assert!(requests.iter().all(|request| lines(request) <= 1), "recorded twice");
        requests.iter().all(|request| lines(request) == 1).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn real_an_approver_that_is_killed_is_followed_by_the_next() {
    let lab = Lab::start(NODES).await;
    let first = lab.run("first");
    let mut requests = ask_all(&lab, 0..NODES / 2).await;
    first.until_told("approve").await;
    first.kill().await;
    requests.extend(ask_all(&lab, NODES / 2..NODES).await);
    let second = lab.run("second");
    second.until_told("leading").await;
    all_approved_once(&lab, &requests).await;
    second.stop().await;
}

/// The API server takes such names. They are not read, not decided about and not repeated; and they keep nobody else out.
#[tokio::test(flavor = "multi_thread")]
async fn real_names_that_no_kubelet_uses_stop_nobody() {
    let lab = Lab::start(3).await;
    let key = TestKey::p256();
    let victim = lab.ask_client(0, &key).await;
    let odd = ["csr x", "csr-y;reboot", "csr-z$(reboot)", "csr-\u{1b}[2J", &format!("{victim}?x=1")];
    for name in odd {
        assert_eq!(lab.ask_client_called(1, &TestKey::p256(), name).await, name);
    }
    let approver = lab.run("one");
    let requests = [victim, lab.ask_client(1, &key).await, lab.ask_client(2, &key).await];
    all_approved_once(&lab, &requests).await;
    let told = approver.told.lock().unwrap().join("\n");
    approver.stop().await;
    assert!(!told.contains("trouble") && odd.iter().all(|name| !told.contains(name)), "{told}");
    let decided: Vec<CsrDecided> = lab.facts();
    assert!(decided.iter().all(|one| requests.contains(&one.request)), "{decided:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn real_an_api_server_that_vanishes_is_waited_for() {
    let lab = Lab::start(NODES).await;
    let approver = lab.run("one");
    let mut requests = ask_all(&lab, 0..NODES / 2).await;
    approver.until_told("approve").await;
    tokio::task::block_in_place(|| lab.plane.lock().unwrap().kill_api_server());
    approver.until_told("trouble").await;
    tokio::task::block_in_place(|| lab.plane.lock().unwrap().start_api_server());
    requests.extend(ask_all(&lab, NODES / 2..NODES).await);
    all_approved_once(&lab, &requests).await;
    approver.stop().await;
}

/// Only one of them writes; when it ends in good order, the other takes over without waiting.
#[tokio::test(flavor = "multi_thread")]
async fn real_of_two_approvers_one_writes_and_the_other_is_ready() {
    let lab = Lab::start(NODES).await;
    let first = lab.run("first");
    first.until_told("leading").await;
    let second = lab.run("second");
    let mut requests = ask_all(&lab, 0..NODES / 2).await;
    for request in &requests {
        lab.until_decided(request).await;
    }
    first.stop().await;
    second.until_told("leading").await;
    requests.extend(ask_all(&lab, NODES / 2..NODES).await);
    all_approved_once(&lab, &requests).await;
    let summary = second.stop().await;
    assert_eq!(summary.approved, NODES / 2, "the first did its half, and nothing was done twice");
}
