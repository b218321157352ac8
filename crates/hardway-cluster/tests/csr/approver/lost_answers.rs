//! Answers that never come: a decision that was written although nobody heard so is recorded like any other.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use hardway_cluster::csr_policy::{CsrVerdict, ReasonCode};
use hardway_journal::{CsrDecided, CsrIntended};
use hardway_testing::until_found;
use kube::Client;
use kube::client::Body;
use tower_service::Service;

use super::lab::{Lab, Running, address, name};
use crate::csr::support::key::TestKey;
use crate::csr::support::pkcs10::{dns, ip};

/// Carries out what it is asked to, and loses the answers to decisions.
#[derive(Clone)]
struct Lossy {
    client: Client,
    /// The answers to questions about a request are lost too.
    is_deaf: Arc<AtomicBool>,
    /// It becomes so with the first decision.
    stays_deaf: bool,
}

impl Service<http::Request<Body>> for Lossy {
    type Response = http::Response<Body>;
    type Error = Box<dyn std::error::Error + Send + Sync>;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let this = self.clone();
        let path = request.uri().path().to_owned();
        Box::pin(async move {
            let is_decision = path.ends_with("/approval");
            let answer = this.client.send(request).await?;
            if is_decision && this.stays_deaf {
                this.is_deaf.store(true, Ordering::SeqCst);
            }
            let is_request = path.contains("/certificatesigningrequests/");
            if is_decision || is_request && this.is_deaf.load(Ordering::SeqCst) {
                return Err("the connection was cut".into());
            }
            Ok(answer)
        })
    }
}

fn lossy(lab: &Lab, identity: &str, stays_deaf: bool) -> (Running, Arc<AtomicBool>) {
    let is_deaf = Arc::new(AtomicBool::new(false));
    let (mut approver, told) = lab.approver(identity);
    let lossy = Lossy { client: lab.client.clone(), is_deaf: Arc::clone(&is_deaf), stays_deaf };
    approver.client = Client::new(lossy, "default");
    (Running::start(approver, told), is_deaf)
}

/// A good request and one that wants an address of another: an approval and a denial.
async fn ask(lab: &Lab) -> [String; 2] {
    let key = TestKey::p256();
    lab.register(1).await;
    let good = lab.ask_client(0, &key).await;
    let bad = lab.ask_serving_as(1, &key, &[dns(&name(1)), ip(&address(2))]).await;
    [good, bad]
}

/// Both stand in the journal, once, with everything that belongs to them; and the approval was there before it was written.
async fn both_are_complete(lab: &Lab, [good, bad]: &[String; 2]) {
    let decided = until_found("both in the journal", async || {
        let decided: Vec<CsrDecided> = lab.facts();
        let has =
            |name: &String| decided.iter().any(|one| &one.request == name && one.verdict != CsrVerdict::Hold);
        (has(good) && has(bad)).then_some(decided)
    })
    .await;
    let of = |name: &String| {
        let all: Vec<&CsrDecided> = decided.iter().filter(|one| &one.request == name).collect();
        assert_eq!(all.len(), 1, "recorded once: {all:?}");
        all[0].clone()
    };
    let (approved, denied) = (of(good), of(bad));
    assert_eq!((approved.verdict, &approved.reason), (CsrVerdict::Approve, &ReasonCode::FirstClient.into()));
    assert_eq!(
        (denied.verdict, &denied.reason),
        (CsrVerdict::Deny, &ReasonCode::AddressBelongsToAnother.into())
    );
    assert!(denied.evidence.iter().any(|line| line.contains(&address(2))), "{denied:?}");
    assert!(!approved.key_id.is_empty() && approved.evidence.len() > 3, "{approved:?}");
    let intended: Vec<CsrDecided> = lab.facts::<CsrIntended>().into_iter().map(|one| one.0).collect();
    // Who is let in is announced; who is refused could ask without end, and stands in the request.
    assert_eq!(intended, [approved], "{intended:?}");
    let log = lab.log();
    for name in [good, bad] {
        assert_eq!(log.iter().filter(|line| line["request"] == **name).count(), 1, "{log:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn real_an_answer_that_is_lost_is_made_up_for_by_reading_again() {
    let lab = Lab::start(3).await;
    let (approver, _) = lossy(&lab, "one", false);
    let requests = ask(&lab).await;
    both_are_complete(&lab, &requests).await;
    assert_eq!(approver.stop().await.approved, 1, "it knows that it was its own doing");
}

#[tokio::test(flavor = "multi_thread")]
async fn real_where_nothing_can_be_read_again_the_watch_tells() {
    let lab = Lab::start(3).await;
    let (approver, is_deaf) = lossy(&lab, "one", true);
    let requests = ask(&lab).await;
    for request in &requests {
        until_found("a decision in the cluster", async || {
            is_deaf.store(false, Ordering::SeqCst);
            (!lab.state(request).await.0.is_empty()).then_some(())
        })
        .await;
    }
    both_are_complete(&lab, &requests).await;
    approver.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn real_what_a_killed_approver_intended_is_what_the_next_one_records() {
    let lab = Lab::start(3).await;
    let (approver, _) = lossy(&lab, "killed", true);
    let requests = ask(&lab).await;
    approver.until_told("trouble").await;
    approver.kill().await;
    let next = lab.run("next");
    both_are_complete(&lab, &requests).await;
    next.stop().await;
}
