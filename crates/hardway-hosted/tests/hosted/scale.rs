//! Many at once: measured, never judged by the clock.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use hardway_cluster::csr_policy::IgnitionEvidence;
use hardway_hosted::Management;
use hardway_hosted::worker::Stage;

use crate::running::controller;
use crate::site::{Site, until};

#[tokio::test(flavor = "multi_thread")]
async fn real_many_workers_join_at_once() {
    let count = 40;
    let site = wanted(count).await;
    let running = site.run("one", count);
    all_ready(&site, count).await;
    assert_eq!(site.machine_log().len(), count, "each was booted once");
    running.stop().await;
}

/// With the controller in a process of its own, so that its memory can be told from that of the machines.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement: run it with --ignored --nocapture"]
async fn bench_workers() {
    let count = std::env::var("HARDWAY_WORKERS").ok().and_then(|text| text.parse().ok()).unwrap_or(500);
    let site = wanted(count).await;
    let began = Instant::now();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--ignored", "--exact", "scale::bench_controller", "--nocapture"]).stdin(Stdio::piped());
    command.env("HARDWAY_BENCH_FOLDER", site.folder.path()).env("HARDWAY_BENCH_WORKERS", count.to_string());
    command.env("HARDWAY_BENCH_KUBECONFIG", site.management_plane.kubeconfig());
    let mut child = command.spawn().unwrap();
    all_ready(&site, count).await;
    let seconds = began.elapsed().as_secs_f64();
    assert_eq!(site.machine_log().len(), count, "each was booted once");
    std::fs::write(site.folder.path().join("stop"), "").unwrap();
    assert!(child.wait().unwrap().success());
    eprintln!("hosted-workers {count}");
    eprintln!("hosted-seconds {seconds:.1}");
    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    let rate = count as f64 / seconds;
    eprintln!("hosted-joins-per-second {rate:.1}");
}

/// The controller of the above. What it tells is for people.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "started by bench_workers"]
async fn bench_controller() {
    let Some(folder) = std::env::var_os("HARDWAY_BENCH_FOLDER").map(std::path::PathBuf::from) else { return };
    let variable = |name: &str| std::env::var(name).unwrap();
    let kubeconfig = std::path::PathBuf::from(variable("HARDWAY_BENCH_KUBECONFIG"));
    let management = Management::connect(Some(&kubeconfig), "clusters", "demo").await.unwrap();
    let hosted = management.hosted_client(None).await.unwrap();
    let count = variable("HARDWAY_BENCH_WORKERS").parse().unwrap();
    let mut controller = controller(&management, &hosted, &folder, IgnitionEvidence::Ignored, count);
    controller.settings.boots_at_once = 50;
    let metrics = std::sync::Arc::clone(&controller.metrics);
    let stop = async {
        while !folder.join("stop").exists() {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    controller.run(stop, Box::new(|_| false)).await.unwrap();
    for ((step, result), times) in metrics.steps() {
        eprintln!("hosted-steps {step} {result} {times}");
    }
    for ((server, verb), times) in metrics.requests() {
        eprintln!("hosted-api-requests {server} {verb} {times}");
    }
    let calls: u64 = metrics.requests().values().sum();
    #[expect(clippy::cast_precision_loss, reason = "a mean")]
    let mean = calls as f64 / count as f64;
    eprintln!("hosted-api-calls-per-join {mean:.1}");
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")).unwrap();
    eprintln!("hosted-controller-kilobytes {peak}");
}

async fn wanted(count: usize) -> Site {
    let mut site = Site::start(IgnitionEvidence::Ignored).await;
    site.settings.boots_at_once = 50;
    let addresses: Vec<_> = (0..count).map(|n| site.address(n)).collect();
    site.kubelets.live(false, move |n| addresses[n]);
    site.want(0..count).await;
    site
}

async fn all_ready(site: &Site, count: usize) {
    until("all of them", async || {
        let workers = site.workers().await;
        let is_done = |worker: &&hardway_hosted::worker::Worker| {
            worker.stage() == Stage::Ready && worker.history.labelled.is_some()
        };
        (workers.values().filter(is_done).count() == count).then_some(())
    })
    .await;
}
