//! A working directory of a test, and runs of the program in it.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

use fs_err as fs;

use crate::snapshot::Snapshot;

/// The second at which the clocks of tests stand still.
pub(crate) const NOW: &str = "2026-11-15T00:00:00Z";
/// What the tests' pull secret holds.
pub(crate) const AUTH: &str = "aHVzaC1odXNoLXVzZXI6aHVzaC1odXNoLXBhc3N3b3Jk";

pub(crate) const CONFIG: &str = r#"apiVersion: v1
baseDomain: example.com
metadata:
  name: ocp4
networking:
  networkType: OVNKubernetes
  machineNetwork:
  - cidr: 192.168.126.0/24
  clusterNetwork:
  - cidr: 10.128.0.0/14
    hostPrefix: 23
  serviceNetwork:
  - 172.30.0.0/16
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

pub(crate) const INVENTORY: &str = r#"apiVersion: hardway.dev/v1alpha1
kind: Inventory
release:
  image: sample
machines:
  provider: bare-metal
network:
  gateway: 192.168.126.1
  dns: [192.168.126.1]
  apiVIP: 192.168.126.10
  ingressVIP: 192.168.126.11
pki:
  keyAlgorithm: ECDSA-P256
hosts:
- {name: bootstrap, role: bootstrap, ip: 192.168.126.100}
- {name: master-0, role: master, ip: 192.168.126.101}
- {name: master-1, role: master, ip: 192.168.126.102}
- {name: master-2, role: master, ip: 192.168.126.103}
- {name: worker-0, role: worker, ip: 192.168.126.110}
"#;

/// What a run left behind.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A folder that goes away with the test.
pub(crate) struct Work {
    dir: tempfile::TempDir,
}

impl Work {
    /// An empty folder.
    pub(crate) fn empty() -> Self {
        // In memory where that is to be had: hundreds of files are written for every test.
        Self { dir: tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap() }
    }

    /// The same as another, on a disk, where writing takes its time.
    pub(crate) fn on_disk(other: &Self) -> Self {
        let work = Self { dir: tempfile::tempdir().unwrap() };
        Snapshot::of(other.root()).restore(work.root(), |_| true);
        work
    }

    /// With both files, and nothing made yet.
    pub(crate) fn with_inputs(config: &str, inventory: &str) -> Self {
        let work = Self::empty();
        work.write("install-config.yaml", config);
        work.write("inventory.yaml", inventory);
        work
    }

    /// Both files and everything that `create ignition-configs` makes of them.
    pub(crate) fn made() -> Self {
        static MADE: LazyLock<Snapshot> = LazyLock::new(|| {
            let work = Work::with_inputs(CONFIG, INVENTORY);
            work.ok(&["create", "ignition-configs"]);
            Snapshot::of(work.root())
        });
        let work = Self::empty();
        MADE.restore(work.root(), |_| true);
        work
    }

    /// A new folder with some of the files and folders of this one: those whose paths begin so.
    pub(crate) fn copy(&self, beginnings: &[&str]) -> Self {
        let copy = Self::empty();
        let wanted = |path: &str| beginnings.iter().any(|beginning| path.starts_with(beginning));
        Snapshot::of(self.root()).restore(copy.root(), wanted);
        copy
    }

    pub(crate) fn root(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn exists(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn remove(&self, name: &str) {
        fs::remove_file(self.path(name)).unwrap();
    }

    /// Replaces a text that stands in the file once.
    pub(crate) fn edit(&self, name: &str, from: &str, to: &str) {
        let text = self.read(name);
        assert_eq!(text.matches(from).count(), 1, "{from} in {name}:\n{text}");
        self.write(name, text.replace(from, to));
    }

    pub(crate) fn mode(&self, name: &str) -> u32 {
        fs::metadata(self.path(name)).unwrap().permissions().mode() & 0o7777
    }

    /// The program, run in this folder.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hardway"));
        command.args(args).current_dir(self.root()).env("HARDWAY_NOW", NOW).stdin(Stdio::null());
        let skip = "OPENSHIFT_INSTALL_SKIP_HOSTCRYPT_VALIDATION";
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", skip] {
            command.env_remove(name);
        }
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        Ran::of(self.command(args))
    }

    pub(crate) fn run_at(&self, now: &str, args: &[&str]) -> Ran {
        let mut command = self.command(args);
        command.env("HARDWAY_NOW", now);
        Ran::of(command)
    }

    /// A run that must go well.
    pub(crate) fn ok(&self, args: &[&str]) -> Ran {
        self.run(args).expect(0)
    }

    /// A run that must end with this code and touch nothing.
    pub(crate) fn refused(&self, code: i32, args: &[&str]) -> Ran {
        let before = Snapshot::of(self.root());
        let ran = self.run(args).expect(code);
        before.assert_untouched(&Snapshot::of(self.root()));
        ran
    }
}

impl Ran {
    pub(crate) fn of(mut command: Command) -> Self {
        let Output { status, stdout, stderr } = command.output().unwrap();
        let ran = Self {
            code: status.code(),
            stdout: String::from_utf8(stdout).unwrap(),
            stderr: String::from_utf8(stderr).unwrap(),
        };
        for secret in [AUTH, "hush-hush", "PRIVATE KEY-----"] {
            assert!(!ran.stdout.contains(secret) && !ran.stderr.contains(secret), "{secret} shows: {ran:#?}");
        }
        ran
    }

    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}\n{}", self.stdout, self.stderr);
        self
    }

    /// Standard error has this text.
    pub(crate) fn says(self, text: &str) -> Self {
        assert!(self.stderr.contains(text), "{text:?} is not in:\n{}", self.stderr);
        self
    }

    /// Standard error does not have this text.
    pub(crate) fn does_not_say(self, text: &str) -> Self {
        assert!(!self.stderr.contains(text), "{text:?} is in:\n{}", self.stderr);
        self
    }
}
