//! A folder that looks like a bootstrap host to the scripts.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use hardway_assets::ignition::bootstrap_files::{ENVIRONMENT, in_place_scripts, scripts};
use serde_json::Value;

/// Removed with everything in it when dropped.
pub(crate) struct Host {
    root: PathBuf,
}

impl Host {
    /// All scripts in `usr/local/bin`, and a `bootstrap.env` that says: one master, nothing served.
    pub(crate) fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("hardway-host-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let host = Self { root: std::env::temp_dir().join(name) };
        for file in scripts().iter().chain(&in_place_scripts()) {
            host.write(&file.path[1..], file.text);
            host.chmod(&file.path[1..], file.mode);
        }
        host.set(&[]);
        host
    }

    /// A path below the host's root.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// Is there such a file or folder?
    pub(crate) fn has(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    /// Writes a file and the folders above it.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::DirBuilder::new().recursive(true).create(path.parent().unwrap()).unwrap();
        File::create(&path).unwrap().write_all(text.as_bytes()).unwrap();
    }

    /// Writes a program.
    pub(crate) fn program(&self, path: &str, text: &str) {
        self.write(path, text);
        self.chmod(path, 0o755);
    }

    /// Reads a file.
    pub(crate) fn read(&self, path: &str) -> String {
        let mut text = String::new();
        File::open(self.path(path))
            .unwrap_or_else(|e| panic!("{path}: {e}"))
            .read_to_string(&mut text)
            .unwrap();
        text
    }

    /// Reads a JSON file.
    pub(crate) fn json(&self, path: &str) -> Value {
        serde_json::from_str(&self.read(path)).unwrap()
    }

    /// Writes `bootstrap.env` with all keys; these values, and harmless ones for the rest.
    pub(crate) fn set(&self, values: &[(&str, &str)]) {
        let value = |key: &str| {
            let given = values.iter().find(|(k, _)| *k == key).map(|(_, v)| *v);
            given.unwrap_or(match key {
                "HIGHLY_AVAILABLE" | "IN_PLACE" | "IPV6_PRIMARY" | "SERVE_MACHINE_CONFIGS" => "false",
                "RELEASE_VERSION" => "4.18.1",
                _ => "",
            })
        };
        let lines: Vec<String> = ENVIRONMENT.iter().map(|key| format!("{key}='{}'\n", value(key))).collect();
        self.write("opt/openshift/bootstrap.env", &lines.concat());
    }

    /// A command that runs one of the scripts against this host, with its own `bin` first in the path.
    pub(crate) fn script(&self, name: &str) -> Command {
        let mut command = Command::new(self.path("usr/local/bin").join(name));
        let path = std::env::var("PATH").unwrap();
        command
            .env("PATH", format!("{}:{path}", self.path("bin").display()))
            .env("OPENSHIFT_DIR", self.path("opt/openshift"))
            .env("HOST_ETC", self.path("etc"))
            .env("KUBERNETES_DIR", self.path("etc/kubernetes"))
            .env("SERVICE_RECORDS_DIR", self.path("records"))
            .env("GATHERED_CLUSTER", self.path("gathered"))
            .env("EARLIER_BUNDLE", self.path("no-earlier-bundle"))
            .env("GATHER_UNPRIVILEGED", "yes")
            .env("POLL_SECONDS", "0.2")
            .env("LOAD_BALANCER_SECONDS", "0")
            .current_dir(&self.root);
        command
    }

    /// A program for `oc` that warns whenever it is called, as podman may before it runs oc in a container.
    pub(crate) fn warning_oc(&self, oc: &Path) -> PathBuf {
        let text = format!("#!/bin/bash\necho 'WARN: no such cgroup' >&2\nexec {} \"$@\"\n", oc.display());
        self.program("bin/warning-oc", &text);
        self.path("bin/warning-oc")
    }

    fn chmod(&self, path: &str, mode: u32) {
        fs::set_permissions(self.path(path), fs::Permissions::from_mode(mode)).unwrap();
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}
