//! A real etcd and a real kube-apiserver, shared by the tests that run at the same time.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, Weak};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::host::{Host, run, succeed};

/// Stops with the last test that holds it, and with this process however it ends.
pub(crate) struct ControlPlane {
    bin: PathBuf,
    host: Host,
    port: u16,
    etcd_port: u16,
    servers: Vec<Child>,
}

/// The folder of `tools/kubernetes/build.sh`, with these programs built.
pub(crate) fn tools(names: &[&str]) -> PathBuf {
    let build = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/kubernetes/build.sh");
    let output = Command::new(build).args(names).stderr(Stdio::inherit()).output().unwrap();
    assert!(output.status.success(), "the tools could not be built; leave these tests out with --skip real_");
    PathBuf::from(String::from_utf8(output.stdout).unwrap().trim())
}

impl ControlPlane {
    /// The running one, or a new one.
    pub(crate) fn shared() -> Arc<Self> {
        static RUNNING: Mutex<Weak<ControlPlane>> = Mutex::new(Weak::new());
        let mut running = RUNNING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        running.upgrade().unwrap_or_else(|| {
            let started = Arc::new(Self::start());
            *running = Arc::downgrade(&started);
            started
        })
    }

    /// One of its own, for a test that must not meet others.
    pub(crate) fn start() -> Self {
        let bin = tools(&["etcd", "kube-apiserver", "kubectl"]);
        let host = Host::new();
        host.write("make-certificates.sh", MAKE_CERTIFICATES);
        succeed(Command::new("bash").arg(host.path("make-certificates.sh")).current_dir(host.path("")));
        let [port, etcd_port, peer_port] = free_ports();
        let mut plane = Self { bin: bin.clone(), host, port, etcd_port, servers: Vec::new() };
        plane.serve(&bin.join("etcd"), &etcd_flags(etcd_port, peer_port));
        plane.serve(&bin.join("kube-apiserver"), &api_server_flags(port, etcd_port));
        plane.host.write("kubeconfig", &plane.kubeconfig_text());
        let began = Instant::now();
        while !run(plane.kubectl().args(["get", "--raw=/readyz"])).0 {
            let log = plane.host.read("kube-apiserver.log");
            let is_late = began.elapsed() > Duration::from_secs(120);
            assert!(!is_late && !log.contains("command failed"), "no API: {log}");
            sleep(Duration::from_millis(200));
        }
        // What is tested is approving; asking is open to everybody.
        let binding = ["clusterrolebinding", "ask", "--clusterrole=system:node-bootstrapper"];
        succeed(plane.kubectl().arg("create").args(binding).arg("--group=system:authenticated"));
        plane
    }

    /// The shell between holds its end of a pipe; when ours is closed, it kills the server.
    fn serve(&mut self, program: &Path, flags: &[String]) {
        let name = program.file_name().unwrap().to_str().unwrap();
        let watched = format!(r#"exec 3<&0; "$@" </dev/null >{name}.log 2>&1 & read -r _ <&3; kill -9 $!"#);
        let mut command = Command::new("bash");
        command.args(["-c", &watched, "bash"]).arg(program).args(flags).current_dir(self.host.path(""));
        self.servers.push(command.stdin(Stdio::piped()).spawn().unwrap());
    }

    fn kubeconfig_text(&self) -> String {
        let file = |name: &str| self.host.path(name).display().to_string();
        format!(
            r#"{{"apiVersion": "v1", "kind": "Config", "current-context": "test",
            "clusters": [{{"name": "test", "cluster": {{"server": "{}", "certificate-authority": "{}"}}}}],
            "users": [{{"name": "test", "user": {{"client-certificate": "{}", "client-key": "{}"}}}}],
            "contexts": [{{"name": "test", "context": {{"cluster": "test", "user": "test"}}}}]}}"#,
            self.url(),
            file("ca.crt"),
            file("admin.crt"),
            file("admin.key"),
        )
    }

    /// Where the API server listens.
    pub(crate) fn url(&self) -> String {
        format!("https://localhost:{}", self.port)
    }

    /// Where etcd tells about its health.
    pub(crate) fn etcd_health_url(&self) -> String {
        format!("https://localhost:{}/health", self.etcd_port)
    }

    /// An administrator's kubeconfig.
    pub(crate) fn kubeconfig(&self) -> PathBuf {
        self.host.path("kubeconfig")
    }

    /// What lies in the control plane's own folder: ca.crt, admin.crt, admin.key.
    pub(crate) fn read(&self, name: &str) -> String {
        self.host.read(name)
    }

    /// `kubectl` as administrator.
    pub(crate) fn kubectl(&self) -> Command {
        let mut command = Command::new(self.oc());
        command.arg("--kubeconfig").arg(self.kubeconfig());
        command.arg("--cache-dir").arg(self.host.path("cache"));
        command
    }

    /// The program scripts are told to use as `oc`.
    pub(crate) fn oc(&self) -> PathBuf {
        self.bin.join("kubectl")
    }

    /// The same, but it warns whenever it is called, as podman may before it runs oc in a container.
    pub(crate) fn warning_oc(&self, host: &Host) -> PathBuf {
        let oc =
            format!("#!/bin/bash\necho 'WARN: no such cgroup' >&2\nexec {} \"$@\"\n", self.oc().display());
        host.program("bin/warning-oc", &oc);
        host.path("bin/warning-oc")
    }

    /// An object, or `Null`.
    pub(crate) fn get(&self, arguments: &[&str]) -> Value {
        let (found, text) = run(self.kubectl().args(["get", "-o", "json"]).args(arguments));
        if found { serde_json::from_str(&text).unwrap() } else { Value::Null }
    }
}

