//! What can be scraped: where every worker stands and why, how long each stretch of its way took, and what was done. How much is
//! asked of API servers is part of what a controller costs, so their clients are counted too.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http::{Method, Request, Response};
use jiff::Timestamp;
use kube::Client;
use kube::client::Body;
use tower_service::Service;

use super::Duty;
use crate::gates::GateName;
use crate::reconcile::StepKind;
use crate::worker::{Trouble, TroubleReason, Worker, WorkerStage};

/// Counters, and the last picture.
#[derive(Debug, Default)]
pub struct Metrics {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    workers: Vec<Worker>,
    steps: BTreeMap<(StepKind, &'static str), u64>,
    requests: BTreeMap<(&'static str, &'static str), u64>,
    leading: BTreeMap<Duty, bool>,
    held: BTreeMap<String, GateName>,
    ovn_until: Option<Timestamp>,
    wanted: BTreeMap<String, usize>,
}

impl Metrics {
    /// When the network's certificate ends, where hardway made it.
    pub(super) fn see_ovn(&self, until: Option<Timestamp>) {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).ovn_until = until;
    }

    /// How many workers each pool is to have.
    pub(super) fn see_wanted(&self, wanted: BTreeMap<String, usize>) {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).wanted = wanted;
    }

    /// One of everything that is ever told, for those who test what reads it.
    pub fn sample() -> Self {
        let metrics = Self::default();
        let at = |second: i64| Timestamp::UNIX_EPOCH + jiff::SignedDuration::from_secs(second);
        let mut worker = Worker::planned("w-0", "demo", &[], at(0));
        worker.history.booted = Some(at(10));
        worker.history.asked = Some(at(40));
        let (reason, message) = (TroubleReason::NotRegistered, String::new());
        worker.history.trouble = Some(Trouble { reason, message, since: at(50) });
        metrics.see(&[worker], BTreeMap::from([("demo".to_owned(), GateName::Payload)]));
        metrics.see_wanted(BTreeMap::from([("demo".to_owned(), 3)]));
        metrics.see_ovn(Some(at(4_000_000_000)));
        metrics.count(StepKind::Boot, "done");
        metrics.ask("hosted", "get");
        metrics.lead(Duty::Cluster, true);
        metrics
    }

    /// Where everybody stands now.
    pub(super) fn see(&self, workers: &[Worker], held: BTreeMap<String, GateName>) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.workers = workers.to_vec();
        inner.held = held;
    }

    /// A step was taken, or failed.
    pub(super) fn count(&self, step: StepKind, result: &'static str) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        *inner.steps.entry((step, result)).or_default() += 1;
    }

    /// An API server is asked something.
    pub(super) fn ask(&self, server: &'static str, verb: &'static str) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        *inner.requests.entry((server, verb)).or_default() += 1;
    }

    /// What API servers were asked, by server and verb.
    pub fn requests(&self) -> BTreeMap<(&'static str, &'static str), u64> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).requests.clone()
    }

    /// Whether this one acts.
    pub(super) fn lead(&self, duty: Duty, is_leading: bool) {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).leading.insert(duty, is_leading);
    }

    /// Steps that were taken, by name and result.
    pub fn steps(&self) -> BTreeMap<(StepKind, &'static str), u64> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).steps.clone()
    }

    /// In Prometheus' text format.
    pub fn text(&self) -> String {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = String::new();
        head(&mut text, "hardway_hosted_workers", "gauge", "Workers by pool and stage.");
        let mut counts: BTreeMap<(&str, WorkerStage), usize> = BTreeMap::new();
        for worker in &inner.workers {
            *counts.entry((worker.node_pool.as_str(), worker.stage())).or_default() += 1;
        }
        for ((pool, stage), count) in counts {
            let _ = writeln!(text, "hardway_hosted_workers{{pool=\"{pool}\",stage=\"{stage}\"}} {count}");
        }
        head(&mut text, "hardway_hosted_workers_wanted", "gauge", "Workers that the NodePool wants.");
        for (pool, wanted) in &inner.wanted {
            let _ = writeln!(text, "hardway_hosted_workers_wanted{{pool=\"{pool}\"}} {wanted}");
        }
        if let Some(until) = inner.ovn_until {
            let name = "hardway_hosted_ovn_certificate_expiry_seconds";
            head(
                &mut text,
                name,
                "gauge",
                "When the certificate that hardway made for the network expires, in seconds since 1970.",
            );
            let _ = writeln!(text, "{name} {}", until.as_second());
        }
        head(&mut text, "hardway_hosted_worker_seconds", "gauge", "How long each stage of a worker took.");
        for worker in &inner.workers {
            for (from, to, seconds) in stretches(worker) {
                let name = &worker.name;
                let _ = writeln!(
                    text,
                    "hardway_hosted_worker_seconds{{worker=\"{name}\",from=\"{from}\",to=\"{to}\"}} {seconds:.3}"
                );
            }
        }
        head(&mut text, "hardway_hosted_worker_trouble", "gauge", "Workers that make no progress, and why.");
        for worker in &inner.workers {
            if let Some(trouble) = &worker.history.trouble {
                let (name, reason) = (&worker.name, &trouble.reason);
                let _ = writeln!(
                    text,
                    "hardway_hosted_worker_trouble{{worker=\"{name}\",reason=\"{reason}\"}} 1"
                );
            }
        }
        head(
            &mut text,
            "hardway_hosted_pool_held",
            "gauge",
            "Pools whose machines cannot boot, and the gate they wait at.",
        );
        for (pool, gate) in &inner.held {
            let _ = writeln!(text, "hardway_hosted_pool_held{{pool=\"{pool}\",gate=\"{gate}\"}} 1");
        }
        head(&mut text, "hardway_hosted_steps_total", "counter", "Steps taken.");
        for ((step, result), count) in &inner.steps {
            let _ =
                writeln!(text, "hardway_hosted_steps_total{{step=\"{step}\",result=\"{result}\"}} {count}");
        }
        head(&mut text, "hardway_hosted_api_requests_total", "counter", "Requests to API servers.");
        for ((server, verb), count) in &inner.requests {
            let _ = writeln!(
                text,
                "hardway_hosted_api_requests_total{{server=\"{server}\",verb=\"{verb}\"}} {count}"
            );
        }
        head(&mut text, "hardway_hosted_leading", "gauge", "Whether this controller holds the lease.");
        for (duty, is_leading) in &inner.leading {
            let _ = writeln!(text, "hardway_hosted_leading{{of=\"{duty}\"}} {}", u8::from(*is_leading));
        }
        text
    }
}

