//! Controllers of tests.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use hardway_assets::inventory::{Host, Role};
use hardway_cluster::csr_policy::{self, IgnitionEvidence};
use hardway_hosted::controller::{Controller, ControllerEvent, Metrics};
use hardway_hosted::expected::Witness;
use hardway_hosted::reconcile::RoundSettings;
use hardway_hosted::{MachineMaker, Management, PoolHosts, ProgramProvider};
use jiff::{SignedDuration, Timestamp};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::site::name;

/// A controller that runs.
pub(crate) struct Running {
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
    pub(crate) told: Arc<Mutex<Vec<ControllerEvent>>>,
    pub(crate) metrics: Arc<Metrics>,
}

impl Running {
    /// Starts a controller.
    pub(crate) fn start(controller: Controller, told: Arc<Mutex<Vec<ControllerEvent>>>) -> Self {
        let metrics = Arc::clone(&controller.metrics);
        let (stop, stopped) = oneshot::channel::<()>();
        let task = tokio::spawn(async move {
            let stopped = async {
                let _ = stopped.await;
            };
            controller.run(stopped, Box::new(|_| false)).await.unwrap();
        });
        Self { stop: Some(stop), task, told, metrics }
    }

    /// Ends as on SIGTERM.
    pub(crate) async fn stop(mut self) {
        drop(self.stop.take());
        (&mut self.task).await.unwrap();
    }

    /// Ends as on SIGKILL, as far as a task can: whatever it was about to do is not done, and the leases stay.
    pub(crate) async fn kill(mut self) {
        self.task.abort();
        let _ = (&mut self.task).await;
    }
}

impl Drop for Running {
    /// Why it did not come about is in there.
    fn drop(&mut self) {
        if std::thread::panicking() {
            let told = self.told.lock().unwrap();
            eprintln!("{:#?}", &told[told.len().saturating_sub(12)..]);
        }
    }
}

/// A controller with machines, in this folder.
pub(crate) fn controller(
    management: &Management,
    hosted: &kube::Client,
    folder: &Path,
    evidence: IgnitionEvidence,
    workers: usize,
) -> Controller {
    let provider = ProgramProvider::new(&program(folder), folder);
    let now: hardway_journal::Now = Arc::new(Timestamp::now);
    let hosts = (0..workers).map(host);
    let machines = MachineMaker::new(Arc::new(provider), hosts, folder, now.clone()).unwrap();
    Controller {
        management: management.clone(),
        hosted: hosted.clone(),
        machines: Some(machines),
        hosts: PoolHosts::AnyPool(Vec::new()),
        folder: folder.to_owned(),
        settings: RoundSettings::default(),
        rest: SignedDuration::ZERO,
        policy: csr_policy::PolicySettings { ignition: evidence, ..csr_policy::PolicySettings::default() },
        witness: Witness::Journal,
        server: None,
        daemon_image: Some("registry.example.com/mco:1".to_owned()),
        releases: None,
        identity: "one".to_owned(),
        now,
        metrics: Arc::new(Metrics::default()),
        tell: Arc::new(|_| {}),
    }
}

/// The program that makes machines.
pub(crate) fn program(folder: &Path) -> PathBuf {
    folder.join("machine")
}

fn host(n: usize) -> Host {
    Host {
        name: name(n),
        role: Role::Worker,
        ip: Vec::new(),
        mac: None,
        interface: None,
        install_disk: None,
        stock_pointer: false,
        cpus: None,
        memory_gib: None,
        disk_gib: None,
    }
}

/// Whether such a decision about a node was told.
pub(crate) fn decision(running: &Running, of: &str, how: &str) -> Option<()> {
    let told = running.told.lock().unwrap();
    let is_it = |one: &&ControllerEvent| matches!(one, ControllerEvent::Decided { node, what } if node == of && what.starts_with(how));
    told.iter().find(is_it).map(drop)
}
