//! Many at once: measured, never judged by the clock.

use std::ffi::OsStr;
use std::process::Command;
use std::time::Instant;

use hardway_cluster::csr_policy::IgnitionEvidence;
use hardway_hosted::worker::WorkerStage;
use hardway_testing::{Running, free_port, hosted_inventory, succeed, until_found};

use crate::site::{Site, name};

#[tokio::test(flavor = "multi_thread")]
async fn real_many_workers_join_at_once() {
    let count = 40;
    let site = wanted(count).await;
    let running = site.run("one", count);
    all_ready(&site, count).await;
    assert_eq!(site.machine_log().len(), count, "each was booted once");
    running.stop().await;
}

/// With `hardway hosted controller` itself, so that its memory can be told from that of the machines.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement: `cargo xtask bench hosted`"]
async fn bench_workers() {
    let program = std::env::var_os("HARDWAY").expect("HARDWAY names the program that is measured");
    let count = std::env::var("HARDWAY_WORKERS").ok().and_then(|text| text.parse().ok()).unwrap_or(500);
    let site = wanted(count).await;
    let began = Instant::now();
    let (mut controller, metrics) = controller(&site, &program, count);
    all_ready(&site, count).await;
    let seconds = began.elapsed().as_secs_f64();
    assert_eq!(site.machine_log().len(), count, "each was booted once");
    let metrics = succeed(Command::new("curl").args(["--silent", "--fail", &metrics]));
    let (steps, _) = counted(&metrics, "hardway_hosted_steps_total");
    let (requests, calls) = counted(&metrics, "hardway_hosted_api_requests_total");
    let peak = controller.kilobytes("VmHWM");
    controller.signal("TERM");
    assert_eq!(controller.exit(), Some(0));
    eprintln!("{steps}{requests}hosted-workers {count}");
    eprintln!("hosted-seconds {seconds:.1}");
    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    let (rate, mean) = (count as f64 / seconds, calls as f64 / count as f64);
    eprintln!("hosted-joins-per-second {rate:.1}");
    eprintln!("hosted-api-calls-per-join {mean:.1}");
    eprintln!("hosted-controller-kilobytes {peak}");
}

/// The program, as a user runs it, and where it tells its metrics.
fn controller(site: &Site, program: &OsStr, count: usize) -> (Running, String) {
    let folder = site.folder.path();
    let workers = (0..count).map(|n| (name(n), site.address(n).to_string()));
    std::fs::write(folder.join("inventory.yaml"), hosted_inventory(workers)).unwrap();
    let metrics = format!("127.0.0.1:{}", free_port());
    let mut command = Command::new(program);
    command
        .arg("--dir")
        .arg(folder)
        .arg("hosted")
        .arg("--kubeconfig")
        .arg(site.management_plane.kubeconfig());
    command.args([
        "controller",
        "--cluster=demo",
        "--ignition=ignored",
        "--config-rest=0s",
        "--boots-at-once=50",
    ]);
    command.arg("--machine-program").arg(crate::running::program(folder)).arg(format!("--metrics={metrics}"));
    (Running::start(command), format!("http://{metrics}/metrics"))
}

/// The lines of one counter, and their sum.
fn counted(metrics: &str, name: &str) -> (String, u64) {
    let lines: Vec<&str> = metrics.lines().filter(|line| line.starts_with(name)).collect();
    let sum = lines.iter().map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum();
    (lines.iter().map(|line| format!("{line}\n")).collect(), sum)
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
    until_found("all of them", async || {
        let workers = site.workers().await;
        let is_done = |worker: &&hardway_hosted::worker::Worker| {
            worker.stage() == WorkerStage::Ready && worker.history.labelled.is_some()
        };
        (workers.values().filter(is_done).count() == count).then_some(())
    })
    .await;
}