/// The stretches of a worker's way that lie behind it. One that was not seen is part of the next.
pub fn stretches(worker: &Worker) -> Vec<(&'static str, &'static str, f64)> {
    let history = &worker.history;
    let moments: [(&'static str, Option<Timestamp>); 5] = [
        ("booted", history.booted),
        ("fetched", history.fetched),
        ("asked", history.asked),
        ("joined", history.joined),
        ("ready", history.ready),
    ];
    let seen: Vec<(&'static str, Timestamp)> =
        moments.into_iter().filter_map(|(name, at)| Some((name, at?))).collect();
    let between = |pair: &[(&'static str, Timestamp)]| {
        let [(from, start), (to, end)] = pair else { return None };
        Some((*from, *to, end.duration_since(*start).as_secs_f64().max(0.0)))
    };
    seen.windows(2).filter_map(between).collect()
}

fn head(text: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

/// The same client, counted under the name of its server. To be called where tasks can be started.
pub(super) fn counted(client: Client, server: &'static str, metrics: &Arc<Metrics>) -> Client {
    let namespace = client.default_namespace().to_owned();
    Client::new(Counted { client, server, metrics: Arc::clone(metrics) }, namespace)
}

struct Counted {
    client: Client,
    server: &'static str,
    metrics: Arc<Metrics>,
}

impl Service<Request<Body>> for Counted {
    type Response = Response<Body>;
    type Error = kube::Error;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    /// The client inside waits for its own turn.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        self.metrics.ask(self.server, verb(&request));
        let client = self.client.clone();
        async move { client.send(request).await }.boxed()
    }
}

/// In the words of the API server's own metrics, as far as a request alone tells.
fn verb<B>(request: &Request<B>) -> &'static str {
    let is_watch =
        || request.uri().query().is_some_and(|query| query.split('&').any(|one| one == "watch=true"));
    match *request.method() {
        Method::GET if is_watch() => "watch",
        Method::GET => "get",
        Method::POST => "post",
        Method::PUT => "put",
        Method::PATCH => "patch",
        Method::DELETE => "delete",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_worker_is_told_with_its_way() {
        let at = |second: i64| Timestamp::from_second(second).unwrap();
        let mut worker = Worker::planned("w-0", "demo", &[], at(0));
        worker.history.booted = Some(at(10));
        worker.history.asked = Some(at(40));
        worker.history.joined = Some(at(41));
        let metrics = Metrics::default();
        metrics.see(&[worker], BTreeMap::from([("other".to_owned(), GateName::Payload)]));
        metrics.count(StepKind::Boot, "done");
        metrics.ask("hosted", "patch");
        metrics.lead(Duty::Machines, true);
        metrics.see_wanted(BTreeMap::from([("demo".to_owned(), 3)]));
        metrics.see_ovn(Some(at(1_800_000_000)));
        let text = metrics.text();
        for line in [
            "hardway_hosted_workers{pool=\"demo\",stage=\"joined\"} 1",
            "hardway_hosted_worker_seconds{worker=\"w-0\",from=\"booted\",to=\"asked\"} 30.000",
            "hardway_hosted_worker_seconds{worker=\"w-0\",from=\"asked\",to=\"joined\"} 1.000",
            "hardway_hosted_pool_held{pool=\"other\",gate=\"payload\"} 1",
            "hardway_hosted_steps_total{step=\"boot\",result=\"done\"} 1",
            "hardway_hosted_api_requests_total{server=\"hosted\",verb=\"patch\"} 1",
            "hardway_hosted_leading{of=\"machines\"} 1",
            "hardway_hosted_workers_wanted{pool=\"demo\"} 3",
            "hardway_hosted_ovn_certificate_expiry_seconds 1800000000",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
    }

    #[test]
    fn a_watch_is_told_from_a_list() {
        let verb_of = |uri: &str| verb(&Request::get(uri).body(()).unwrap());
        assert_eq!(verb_of("/api/v1/nodes?limit=500"), "get");
        assert_eq!(verb_of("/api/v1/nodes?&watch=true&timeoutSeconds=60"), "watch");
        assert_eq!(verb_of("/api/v1/nodes?fieldSelector=watch%3Dtrue"), "get");
        assert_eq!(verb(&Request::put("/").body(()).unwrap()), "put");
    }
}
