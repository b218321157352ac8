//! Many at once: measured, never judged by the clock. `cargo xtask bench` runs it and reads what it prints.

use std::time::Instant;

use futures_util::{StreamExt as _, stream};
use hardway_cluster::csr_policy::{CLIENT_SIGNER, CsrVerdict};
use hardway_journal::CsrDecided;
use hardway_testing::{succeed, until_found};
use kube::api::ListParams;

use super::lab::{Lab, address, name};
use crate::csr::support::key::TestKey;
use crate::csr::support::pkcs10::{Pkcs10Draft, dns, ip};
use crate::csr::support::request::{BOOTSTRAPPER, BOOTSTRAPPER_GROUPS};

/// Requests of a burst: half of new nodes, half of nodes that want to serve. One in twenty more is hostile.
fn size() -> usize {
    std::env::var("HARDWAY_BURST").ok().and_then(|text| text.parse().ok()).unwrap_or(2_000)
}

#[tokio::test(flavor = "multi_thread")]
async fn real_none_of_a_burst_is_wrong_and_none_is_left() {
    burst(120).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement: run it with cargo xtask bench"]
async fn bench_burst() {
    let (lab, seconds) = burst(size()).await;
    let log = lab.log();
    let median = |field: &str| {
        let mut all: Vec<u64> = log.iter().map(|line| line[field].as_u64().unwrap()).collect();
        all.sort_unstable();
        all[all.len() / 2]
    };
    eprintln!("burst-requests {}", log.len());
    eprintln!("burst-seconds {seconds:.2}");
    eprintln!("burst-decision-milliseconds {}", median("tookMilliseconds"));
    eprintln!("kubectl-per-second {:.2}", kubectl_rate(&lab).await);
}

/// How many requests the documented loop approves in a second.
async fn kubectl_rate(lab: &Lab) -> f64 {
    const COUNT: usize = 20;
    let key = TestKey::p256();
    let mut requests = Vec::new();
    for n in 0..COUNT {
        requests.push(lab.ask_client(100_000 + n, &key).await);
    }
    let plane = lab.plane.lock().unwrap();
    let began = Instant::now();
    for request in &requests {
        succeed(plane.kubectl().args(["certificate", "approve", request]));
    }
    f64::from(u32::try_from(COUNT).unwrap()) / began.elapsed().as_secs_f64()
}

/// All are there before the approver begins.
async fn burst(count: usize) -> (Lab, f64) {
    let lab = Lab::start(count).await;
    stream::iter(count / 2..count).for_each_concurrent(16, |n| lab.register(n)).await;
    let key = TestKey::p256();
    let good = stream::iter(0..count).map(async |n| match n < count / 2 {
        true => lab.ask_client(n, &key).await,
        false => lab.ask_serving(n, &key).await,
    });
    let good: Vec<String> = good.buffer_unordered(16).collect().await;
    let hostile: Vec<String> =
        stream::iter(0..count / 20).then(async |n| hostile(&lab, n, &key).await).collect().await;
    let approver = lab.run("one");
    let began = Instant::now();
    let left = async || {
        let all = lab.requests().list(&ListParams::default()).await.unwrap();
        all.iter().filter(|one| one.status.as_ref().is_none_or(|status| status.conditions.is_none())).count()
    };
    // What is hostile is denied or held, and all the rest is decided.
    until_found("the last of the burst", async || {
        (approver.decided() >= good.len() + hostile.len()).then_some(())
    })
    .await;
    let seconds = began.elapsed().as_secs_f64();
    let summary = approver.stop().await;
    assert_eq!(summary.approved, good.len(), "{summary:?}");
    assert_eq!(left().await, summary.held);
    judge(&lab, &good, &hostile).await;
    (lab, seconds)
}

/// Every good one is approved, no other is, and the journal says the same.
async fn judge(lab: &Lab, good: &[String], hostile: &[String]) {
    let all = lab.requests().list(&ListParams::default()).await.unwrap();
    for object in &all {
        let name = object.metadata.name.as_ref().unwrap();
        let conditions = object.status.iter().flat_map(|status| status.conditions.iter().flatten());
        let approved = conditions.filter(|condition| condition.type_ == "Approved").count();
        assert_eq!(approved, usize::from(good.contains(name)), "{name}");
    }
    assert_eq!(all.items.len(), good.len() + hostile.len());
    let decided: Vec<CsrDecided> = lab.facts();
    let approved = decided.iter().filter(|one| one.verdict == CsrVerdict::Approve).count();
    assert_eq!((approved, decided.len()), (good.len(), good.len() + hostile.len()));
}

/// Somebody who wants to pass for the API, for another node, for an administrator, or for a node nobody expects.
async fn hostile(lab: &Lab, n: usize, key: &TestKey) -> String {
    let group = BOOTSTRAPPER_GROUPS;
    match n % 4 {
        0 => lab.ask_serving_as(n, key, &[dns("api.lab.example.com")]).await,
        1 => lab.ask_serving_as(n, key, &[dns(&name(n)), ip(&address(n + 1))]).await,
        2 => {
            let mut draft = Pkcs10Draft::of_node(&name(n), Vec::new());
            draft.subject[0].1 = "system:masters".into();
            lab.ask(&draft.to_pem(key, key), CLIENT_SIGNER, "client auth", BOOTSTRAPPER, &group).await
        }
        _ => lab.ask_client(1_000_000 + n, key).await,
    }
}
