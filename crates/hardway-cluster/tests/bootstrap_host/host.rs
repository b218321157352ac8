//! A folder that looks like a bootstrap host to its scripts, and a stand-in for systemd that starts and stops one of them.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use fs_err as fs;
use hardway_assets::ignition::bootstrap_files::{ENVIRONMENT, scripts};
use hardway_cluster::remote::Remote;
use hardway_testing::{ControlPlane, succeed};
use tempfile::TempDir;

pub(crate) struct Host {
    root: TempDir,
    environment: Vec<(String, String)>,
}

/// Starts bootkube.sh in a process group of its own, unless forbidden, and stops that group.
const SYSTEMCTL: &str = r#"#!/usr/bin/env bash
set -euo pipefail
case $1 in
  start)
    [[ ! -e $ROOT/forbidden ]] || exit 0
    setsid "$ROOT/usr/local/bin/bootkube.sh" </dev/null >>"$ROOT/bootkube.log" 2>&1 &
    echo $! >"$ROOT/bootkube.pid"
    ;;
  stop)
    [[ ! -e $ROOT/bootkube.pid ]] || { kill -9 -- "-$(cat "$ROOT/bootkube.pid")" 2>/dev/null || :; rm -f "$ROOT/bootkube.pid"; }
    ;;
esac
"#;

impl Host {
    pub(crate) fn new(plane: &ControlPlane) -> Self {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name).display().to_string();
        let environment = [
            ("ROOT", path("")),
            ("PATH", format!("{}:{}", path("bin"), std::env::var("PATH").unwrap())),
            ("OPENSHIFT_DIR", path("opt/openshift")),
            ("HOST_ETC", path("etc")),
            ("KUBERNETES_DIR", path("etc/kubernetes")),
            ("SERVICE_RECORDS_DIR", path("records")),
            ("GATHERED_CLUSTER", path("gathered")),
            ("POLL_SECONDS", "0.2".to_owned()),
            ("OC", plane.oc().display().to_string()),
            ("ETCD_HEALTH_URLS", plane.etcd_health_url()),
        ];
        let environment = environment.map(|(key, value)| (key.to_owned(), value)).into();
        let host = Self { root, environment };
        for file in scripts() {
            host.program(&file.path[1..], file.text);
        }
        host.program("bin/systemctl", SYSTEMCTL);
        host.lay_out(plane);
        host
    }

    /// What Ignition writes, as far as bootkube.sh looks at it.
    fn lay_out(&self, plane: &ControlPlane) {
        let kubeconfig = plane.read("kubeconfig");
        for name in ["kubeconfig", "kubeconfig-kubelet", "kubeconfig-loopback"] {
            self.write(&format!("opt/openshift/auth/{name}"), &kubeconfig);
        }
        for pod in super::CONTROL_PLANE_PODS {
            self.write(&format!("opt/openshift/bootstrap-manifests/{pod}"), pod);
        }
        let map = |name: &str| {
            format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: kube-system}}\n")
        };
        for (path, text) in [
            ("etcd-member-pod.yaml", "etcd pod".to_owned()),
            ("original_cvo_overrides.patch", r#"{"spec":{"overrides":null}}"#.to_owned()),
            ("manifests/cvo-overrides.yaml", map("one")),
            ("openshift/99_feature-gate.yaml", map("two")),
            ("operator-seeds/seed.yaml", map("three")),
            ("crds/crd.yaml", map("four")),
            ("tls/etcd-ca-bundle.crt", plane.read("ca.crt")),
            ("tls/etcd-client.crt", plane.read("admin.crt")),
            ("tls/etcd-client.key", plane.read("admin.key")),
        ] {
            self.write(&format!("opt/openshift/{path}"), &text);
        }
        let value = |key: &str| match key {
            "HIGHLY_AVAILABLE" => "true".to_owned(),
            "IN_PLACE" | "IPV6_PRIMARY" | "SERVE_MACHINE_CONFIGS" => "false".to_owned(),
            "RELEASE_VERSION" => "4.18.1".to_owned(),
            "API_URL" | "API_INT_URL" => plane.url(),
            _ => String::new(),
        };
        let lines: String = ENVIRONMENT.iter().map(|key| format!("{key}='{}'\n", value(key))).collect();
        self.write("opt/openshift/bootstrap.env", &lines);
    }

    /// Scripts run here instead of there.
    pub(crate) fn remote(&self) -> Remote {
        Remote {
            command: vec!["bash".to_owned(), "-s".to_owned()],
            environment: self.environment.clone(),
            patience: Duration::from_secs(120),
            host: None,
        }
    }

    pub(crate) fn start(&self) {
        self.systemctl("start");
    }

    pub(crate) fn stop(&self) {
        self.systemctl("stop");
    }

    /// Makes starting do nothing, to look at what a reset leaves.
    pub(crate) fn forbid_start(&self, is_forbidden: bool) {
        match is_forbidden {
            true => self.write("forbidden", ""),
            false => fs::remove_file(self.path("forbidden")).unwrap(),
        }
    }

    pub(crate) fn hide(&self, name: &str) {
        fs::rename(self.path("opt/openshift").join(name), self.path("hidden")).unwrap();
    }

    pub(crate) fn show(&self, name: &str) {
        fs::rename(self.path("hidden"), self.path("opt/openshift").join(name)).unwrap();
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.path("bootkube.log")).unwrap_or_default()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn program(&self, name: &str, text: &str) {
        self.write(name, text);
        fs::set_permissions(self.path(name), std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn systemctl(&self, verb: &str) {
        let environment = self.environment.iter().map(|(key, value)| (key, value));
        succeed(Command::new(self.path("bin/systemctl")).args([verb, "bootkube.service"]).envs(environment));
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.stop();
    }
}