impl Drop for ControlPlane {
    fn drop(&mut self) {
        for server in &mut self.servers {
            drop(server.stdin.take());
            let _ = server.wait();
        }
    }
}

/// Free at this moment; all are held until all are known, so that they differ.
fn free_ports() -> [u16; 3] {
    let held = [(); 3].map(|()| TcpListener::bind(("127.0.0.1", 0)).unwrap());
    held.map(|listener| listener.local_addr().unwrap().port())
}

fn etcd_flags(port: u16, peer_port: u16) -> Vec<String> {
    let (client, peer) = (format!("https://127.0.0.1:{port}"), format!("http://127.0.0.1:{peer_port}"));
    let mut flags: Vec<String> =
        ["--data-dir=etcd", "--cert-file=server.crt", "--key-file=server.key"].map(str::to_owned).into();
    flags.extend(["--trusted-ca-file=ca.crt", "--client-cert-auth", "--unsafe-no-fsync"].map(str::to_owned));
    flags.push(format!("--listen-client-urls={client}"));
    flags.push(format!("--advertise-client-urls={client}"));
    flags.push(format!("--listen-peer-urls={peer}"));
    flags.push(format!("--initial-advertise-peer-urls={peer}"));
    flags.push(format!("--initial-cluster=default={peer}"));
    flags
}

fn api_server_flags(port: u16, etcd_port: u16) -> Vec<String> {
    let flags = [
        "--bind-address=127.0.0.1",
        "--etcd-cafile=ca.crt",
        "--etcd-certfile=admin.crt",
        "--etcd-keyfile=admin.key",
        "--tls-cert-file=server.crt",
        "--tls-private-key-file=server.key",
        "--client-ca-file=ca.crt",
        "--service-account-key-file=admin.crt",
        "--service-account-signing-key-file=admin.key",
        "--service-account-issuer=https://kubernetes.default.svc",
        "--service-cluster-ip-range=10.0.0.0/24",
        "--authorization-mode=Node,RBAC",
        "--disable-admission-plugins=ServiceAccount",
    ];
    let ports = [format!("--secure-port={port}"), format!("--etcd-servers=https://127.0.0.1:{etcd_port}")];
    flags.map(str::to_owned).into_iter().chain(ports).collect()
}

const MAKE_CERTIFICATES: &str = r#"
set -euo pipefail
key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1.key"; }
leaf() {
  key "$1"
  openssl req -new -key "$1.key" -subj "$2" -addext "$3" -out "$1.csr"
  openssl x509 -req -in "$1.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -copy_extensions copyall -out "$1.crt"
}
key ca
openssl req -x509 -key ca.key -subj /CN=test-ca -days 2 -out ca.crt
leaf server /CN=localhost "subjectAltName=DNS:localhost,IP:127.0.0.1"
leaf admin /O=system:masters/CN=admin "extendedKeyUsage=clientAuth"
"#;
