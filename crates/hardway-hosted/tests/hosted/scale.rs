//! Many at once: measured, never judged by the clock.

use std::time::Instant;

use hardway_cluster::csr_policy::IgnitionEvidence;
use hardway_hosted::worker::Stage;

use crate::site::{Site, until};

#[tokio::test(flavor = "multi_thread")]
async fn real_many_workers_join_at_once() {
    joined(40).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement: run it with --ignored --nocapture"]
async fn bench_workers() {
    let count = std::env::var("HARDWAY_WORKERS").ok().and_then(|text| text.parse().ok()).unwrap_or(500);
    let (seconds, steps) = joined(count).await;
    eprintln!("hosted-workers {count}");
    eprintln!("hosted-seconds {seconds:.1}");
    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    let rate = count as f64 / seconds;
    eprintln!("hosted-joins-per-second {rate:.1}");
    for ((step, result), times) in steps {
        eprintln!("hosted-steps {step} {result} {times}");
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    eprintln!(
        "hosted-peak-memory {}",
        status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default()
    );
}

type Steps = std::collections::BTreeMap<(&'static str, &'static str), u64>;

async fn joined(count: usize) -> (f64, Steps) {
    let mut site = Site::start(IgnitionEvidence::Ignored).await;
    site.settings.boots_at_once = 50;
    let addresses: Vec<_> = (0..count).map(|n| site.address(n)).collect();
    site.kubelets.live(false, move |n| addresses[n]);
    site.want(0..count).await;
    let began = Instant::now();
    let running = site.run("one", count);
    until("all of them", async || {
        let workers = site.workers().await;
        let ready = workers
            .values()
            .filter(|worker| worker.stage() == Stage::Ready && worker.history.labelled.is_some());
        (ready.count() == count).then_some(())
    })
    .await;
    let seconds = began.elapsed().as_secs_f64();
    assert_eq!(site.machine_log().len(), count, "each was booted once");
    let steps = running.metrics.steps();
    running.stop().await;
    (seconds, steps)
}
