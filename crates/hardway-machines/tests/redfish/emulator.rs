//! A real sushy-emulator with its fake driver: machines whose power takes some seconds to change.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use hardway_assets::secrets::Secret;
use hardway_machines::redfish::{Bmc, BmcAddress, Login, Trust};

pub(crate) const USER: &str = "admin";
pub(crate) const PASSWORD: &str = "correct-horse-battery";
pub(crate) const FIRST: &str = "27946b59-9e44-4fa7-8e91-f3527a1ef094";
const SECOND: &str = "27946b59-9e44-4fa7-8e91-f3527a1ef095";

pub(crate) struct Emulator {
    process: Child,
    pub(crate) address: String,
    pub(crate) folder: tempfile::TempDir,
}

impl Emulator {
    /// With a login, over TLS if there is a certificate; none where sushy-tools is not installed.
    pub(crate) fn start(machines: usize, with_tls: bool) -> Option<Self> {
        let bin = bin()?;
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let output = Command::new("htpasswd").args(["-nbB", USER, PASSWORD]).output().unwrap();
        fs_err::write(path("htpasswd"), &output.stdout).unwrap();
        let machine =
            |uuid: &str| format!("{{'uuid': '{uuid}', 'name': '{uuid}', 'power_state': 'Off', 'nics': []}}");
        let all: Vec<String> = [FIRST, SECOND].iter().take(machines).map(|uuid| machine(uuid)).collect();
        let mut config = format!(
            "SUSHY_EMULATOR_LISTEN_IP = '127.0.0.1'\nSUSHY_EMULATOR_LISTEN_PORT = 0\n\
             SUSHY_EMULATOR_STATE_DIR = {:?}\nSUSHY_EMULATOR_AUTH_FILE = {:?}\n\
             SUSHY_EMULATOR_FAKE_SYSTEMS = [{}]\n",
            folder.path(),
            path("htpasswd"),
            all.join(", ")
        );
        if with_tls {
            let (certificate, key) = crate::certificates::self_signed(folder.path(), "tls");
            config +=
                &format!("SUSHY_EMULATOR_SSL_CERT = {certificate:?}\nSUSHY_EMULATOR_SSL_KEY = {key:?}\n");
        }
        fs_err::write(path("emulator.conf"), config).unwrap();
        let mut process = Command::new(bin.join("sushy-emulator"))
            .args(["--fake", "--config"])
            .arg(path("emulator.conf"))
            .env("TMPDIR", folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let address = listening(&mut process);
        Some(Self { process, address, folder })
    }

    /// How to log in; `system` as in an address, or nothing.
    pub(crate) fn bmc(&self, system: &str, trust: Trust) -> Bmc {
        Bmc {
            address: BmcAddress::parse(&format!("redfish+{}{system}", self.address)).unwrap(),
            user: USER.to_owned(),
            password: Secret::new(PASSWORD),
            login: Login::Basic,
            trust,
        }
    }

    pub(crate) fn certificate(&self) -> PathBuf {
        self.folder.path().join("tls.crt")
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn bin() -> Option<PathBuf> {
    let found = std::env::var_os("HARDWAY_SUSHY_TOOLS").map(PathBuf::from);
    assert!(found.is_some() || std::env::var_os("CI").is_none(), "CI must have a Redfish emulator");
    if found.is_none() {
        eprintln!("skipped: HARDWAY_SUSHY_TOOLS is not set; ./test.sh sets it");
    }
    found
}

/// `http://127.0.0.1:PORT`, as it says itself. What it says later is read too, so that it never waits for a reader.
fn listening(process: &mut Child) -> String {
    let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
    let mut said = String::new();
    for line in lines.by_ref() {
        let line = line.unwrap();
        if let Some(start) = line.find("Running on ") {
            std::thread::spawn(move || lines.for_each(drop));
            return line[start + "Running on ".len()..].trim().to_owned();
        }
        said += &(line + "\n");
    }
    panic!("the emulator ended:\n{said}");
}
