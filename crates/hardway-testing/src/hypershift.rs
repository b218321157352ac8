//! A stand-in for HyperShift's operators: writes what they write on platform None, and nothing else
//! (openshift/hypershift `hypershift-operator/controllers/nodepool/token.go`).

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::ControlPlane;
use crate::tools::{feed, run, succeed};

/// One hosted cluster on a management cluster.
#[derive(Clone, Debug)]
pub struct Hypershift {
    kubectl: Vec<String>,
    /// Of the HostedCluster.
    pub namespace: String,
    /// Its name.
    pub cluster: String,
}

const PREFIX: &str = "hypershift.openshift.io";

/// Makes a control plane know HyperShift's kinds: the real definitions of the folder in `HARDWAY_HYPERSHIFT_CRDS`, else trimmed ones.
pub fn install_hypershift(plane: &ControlPlane) {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("crds");
    let folder = std::env::var_os("HARDWAY_HYPERSHIFT_CRDS").map_or(own, PathBuf::from);
    for kind in ["hostedclusters", "nodepools"] {
        let text = fs_err::read_to_string(folder.join(format!("{kind}.yaml"))).unwrap();
        // A mark of OpenShift's own tools, under a name that no API server takes.
        let lines = text.lines().filter(|line| !line.contains("feature-gate.release.openshift.io/:"));
        let file = plane.folder().join(format!("{kind}.yaml"));
        fs_err::write(&file, lines.collect::<Vec<_>>().join("\n")).unwrap();
        succeed(plane.kubectl().args(["apply", "--server-side", "-f"]).arg(file));
    }
    for kind in ["hostedclusters", "nodepools"] {
        let crd = format!("crd/{kind}.{PREFIX}");
        succeed(plane.kubectl().args(["wait", "--for=condition=Established", "--timeout=120s", &crd]));
    }
}

impl Hypershift {
    /// For one cluster.
    pub fn new(plane: &ControlPlane, namespace: &str, cluster: &str) -> Self {
        let command = plane.kubectl();
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        let kubectl = words.map(|word| word.to_str().unwrap().to_owned()).collect();
        Self { kubectl, namespace: namespace.to_owned(), cluster: cluster.to_owned() }
    }

    /// The namespace of the control plane.
    pub fn control_plane(&self) -> String {
        format!("{}-{}", self.namespace, self.cluster)
    }

