//! A real etcd and a real kube-apiserver, shared by the tests that run at the same time, or a test's own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::sleep;
use std::time::{Duration, Instant};

use fs_err as fs;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::tools::{feed, run, succeed, tools};
use crate::{Identity, Server, flags, free_ports};

/// Stops with the last test that holds it, and with this process however it ends.
#[derive(Debug)]
pub struct ControlPlane {
    bin: PathBuf,
    ports: [u16; 5],
    servers: BTreeMap<&'static str, Server>,
    folder: TempDir,
}

const ETCD: &str = "etcd";
const API_SERVER: &str = "kube-apiserver";
const CONTROLLER_MANAGER: &str = "kube-controller-manager";
const SCHEDULER: &str = "kube-scheduler";

impl ControlPlane {
    /// The running one, or a new one.
    pub fn shared() -> Arc<Self> {
        static RUNNING: Mutex<Weak<ControlPlane>> = Mutex::new(Weak::new());
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        running.upgrade().unwrap_or_else(|| {
            let started = Arc::new(Self::start());
            *running = Arc::downgrade(&started);
            started
        })
    }

    /// One of its own, for a test that must not meet others.
    pub fn start() -> Self {
        let mut plane = Self::with_etcd(free_ports());
        plane.start_api_server();
        plane.let_everybody_ask();
        plane
    }

    /// One with the authorities, names and port of a cluster that was made elsewhere: its API server has more flags, and
    /// whoever asks here as administrator is that cluster's.
    ///
    /// # Panics
    /// When it does not answer there.
    pub fn of_cluster(port: u16, flags: &[&str], kubeconfig: &str) -> Self {
        let mut ports = free_ports();
        ports[0] = port;
        let mut plane = Self::with_etcd(ports);
        fs::write(plane.kubeconfig(), kubeconfig).unwrap();
        plane.start_api_server_with(flags, &plane.kubeconfig());
        plane.let_everybody_ask();
        plane
    }

    fn with_etcd(ports: [u16; 5]) -> Self {
        let bin = tools(&[ETCD, API_SERVER, "kubectl"]);
        let folder = tempfile::tempdir().unwrap();
        succeed(Command::new("bash").args(["-c", MAKE_CERTIFICATES]).current_dir(folder.path()));
        let mut plane = Self { bin, ports, servers: BTreeMap::new(), folder };
        Identity::issue(plane.folder(), &plane.url(), "admin", "admin", &["system:masters"]);
        let [_, etcd, peer, ..] = plane.ports;
        plane.serve(ETCD, &flags::etcd(etcd, peer));
        plane
    }

    /// What is tested is approving; asking is open to everybody.
    fn let_everybody_ask(&self) {
        let binding = ["clusterrolebinding", "ask", "--clusterrole=system:node-bootstrapper"];
        succeed(self.kubectl().arg("create").args(binding).arg("--group=system:authenticated"));
    }

    /// Starts the API server, unless it runs, and waits until it answers.
    ///
    /// # Panics
    /// When it does not.
    pub fn start_api_server(&mut self) {
        self.start_api_server_with(&[], &self.kubeconfig());
    }

    /// The same with more flags, of which the last of a name counts, and for clients of this kubeconfig.
    ///
    /// # Panics
    /// When it does not.
    pub fn start_api_server_with(&mut self, more: &[&str], kubeconfig: &Path) {
        let [port, etcd, ..] = self.ports;
        let more = more.iter().map(|flag| (*flag).to_owned());
        let flags: Vec<String> = flags::api_server(port, etcd).into_iter().chain(more).collect();
        self.serve(API_SERVER, &flags);
        let began = Instant::now();
        while !run(self.kubectl_with(kubeconfig).args(["get", "--raw=/readyz"])).0 {
            let log = self.read("kube-apiserver.log");
            let is_late = began.elapsed() > Duration::from_secs(240);
            assert!(!is_late && !log.contains("command failed"), "no API: {log}");
            sleep(Duration::from_millis(200));
        }
    }

    /// Kills the API server: connections break, and nothing listens. What was written is in etcd.
    pub fn kill_api_server(&mut self) {
        self.servers.remove(API_SERVER);
    }

    /// Starts the controllers that issue certificates, unless they run.
    pub fn start_controller_manager(&mut self) {
        self.start_controller_manager_with(&[]);
    }

    /// The same with more flags, of which the last of a name counts.
    pub fn start_controller_manager_with(&mut self, more: &[&str]) {
        tools(&[CONTROLLER_MANAGER]);
        let mut flags = flags::controller_manager(self.ports[3]);
        flags.extend(more.iter().map(|flag| (*flag).to_owned()));
        self.serve(CONTROLLER_MANAGER, &flags);
    }

    /// Starts what gives pods their nodes, unless it runs.
    pub fn start_scheduler(&mut self) {
        tools(&[SCHEDULER]);
        let port = self.ports[4];
        self.serve(SCHEDULER, &flags::scheduler(port));
    }

