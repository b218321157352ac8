//! A real sushy-emulator with its fake driver: machines whose power takes some seconds to change.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::{needed, self_signed};

/// Who may log in.
pub const REDFISH_USER: &str = "admin";
/// With what.
pub const REDFISH_PASSWORD: &str = "correct-horse-battery";
/// The first machine; there is one for each that is asked for.
pub const REDFISH_MACHINE: &str = "27946b59-9e44-4fa7-8e91-f3527a1ef094";
const SECOND: &str = "27946b59-9e44-4fa7-8e91-f3527a1ef095";

/// The emulator; it ends with the test.
pub struct RedfishEmulator {
    process: Child,
    /// `http://127.0.0.1:PORT`, or with https.
    pub address: String,
    /// Where it keeps its files.
    pub folder: tempfile::TempDir,
}

impl RedfishEmulator {
    /// With a login, and over TLS if wanted; none where sushy-tools is not installed.
    ///
    /// # Panics
    /// When it does not start.
    pub fn start(machines: usize, with_tls: bool) -> Option<Self> {
        let bin = needed("HARDWAY_SUSHY_TOOLS")?;
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let output =
            Command::new("htpasswd").args(["-nbB", REDFISH_USER, REDFISH_PASSWORD]).output().unwrap();
        fs_err::write(path("htpasswd"), &output.stdout).unwrap();
        let machine =
            |uuid: &str| format!("{{'uuid': '{uuid}', 'name': '{uuid}', 'power_state': 'Off', 'nics': []}}");
        let all: Vec<String> =
            [REDFISH_MACHINE, SECOND].iter().take(machines).map(|uuid| machine(uuid)).collect();
        let mut config = format!(
            "SUSHY_EMULATOR_LISTEN_IP = '127.0.0.1'\nSUSHY_EMULATOR_LISTEN_PORT = 0\n\
             SUSHY_EMULATOR_STATE_DIR = {:?}\nSUSHY_EMULATOR_AUTH_FILE = {:?}\n\
             SUSHY_EMULATOR_FAKE_SYSTEMS = [{}]\n",
            folder.path(),
            path("htpasswd"),
            all.join(", ")
        );
        if with_tls {
            let (certificate, key) = self_signed(folder.path(), "tls", "IP:127.0.0.1");
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

    /// The certificate it serves with.
    pub fn certificate(&self) -> PathBuf {
        self.folder.path().join("tls.crt")
    }
}

impl Drop for RedfishEmulator {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
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
