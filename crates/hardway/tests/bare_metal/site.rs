//! A working folder with two hosts of interest: one with a controller, one without.

use std::ops::Deref;

use hardway_assets::Cluster;
use hardway_assets::host_services::InstallStage;
use hardway_journal::{Entry, Fact, Journal};
use hardway_machines::actions::{Action, ActionListener, ActionOutcome, Executor, ExecutorError};
use hardway_machines::providers::bare_metal::{BareMetal, BareMetalSettings};
use hardway_testing::{INSTALL_CONFIG, INVENTORY, Ran, Running, Work, free_port, with_hardware};
use jiff::Timestamp;

use crate::live_image::pristine;
use crate::work::{self, PROGRAM};

pub(crate) const PASSWORD_FILE: &str = "secrets/bmc-master-0";

/// Checks that fail here: names and load balancer are somebody else's, and nobody has made them.
pub(crate) const LEFT_OUT: [&str; 7] = [
    "names-server",
    "names-host",
    "balancer-api",
    "balancer-machine-config-server",
    "balancer-ingress-https",
    "balancer-ingress-http",
    // The built-in release, to rehearse with.
    "release-image",
];

pub(crate) struct Site(Work);

impl Deref for Site {
    type Target = Work;

    fn deref(&self) -> &Work {
        &self.0
    }
}

impl Site {
    /// With configs made, and these settings of the provider.
    pub(crate) fn new(settings: &str) -> Self {
        Self::made(with_machines(&format!("provider: bare-metal\n  bare-metal: {settings}\n")))
    }

    /// Without an ignition server: media carry whole configs.
    pub(crate) fn without_server() -> Self {
        let work = with_machines("provider: bare-metal\n  bare-metal: {}\n");
        let inventory = work.read("inventory.yaml");
        let lines = inventory.lines().filter(|line| !line.starts_with("ignitionServer:"));
        work.write("inventory.yaml", lines.map(|line| format!("{line}\n")).collect::<String>());
        Self::made(work)
    }

    /// The same with a second worker, worker-1.
    pub(crate) fn with_two_workers() -> Self {
        let work = with_machines("provider: bare-metal\n  bare-metal: {}\n");
        work.edit("install-config.yaml", "replicas: 1", "replicas: 2");
        let inventory = work.read("inventory.yaml");
        let worker = inventory.lines().find(|line| line.contains("worker-0")).unwrap();
        let other = worker.replace("worker-0", "worker-1").replace(".110", ".111").replace(":6e", ":6f");
        work.write("inventory.yaml", format!("{inventory}{other}\n"));
        Self::made(work)
    }

    /// The same with a fourth master, master-3.
    pub(crate) fn with_four_masters() -> Self {
        let work = with_machines("provider: bare-metal\n  bare-metal: {}\n");
        work.edit("install-config.yaml", "replicas: 3", "replicas: 4");
        let inventory = work.read("inventory.yaml");
        let master = inventory.lines().find(|line| line.contains("master-2")).unwrap();
        let other = master.replace("master-2", "master-3").replace(".103", ".104").replace(":67", ":68");
        work.write("inventory.yaml", format!("{inventory}{other}\n"));
        Self::made(work)
    }

    fn made(work: Work) -> Self {
        let site = Self(work);
        site.ok(&["create", "ignition-configs"]);
        fs_err::create_dir(site.path("media")).unwrap();
        fs_err::copy(pristine(), site.path("media/rhcos-live.x86_64.iso")).unwrap();
        site
    }

    pub(crate) fn password(&self, password: &str, mode: u32) {
        self.write(PASSWORD_FILE, password);
        self.set_mode(PASSWORD_FILE, mode);
    }

    pub(crate) fn cluster(&self) -> Cluster {
        work::cluster(&self.0)
    }

    pub(crate) fn provider(&self, cluster: &Cluster) -> BareMetal {
        BareMetal {
            cluster: cluster.clone(),
            settings: BareMetalSettings::read(cluster).unwrap(),
            program: PROGRAM.into(),
            folder: self.root().to_owned(),
            stage: InstallStage::Bootstrapping,
            facts: hardway_machines::providers::bare_metal::HostFacts::default(),
        }
    }

    pub(crate) fn with_executor<T>(
        &self,
        f: impl FnOnce(&Executor<'_>) -> Result<T, ExecutorError>,
    ) -> Result<T, ExecutorError> {
        let journal = Journal::open(&self.path(hardway_journal::FILE_NAME)).unwrap();
        f(&Executor::new(self.root(), &journal, &|| Timestamp::UNIX_EPOCH))
    }

    /// Writes a fact into the journal, now.
    pub(crate) fn tell(&self, fact: &impl Fact) {
        let journal = Journal::open(&self.path(hardway_journal::FILE_NAME)).unwrap();
        #[expect(clippy::disallowed_methods, reason = "media are made by the real clock")]
        journal.append(&[Entry::of(Timestamp::now(), fact)]).unwrap();
    }

    pub(crate) fn journal(&self) -> String {
        self.read(hardway_journal::FILE_NAME)
    }
}

/// A folder with both input files, and nothing made. Its ignition server has a port of its own, and its load balancer is
/// somebody else's.
pub(crate) fn with_machines(machines: &str) -> Work {
    let server = format!("ignitionServer: {{url: \"https://192.168.126.2:{}\"}}\nhosts:\n", free_port());
    let inventory = with_hardware(INVENTORY, "")
        .replace("provider: bare-metal\n", machines)
        .replace("  ingressVIP: 192.168.126.11\n", "  ingressVIP: 192.168.126.11\n  loadBalancer: external\n")
        .replace("hosts:\n", &server);
    work::with_inputs(INSTALL_CONFIG, &inventory).with_real_clock().from_outside().on_disk()
}

/// What became of each action, in order.
#[derive(Default)]
pub(crate) struct Outcomes(pub(crate) Vec<ActionOutcome>);

impl ActionListener for Outcomes {
    fn holds(&mut self, _: &Action, outcome: ActionOutcome) {
        self.0.push(outcome);
    }
}

/// `hardway media serve`, until dropped.
pub(crate) struct MediaServe {
    run: Running,
    pub(crate) url: String,
}

impl MediaServe {
    pub(crate) fn start(site: &Site) -> Self {
        let mut run = site.start(&["media", "serve", "--listen", "127.0.0.1:0"]);
        let address = run.line_after("serving http://");
        let url = format!("http://{}", address.split_once(',').unwrap().0);
        Self { run, url }
    }

    /// All that it has said, at its end.
    pub(crate) fn end(self) -> Ran {
        self.run.signal("TERM");
        self.run.end()
    }
}
