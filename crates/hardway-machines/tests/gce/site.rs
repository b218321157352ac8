//! A cluster in a cloud that is a folder.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use hardway_assets::host_services::InstallStage;
use hardway_assets::inventory::{Balancer, Provider};
use hardway_assets::{Cluster, example};
use hardway_journal::Journal;
use hardway_machines::actions::{Action, ActionListener, ActionOutcome, Executor, ExecutorError};
use hardway_machines::providers::gce::{Gce, GceSettings};
use jiff::Timestamp;
use serde_json::{Value, json};

pub(crate) struct Site {
    pub(crate) cluster: Cluster,
    folder: tempfile::TempDir,
}

/// What became of each action.
#[derive(Default)]
pub(crate) struct Outcomes(pub(crate) Vec<ActionOutcome>);

impl ActionListener for Outcomes {
    fn holds(&mut self, _: &Action, outcome: ActionOutcome) {
        self.0.push(outcome);
    }
}

/// Settings that are enough.
pub(crate) fn settings() -> Value {
    json!({"project": "acme", "zones": ["us-central1-a", "us-central1-b"], "image": "rhcos-418-94-gcp-x86-64", "imageProject": "rhcos-cloud"})
}

pub(crate) fn cluster(settings: Value, balancer: Balancer) -> Cluster {
    let mut cluster = example::cluster();
    cluster.inventory.machines.provider = Provider::Gce;
    cluster.inventory.machines.settings = settings;
    cluster.inventory.network.load_balancer = balancer;
    cluster
}

impl Site {
    pub(crate) fn new(settings: Value, balancer: Balancer) -> Self {
        let site = Self { cluster: cluster(settings, balancer), folder: tempfile::tempdir().unwrap() };
        let stand_in = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gce/gcloud-stand-in.sh");
        for folder in ["state", "work/ignition/pointers"] {
            fs_err::create_dir_all(site.path(folder)).unwrap();
        }
        fs_err::copy(stand_in, site.path("gcloud")).unwrap();
        site.log_in();
        for host in &site.cluster.inventory.hosts {
            let path = site.path(&format!("work/ignition/pointers/{}.ign", host.name));
            fs_err::write(path, format!("{{\"pointer of\": \"{}\"}}", host.name)).unwrap();
        }
        site
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn log_in(&self) {
        fs_err::write(self.path("login"), "").unwrap();
    }

    pub(crate) fn log_out(&self) {
        fs_err::remove_file(self.path("login")).unwrap();
    }

    pub(crate) fn provider(&self, stage: InstallStage) -> Gce {
        Gce {
            cluster: self.cluster.clone(),
            settings: GceSettings::read(&self.cluster).unwrap(),
            gcloud: self.path("gcloud").display().to_string(),
            folder: self.path("work"),
            stage,
        }
    }

    pub(crate) fn with<T>(
        &self,
        now: &dyn Fn() -> Timestamp,
        f: impl FnOnce(&Executor<'_>) -> Result<T, ExecutorError>,
    ) -> Result<T, ExecutorError> {
        let journal = Journal::open(&self.path("work").join(hardway_journal::FILE_NAME)).unwrap();
        f(&Executor::new(&self.path("work"), &journal, now))
    }

    pub(crate) fn up(&self, actions: &[Action]) -> Vec<ActionOutcome> {
        let mut outcomes = Outcomes::default();
        self.with(&|| Timestamp::UNIX_EPOCH, |executor| executor.up(actions, &mut outcomes)).unwrap();
        outcomes.0
    }

    pub(crate) fn down(&self) -> Result<(), ExecutorError> {
        self.with(&|| Timestamp::UNIX_EPOCH, |executor| executor.down(&mut ()))
    }

    /// What is there.
    pub(crate) fn things(&self) -> BTreeSet<String> {
        let entries = fs_err::read_dir(self.path("state")).unwrap();
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
    }

    /// The calls since the last time this was asked, with this test's folder left out.
    pub(crate) fn calls(&self) -> String {
        let calls = fs_err::read_to_string(self.path("calls")).unwrap_or_default();
        let _ = fs_err::remove_file(self.path("calls"));
        let lines = calls.lines().map(|line| line.trim_end().to_owned() + "\n");
        lines.collect::<String>().replace(&self.folder.path().display().to_string(), "/site")
    }

    /// Where this test's folder is left out.
    pub(crate) fn shown(&self, text: &str) -> String {
        text.replace(&self.folder.path().display().to_string(), "/site")
    }
}

/// Compares with a file in `golden/`, or writes it.
pub(crate) fn golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gce/golden").join(name);
    if std::env::var("HARDWAY_GOLDEN").is_ok_and(|value| value == "write") {
        fs_err::write(&path, text).unwrap();
    }
    let expected = fs_err::read_to_string(&path).unwrap_or_default();
    if expected != text {
        let differs = text.lines().zip(expected.lines()).position(|(found, wanted)| found != wanted);
        let line = differs.unwrap_or_else(|| text.lines().count().min(expected.lines().count()));
        panic!(
            "{name}, line {}:\n found  {}\n wanted {}",
            line + 1,
            text.lines().nth(line).unwrap_or("nothing"),
            expected.lines().nth(line).unwrap_or("nothing")
        );
    }
}
