//! Many at once: measured, never judged by the clock.

use std::ffi::OsStr;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Instant;

use hardway_cluster::csr_policy::IgnitionEvidence;
use hardway_hosted::worker::Stage;
use hardway_testing::{succeed, until_found};

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
    let mut controller = Program::start(&site, &program, count);
    all_ready(&site, count).await;
    let seconds = began.elapsed().as_secs_f64();
    assert_eq!(site.machine_log().len(), count, "each was booted once");
    let metrics = succeed(Command::new("curl").args(["--silent", "--fail", &controller.metrics]));
    let (steps, _) = counted(&metrics, "hardway_hosted_steps_total");
    let (requests, calls) = counted(&metrics, "hardway_hosted_api_requests_total");
    let peak = controller.peak();
    assert!(controller.end().success());
    eprintln!("{steps}{requests}hosted-workers {count}");
    eprintln!("hosted-seconds {seconds:.1}");
    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    let (rate, mean) = (count as f64 / seconds, calls as f64 / count as f64);
    eprintln!("hosted-joins-per-second {rate:.1}");
    eprintln!("hosted-api-calls-per-join {mean:.1}");
    eprintln!("hosted-controller-kilobytes {peak}");
}

/// The program, as a user runs it.
struct Program {
    child: Child,
    metrics: String,
}

impl Program {
    fn start(site: &Site, program: &OsStr, count: usize) -> Self {
        let folder = site.folder.path();
        let hosts: String = (0..count)
            .map(|n| format!("- {{name: {}, role: worker, ip: {}}}\n", name(n), site.address(n)))
            .collect();
        std::fs::write(folder.join("inventory.yaml"), INVENTORY.to_owned() + &hosts).unwrap();
        let free = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap();
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
        command
            .arg("--machine-program")
            .arg(crate::running::program(folder))
            .arg(format!("--metrics={free}"));
        let child = command.stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        Self { child, metrics: format!("http://{free}/metrics") }
    }

    /// In kilobytes, so far.
    fn peak(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
        peak.unwrap().parse().unwrap()
    }

    fn end(&mut self) -> ExitStatus {
        succeed(Command::new("kill").arg(self.child.id().to_string()));
        self.child.wait().unwrap()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The lines of one counter, and their sum.
fn counted(metrics: &str, name: &str) -> (String, u64) {
    let lines: Vec<&str> = metrics.lines().filter(|line| line.starts_with(name)).collect();
    let sum = lines.iter().map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum();
    (lines.iter().map(|line| format!("{line}\n")).collect(), sum)
}

const INVENTORY: &str = "apiVersion: hardway.dev/v1alpha1
kind: Inventory
release: {image: sample}
machines: {provider: bare-metal}
network: {gateway: 10.20.255.254, dns: [10.20.255.254], apiVIP: 10.20.255.253, ingressVIP: 10.20.255.252}
hosts:
";

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
            worker.stage() == Stage::Ready && worker.history.labelled.is_some()
        };
        (workers.values().filter(is_done).count() == count).then_some(())
    })
    .await;
}
