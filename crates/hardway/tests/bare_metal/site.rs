//! A working folder with two hosts of interest: one with a controller, one without.

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use hardway_assets::Cluster;
use hardway_assets::host_services::Stage;
use hardway_assets::install_config::Rules;
use hardway_assets::inventory::read_both;
use hardway_assets::secrets::SecretBundle;
use hardway_journal::Journal;
use hardway_machines::actions::{Doer, DoerError, Progress};
use hardway_machines::providers::bare_metal::{BareMetal, BareMetalSettings};
use jiff::Timestamp;

use crate::live_image::pristine;

pub(crate) const PASSWORD_FILE: &str = "secrets/bmc-master-0";

pub(crate) struct Site {
    pub(crate) folder: tempfile::TempDir,
    /// Where programs are looked for first.
    pub(crate) programs: Option<PathBuf>,
}

impl Site {
    /// With configs made, and these settings of the provider.
    pub(crate) fn new(settings: &str) -> Self {
        let site = Self::with_machines(&format!("  provider: bare-metal\n  bare-metal: {settings}\n"));
        site.ok(&["create", "ignition-configs"]);
        fs_err::create_dir(site.path("media")).unwrap();
        fs_err::copy(pristine(), site.path("media/rhcos-live.x86_64.iso")).unwrap();
        site
    }

    /// With both input files, and nothing made.
    pub(crate) fn with_machines(machines: &str) -> Self {
        let site = Self { folder: tempfile::tempdir().unwrap(), programs: None };
        site.write("install-config.yaml", INSTALL_CONFIG);
        let inventory = INVENTORY.replace("MACHINES", machines).replace("PORT", &free_port().to_string());
        site.write("inventory.yaml", &inventory);
        site
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs_err::write(self.path(name), text).unwrap();
    }

    pub(crate) fn password(&self, password: &str, mode: u32) {
        self.write(PASSWORD_FILE, password);
        fs_err::set_permissions(self.path(PASSWORD_FILE), std::fs::Permissions::from_mode(mode)).unwrap();
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hardway"));
        command.arg("--dir").arg(self.folder.path()).args(args).stdin(Stdio::null());
        if let Some(programs) = &self.programs {
            let others = std::env::var("PATH").unwrap();
            command.env("PATH", format!("{}:{others}", programs.display()));
        }
        command
    }

    /// Exit code, standard output, standard error.
    pub(crate) fn run(&self, args: &[&str]) -> (i32, String, String) {
        let Output { status, stdout, stderr } = self.command(args).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (status.code().unwrap(), text(stdout), text(stderr))
    }

    pub(crate) fn ok(&self, args: &[&str]) -> String {
        let (code, stdout, stderr) = self.run(args);
        assert_eq!(code, 0, "{args:?}: {stdout}{stderr}");
        stdout
    }

    pub(crate) fn cluster(&self) -> Cluster {
        let read = |name: &str| fs_err::read_to_string(self.path(name)).unwrap();
        let (config, inventory) =
            read_both(&read("install-config.yaml"), &read("inventory.yaml"), Rules::for_version("4.18.1"))
                .unwrap();
        let identity = fs_err::read(self.path("secrets/identity.json")).unwrap();
        let identity = SecretBundle::from_files([("identity.json".to_owned(), identity)]).identity().unwrap();
        Cluster { config: config.value, inventory: inventory.value, identity }
    }

    pub(crate) fn provider(&self, cluster: &Cluster) -> BareMetal {
        BareMetal {
            cluster: cluster.clone(),
            settings: BareMetalSettings::read(cluster).unwrap(),
            program: env!("CARGO_BIN_EXE_hardway").into(),
            folder: self.folder.path().to_owned(),
            stage: Stage::Bootstrapping,
        }
    }

    pub(crate) fn with_doer<T>(
        &self,
        f: impl FnOnce(&Doer<'_>) -> Result<T, DoerError>,
    ) -> Result<T, DoerError> {
        let journal = Journal::open(&self.path(hardway_journal::FILE_NAME)).unwrap();
        f(&Doer::new(self.folder.path(), &journal, &|| Timestamp::UNIX_EPOCH))
    }

    pub(crate) fn journal(&self) -> String {
        fs_err::read_to_string(self.path(hardway_journal::FILE_NAME)).unwrap()
    }
}

/// Free at this moment: the ignition server of a test listens there.
fn free_port() -> u16 {
    std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}

/// What became of each action, in order.
#[derive(Default)]
pub(crate) struct Outcomes(pub(crate) Vec<hardway_machines::actions::Outcome>);

impl Progress for Outcomes {
    fn holds(&mut self, _: &hardway_machines::actions::Action, outcome: hardway_machines::actions::Outcome) {
        self.0.push(outcome);
    }
}

/// `hardway media serve`, until dropped.
pub(crate) struct MediaServe {
    process: Child,
    pub(crate) url: String,
}

impl MediaServe {
    pub(crate) fn start(site: &Site) -> Self {
        let mut command = site.command(&["media", "serve", "--listen", "127.0.0.1:0"]);
        let mut process = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let line = lines.by_ref().map(Result::unwrap).find(|line| line.starts_with("serving ")).unwrap();
        std::thread::spawn(move || lines.for_each(drop));
        let url = line.strip_prefix("serving ").unwrap().strip_suffix("/HOST.iso").unwrap().to_owned();
        Self { process, url }
    }
}

impl Drop for MediaServe {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

const INSTALL_CONFIG: &str = r#"apiVersion: v1
baseDomain: example.com
metadata:
  name: ocp4
networking:
  machineNetwork:
  - cidr: 192.168.126.0/24
platform:
  none: {}
controlPlane:
  name: master
  replicas: 3
compute:
- name: worker
  replicas: 1
pullSecret: '{"auths":{"registry.example.com":{"auth":"aHVzaC1odXNoLXVzZXI6aHVzaC1odXNoLXBhc3N3b3Jk"}}}'
"#;

const INVENTORY: &str = r#"apiVersion: hardway.dev/v1alpha1
kind: Inventory
release:
  image: sample
machines:
MACHINESnetwork:
  gateway: 192.168.126.1
  dns: [192.168.126.1]
  apiVIP: 192.168.126.10
  ingressVIP: 192.168.126.11
  loadBalancer: external
pki:
  keyAlgorithm: ECDSA-P256
ignitionServer: {url: "https://192.168.126.2:PORT"}
hosts:
- {name: bootstrap, role: bootstrap, ip: 192.168.126.100, mac: "52:54:00:7e:00:64", installDisk: /dev/vda}
- {name: master-0, role: master, ip: 192.168.126.101, mac: "52:54:00:7e:00:65", installDisk: /dev/vda}
- {name: master-1, role: master, ip: 192.168.126.102, mac: "52:54:00:7e:00:66", installDisk: /dev/vda}
- {name: master-2, role: master, ip: 192.168.126.103, mac: "52:54:00:7e:00:67", installDisk: /dev/vda}
- {name: worker-0, role: worker, ip: 192.168.126.110, mac: "52:54:00:7e:00:6e", installDisk: /dev/vda}
"#;
