//! A working folder, and the program serving from it on a port of its own.

use std::io::{BufRead as _, BufReader, Read as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::client::Client;

const CONFIG: &str = r#"apiVersion: v1
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
  provider: bare-metal
network:
  gateway: 192.168.126.1
  dns: [192.168.126.1]
  apiVIP: 192.168.126.10
  ingressVIP: 192.168.126.11
ignitionServer:
  url: https://127.0.0.1:22624
pki:
  keyAlgorithm: ECDSA-P256
hosts:
- {name: bootstrap, role: bootstrap, ip: 192.168.126.100}
- {name: master-0, role: master, ip: 192.168.126.101}
- {name: master-1, role: master, ip: 192.168.126.102}
- {name: master-2, role: master, ip: 192.168.126.103}
- {name: worker-0, role: worker, ip: 192.168.126.110}
"#;

pub(crate) const HOSTS: [&str; 5] = ["bootstrap", "master-0", "master-1", "master-2", "worker-0"];

/// A working folder with everything made.
pub(crate) struct Folder {
    dir: TempDir,
}

impl Folder {
    /// As `hardway create ignition-configs` leaves it, but with a config of 438 KB for worker-0, as real ones are.
    pub(crate) fn made() -> Self {
        static MADE: LazyLock<TempDir> = LazyLock::new(|| {
            let dir = tempfile::tempdir().unwrap();
            std::fs::write(dir.path().join("install-config.yaml"), CONFIG).unwrap();
            std::fs::write(dir.path().join("inventory.yaml"), INVENTORY).unwrap();
            create(dir.path());
            let path = dir.path().join("ignition/worker-0.ign");
            let mut config: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            let missing = 438_000 - config.to_string().len();
            let file = json!({"path": "/etc/padding", "contents": {"source": format!("data:,{}", "x".repeat(missing))}});
            config["storage"]["files"].as_array_mut().unwrap().push(file);
            std::fs::write(&path, config.to_string()).unwrap();
            create(dir.path());
            dir
        });
        let folder = Self { dir: tempfile::tempdir().unwrap() };
        let from = MADE.path().join(".");
        assert!(Command::new("cp").arg("-a").arg(from).arg(folder.path("")).status().unwrap().success());
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    pub(crate) fn create(&self) {
        create(self.dir.path());
    }

    /// The program with these words, in this folder.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hardway"));
        command.arg("serve").args(args).current_dir(self.path("")).stdin(Stdio::null());
        command.env_remove("HARDWAY_NOW").env_remove("KUBECONFIG");
        command
    }

    /// A run that cannot begin: its exit code and what it says.
    pub(crate) fn refused(&self, args: &[&str]) -> (Option<i32>, String) {
        let output = self.command(args).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    }

    pub(crate) fn serve(&self, args: &[&str]) -> Serving {
        Serving::from(
            self.command(&[&["--listen", "127.0.0.1:0", "-o", "json"], args].concat()),
            &self.read("pki/root-ca.crt"),
        )
    }

    /// The path and headers that a host's pointer makes Ignition ask with.
    pub(crate) fn request(&self, host: &str) -> (String, Vec<(String, String)>) {
        let pointer: Value =
            serde_json::from_slice(&self.read(&format!("ignition/pointers/{host}.ign"))).unwrap();
        let merge = &pointer["ignition"]["config"]["merge"][0];
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let headers = merge["httpHeaders"].as_array().unwrap();
        let headers = headers.iter().map(|header| (text(&header["name"]), text(&header["value"])));
        (format!("/ignition/{host}"), headers.collect())
    }

    /// The same as bytes.
    pub(crate) fn request_text(&self, host: &str) -> String {
        let (path, headers) = self.request(host);
        let mut text = format!("GET {path} HTTP/1.1\r\nHost: test\r\n");
        headers.iter().for_each(|(name, value)| text += &format!("{name}: {value}\r\n"));
        text + "\r\n"
    }
}

fn create(dir: &Path) {
    let output = Command::new(env!("CARGO_BIN_EXE_hardway"))
        .args(["create", "ignition-configs", "--dir"])
        .arg(dir)
        .env_remove("HARDWAY_NOW")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The program, serving.
pub(crate) struct Serving {
    pub(crate) child: Child,
    pub(crate) address: SocketAddr,
    ca: Vec<u8>,
    /// Read all the time: nobody may wait for a full pipe.
    stdout: Option<JoinHandle<String>>,
    stderr: Option<JoinHandle<String>>,
}

impl Serving {
    pub(crate) fn from(mut command: Command, ca: &[u8]) -> Self {
        command.stdout(Stdio::piped());
        let mut serving = Self::quiet(command, ca);
        let mut stdout = serving.child.stdout.take().unwrap();
        serving.stdout = Some(std::thread::spawn(move || {
            let mut text = String::new();
            stdout.read_to_string(&mut text).unwrap();
            text
        }));
        serving
    }

    /// With its standard output left to the command.
    pub(crate) fn quiet(mut command: Command, ca: &[u8]) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut said = String::new();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let address = loop {
            let mut line = String::new();
            assert!(stderr.read_line(&mut line).unwrap() > 0, "it does not serve:\n{said}");
            if let Some((_, address)) =
                line.trim_end().split_once("serving on ").and_then(|(_, url)| url.split_once("://"))
            {
                break address.parse().unwrap();
            }
            said += &line;
        };
        let stderr = std::thread::spawn(move || {
            let _ = stderr.read_to_string(&mut said);
            said
        });
        Self { child, address, ca: ca.to_vec(), stdout: None, stderr: Some(stderr) }
    }

    pub(crate) fn client(&self) -> Client {
        Client::new(self.address, &self.ca)
    }

    /// A line of `/proc/<id>/status`, in kilobytes.
    pub(crate) fn kilobytes(&self, name: &str) -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim_matches([':', ' ', '\t']).strip_suffix(" kB").unwrap().parse().unwrap()
    }

    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-s", name, &id]).status().unwrap().success());
    }

    /// Ends it; its exit code and its standard output.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        self.signal("TERM");
        self.ended()
    }

    /// Ends it; what it said to its operator.
    pub(crate) fn said(mut self) -> String {
        self.signal("TERM");
        self.ended();
        self.stderr.take().unwrap().join().unwrap()
    }

    pub(crate) fn ended(&mut self) -> (Option<i32>, String) {
        let start = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(start.elapsed() < Duration::from_secs(120), "it does not end");
            std::thread::sleep(Duration::from_millis(20));
        };
        let text = self.stdout.take().map(|reader| reader.join().unwrap()).unwrap_or_default();
        (status.code(), text)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