    /// The control plane is up: its kubeconfig and its ignition endpoint are known.
    pub fn control_plane_is_up(&self, kubeconfig: &Path, endpoint: &str) {
        let namespace = self.control_plane();
        self.apply(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}));
        let text = fs_err::read_to_string(kubeconfig).unwrap();
        self.apply(&json!({"apiVersion": "v1", "kind": "Secret", "stringData": {"kubeconfig": text},
            "metadata": {"name": format!("{}-admin-kubeconfig", self.cluster), "namespace": self.namespace}}));
        let status = json!({"kubeconfig": {"name": format!("{}-admin-kubeconfig", self.cluster)},
            "ignitionEndpoint": endpoint, "conditions": [condition("Available", "True")]});
        self.set_status("hostedcluster", &self.cluster, &status);
    }

    /// A config of a pool: both Secrets, annotation and conditions; Secrets of earlier configs are retired.
    pub fn publish(&self, pool: &str, config: &Config<'_>) {
        self.retire(pool, config.hash);
        self.write_token(pool, config);
        self.write_pointer(pool, config);
        let annotation = format!("{PREFIX}/nodePoolCurrentConfigVersion={}", config.hash);
        succeed(self.kubectl().args(["annotate", "--overwrite", "nodepool", pool, &annotation]));
        let conditions: Vec<Value> = ["ValidReleaseImage", "ValidMachineConfig", "ValidGeneratedPayload"]
            .map(|kind| condition(kind, "True"))
            .into_iter()
            .chain(["AllMachinesReady", "AllNodesHealthy"].map(|kind| condition(kind, "False")))
            .collect();
        self.set_status("nodepool", pool, &json!({"conditions": conditions}));
    }

    /// Another token: the one before stays good, and the pointer carries the new one.
    pub fn rotate(&self, pool: &str, config: &Config<'_>, old: &str) {
        self.write_token(pool, config);
        let patch = json!({"stringData": {"old_token": old}}).to_string();
        let name = format!("token-{pool}-{}", config.hash);
        succeed(self.kubectl_in(&self.control_plane()).args([
            "patch",
            "secret",
            &name,
            "--type=merge",
            "-p",
            &patch,
        ]));
        self.write_pointer(pool, config);
    }

    /// `kubectl` in the HostedCluster's namespace.
    pub fn kubectl(&self) -> Command {
        self.kubectl_in(&self.namespace)
    }

    /// `kubectl` in a namespace.
    pub fn kubectl_in(&self, namespace: &str) -> Command {
        let mut command = Command::new(&self.kubectl[0]);
        command.args(&self.kubectl[1..]).args(["-n", namespace]);
        command
    }

    /// Applies an object.
    pub fn apply(&self, object: &Value) {
        let mut command = Command::new(&self.kubectl[0]);
        command.args(&self.kubectl[1..]).args(["apply", "--server-side", "--force-conflicts", "-f", "-"]);
        feed(&mut command, &object.to_string());
    }

    /// Writes the status of an object.
    pub fn set_status(&self, kind: &str, name: &str, status: &Value) {
        let patch = json!({"status": status}).to_string();
        succeed(self.kubectl().args([
            "patch",
            kind,
            name,
            "--subresource=status",
            "--type=merge",
            "-p",
            &patch,
        ]));
    }

    /// As the operator does: the pointer goes at once, the token in two hours.
    fn retire(&self, pool: &str, current: &str) {
        let namespace = self.control_plane();
        let (_, names) = run(self.kubectl_in(&namespace).args(["get", "secrets", "-o", "name"]));
        for name in names.lines().filter_map(|line| line.strip_prefix("secret/")) {
            if name.starts_with(&format!("user-data-{pool}-")) && !name.ends_with(current) {
                succeed(self.kubectl_in(&namespace).args(["delete", "secret", name]));
            }
            if name.starts_with(&format!("token-{pool}-")) && !name.ends_with(current) {
                let expires =
                    succeed(Command::new("date").args(["-u", "-d", "+2 hours", "+%Y-%m-%dT%H:%M:%SZ"]));
                let annotation = format!("{PREFIX}/ignition-token-expiration-timestamp={}", expires.trim());
                succeed(self.kubectl_in(&namespace).args([
                    "annotate",
                    "--overwrite",
                    "secret",
                    name,
                    &annotation,
                ]));
            }
        }
    }

    fn write_token(&self, pool: &str, config: &Config<'_>) {
        let drawn = succeed(Command::new("date").args(["-u", "+%Y-%m-%dT%H:%M:%S.%NZ"]));
        self.apply(&json!({"apiVersion": "v1", "kind": "Secret", "immutable": false,
            "metadata": {"name": format!("token-{pool}-{}", config.hash), "namespace": self.control_plane(), "annotations": {
                format!("{PREFIX}/ignition-config"): "true",
                format!("{PREFIX}/nodePool"): format!("{}/{pool}", self.namespace),
                format!("{PREFIX}/node-pool-upgrade-type"): config.upgrade_type,
                format!("{PREFIX}/last-token-generation-time"): drawn.trim()}},
            "stringData": {"token": config.token, "payload": config.payload, "reason": "AsExpected",
                "message": "Payload generated successfully", "release-version": "4.18.1"}}));
    }

    fn write_pointer(&self, pool: &str, config: &Config<'_>) {
        let pointer = json!({"ignition": {"config": {"merge": [{"source": format!("https://{}/ignition", config.endpoint), "httpHeaders": [
            {"name": "Authorization", "value": format!("Bearer {}", config.bearer)},
            {"name": "NodePool", "value": format!("{}/{pool}", self.namespace)},
            {"name": "TargetConfigVersionHash", "value": config.hash}]}]},
            "security": {"tls": {"certificateAuthorities": [{"source": format!("data:text/plain;base64,{}", config.authority)}]}},
            "version": "3.2.0"}});
        self.apply(&json!({"apiVersion": "v1", "kind": "Secret", "immutable": false,
            "metadata": {"name": format!("user-data-{pool}-{}", config.hash), "namespace": self.control_plane(), "annotations": {
                format!("{PREFIX}/nodePool"): format!("{}/{pool}", self.namespace)}},
            "stringData": {"value": pointer.to_string(), "disableTemplating": "dHJ1ZQ=="}}));
    }
}

/// A config of a pool.
#[derive(Clone, Copy, Debug)]
pub struct Config<'c> {
    /// Eight digits.
    pub hash: &'c str,
    /// As in the Secret.
    pub token: &'c str,
    /// The same in base64.
    pub bearer: &'c str,
    /// base64 of gzip of an Ignition config.
    pub payload: &'c str,
    /// `InPlace` or `Replace`.
    pub upgrade_type: &'c str,
    /// Host and port of the ignition server.
    pub endpoint: &'c str,
    /// PEM in base64.
    pub authority: &'c str,
}

fn condition(kind: &str, status: &str) -> Value {
    json!({"type": kind, "status": status, "reason": "AsExpected", "message": "as the stand-in says",
        "lastTransitionTime": "2026-01-01T00:00:00Z", "observedGeneration": 1})
}
