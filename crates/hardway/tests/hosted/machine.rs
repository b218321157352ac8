//! Machines that are played: each makes a real certificate request as a new kubelet does, and registers its node.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, sleep};
use std::time::Duration;

use hardway_testing::{feed, node_request, own_kubeconfig, run, succeed};
use serde_json::json;

use super::place::{Place, base64};

pub(crate) struct Machines {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

struct Player {
    folder: PathBuf,
    kubectl: Vec<String>,
    stop: Arc<AtomicBool>,
}

impl Machines {
    pub(crate) fn live(place: &Place) -> Self {
        let command = place.other.kubectl();
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        let kubectl = words.map(|word| word.to_str().unwrap().to_owned()).collect();
        let stop = Arc::new(AtomicBool::new(false));
        let player = Player { folder: place.folder.path("machines"), kubectl, stop: Arc::clone(&stop) };
        Self { stop, thread: Some(std::thread::spawn(move || player.play())) }
    }
}

impl Drop for Machines {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let ended = self.thread.take().unwrap().join();
        assert!(ended.is_ok() || std::thread::panicking(), "a machine could not be played");
    }
}

impl Player {
    fn play(&self) {
        let mut joined = BTreeSet::new();
        while !self.stop.load(Ordering::Relaxed) {
            for n in 0..2 {
                let name = format!("worker-{n}");
                if self.folder.join(&name).exists() && joined.insert(name.clone()) {
                    self.join(&name, &format!("10.20.0.{}", n + 1));
                }
            }
            sleep(Duration::from_millis(100));
        }
    }

    fn join(&self, name: &str, address: &str) {
        let request = node_request(name, "");
        let csr = format!("csr-{name}");
        let object = json!({"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "metadata": {"name": csr},
            "spec": {"signerName": "kubernetes.io/kube-apiserver-client-kubelet", "request": base64(&request), "usages": ["digital signature", "client auth"]}});
        // With what its pointer brings.
        let own = own_kubeconfig(&std::fs::read(self.folder.join(name)).unwrap()).unwrap();
        let file = self.folder.join(format!(".{name}.kubeconfig"));
        std::fs::write(&file, own).unwrap();
        let mut create = Command::new(&self.kubectl[0]);
        let create = create.arg("--kubeconfig").arg(file).args(["create", "-f", "-"]);
        feed(create, &object.to_string());
        while !run(self.kubectl().args(["get", "csr", &csr, "-o", "jsonpath={.status.certificate}"]))
            .1
            .starts_with("LS0t")
        {
            if self.stop.load(Ordering::Relaxed) {
                return;
            }
            sleep(Duration::from_millis(200));
        }
        let now = succeed(Command::new("date").args(["-u", "+%Y-%m-%dT%H:%M:%SZ"]));
        let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": {
            "addresses": [{"type": "InternalIP", "address": address}],
            "conditions": [{"type": "Ready", "status": "True", "reason": "Kubelet", "message": "played", "lastTransitionTime": now.trim()}]}});
        feed(self.kubectl().args(["create", "-f", "-"]), &node.to_string());
    }

    fn kubectl(&self) -> Command {
        let mut command = Command::new(&self.kubectl[0]);
        command.args(&self.kubectl[1..]);
        command
    }
}