    /// Where the API server listens.
    pub fn url(&self) -> String {
        format!("https://localhost:{}", self.ports[0])
    }

    /// Where etcd tells about its health.
    pub fn etcd_health_url(&self) -> String {
        format!("https://localhost:{}/health", self.ports[1])
    }

    /// An administrator's kubeconfig.
    pub fn kubeconfig(&self) -> PathBuf {
        self.folder().join("kubeconfig")
    }

    /// A user of these groups; `name` is for its files.
    pub fn identity(&self, name: &str, user: &str, groups: &[&str]) -> Identity {
        Identity::issue(self.folder(), &self.url(), name, user, groups)
    }

    /// A host of an inventory before it is a node, as `pki/host-identity-<host>.crt` would say.
    pub fn host_identity(&self, host: &str, generation: u32) -> Identity {
        let user = format!("hardway:host:{host}:{generation}");
        self.identity(&format!("host-{generation}"), &user, &["hardway:hosts"])
    }

    /// The service account that machines from a stock pointer share before they are nodes.
    ///
    /// # Panics
    /// When it cannot be made.
    pub fn shared_identity(&self) -> Identity {
        let [namespace, account] = ["openshift-machine-config-operator", "node-bootstrapper"];
        succeed(self.kubectl().args(["create", "namespace", namespace]));
        succeed(self.kubectl().args(["create", "serviceaccount", account, "-n", namespace]));
        let token = succeed(self.kubectl().args(["create", "token", account, "-n", namespace]));
        self.token_holder(account, token.trim())
    }

    /// Whoever has this token.
    pub fn token_holder(&self, name: &str, token: &str) -> Identity {
        Identity::with_token(self.folder(), &self.url(), name, token)
    }

    /// Its own folder, with ca.crt, admin.crt, admin.key and the logs.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The text of a file in its folder.
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder().join(name)).unwrap()
    }

    /// `kubectl` as administrator.
    pub fn kubectl(&self) -> Command {
        self.kubectl_with(&self.kubeconfig())
    }

    /// `kubectl` as somebody else.
    pub fn kubectl_with(&self, kubeconfig: &Path) -> Command {
        let mut command = Command::new(self.oc());
        command.arg("--kubeconfig").arg(kubeconfig);
        command.arg("--cache-dir").arg(self.folder().join("cache"));
        command
    }

    /// The program scripts are told to use as `oc`.
    pub fn oc(&self) -> PathBuf {
        self.bin.join("kubectl")
    }

    /// An object, or `Null`.
    pub fn get(&self, arguments: &[&str]) -> Value {
        let (found, text) = run(self.kubectl().args(["get", "-o", "json"]).args(arguments));
        if found { serde_json::from_str(&text).unwrap() } else { Value::Null }
    }

    /// Makes an object, or changes it to this.
    ///
    /// # Panics
    /// When the API server refuses.
    pub fn apply(&self, object: &Value) {
        let apply = ["apply", "--server-side", "--force-conflicts", "-f", "-"];
        feed(self.kubectl().args(apply), &object.to_string());
    }

    /// Makes the cluster say that this is its infra id, as every cluster of OpenShift does.
    ///
    /// # Panics
    /// When the API server refuses.
    pub fn say_infra_id(&self, id: &str) {
        let crd = "infrastructures.config.openshift.io";
        self.apply(&json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": crd},
            "spec": {
                "group": "config.openshift.io",
                "scope": "Cluster",
                "names": {"kind": "Infrastructure", "plural": "infrastructures", "singular": "infrastructure"},
                "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                    "type": "object",
                    "x-kubernetes-preserve-unknown-fields": true,
                }}}],
            },
        }));
        let waited = format!("crd/{crd}");
        succeed(self.kubectl().args(["wait", "--for=condition=Established", "--timeout=120s", &waited]));
        self.apply(&json!({
            "apiVersion": "config.openshift.io/v1",
            "kind": "Infrastructure",
            "metadata": {"name": "cluster"},
            "status": {"infrastructureName": id},
        }));
    }

    fn serve(&mut self, name: &'static str, flags: &[String]) {
        let (program, folder) = (self.bin.join(name), self.folder.path().to_owned());
        self.servers.entry(name).or_insert_with(|| Server::start(&program, flags, &folder));
    }
}

impl Drop for ControlPlane {
    fn drop(&mut self) {
        // Before their folder goes, and those that ask first.
        for name in [SCHEDULER, CONTROLLER_MANAGER, API_SERVER, ETCD] {
            self.servers.remove(name);
        }
    }
}

const MAKE_CERTIFICATES: &str = r#"
set -euo pipefail
key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1.key"; }
key ca
openssl req -x509 -key ca.key -subj /CN=test-ca -days 2 -out ca.crt
key server
openssl req -new -key server.key -subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -out server.csr
openssl x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -copy_extensions copyall -out server.crt
"#;
