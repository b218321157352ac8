//! A working folder that has nothing but a kubeconfig, as after openshift-install, and what is played in its cluster.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};

use fs_err as fs;
use hardway_assets::release_payload::sample;
use hardway_testing::{ControlPlane, run, succeed};
use serde_json::{Value, json};

pub(crate) struct Folder {
    dir: tempfile::TempDir,
}

/// What a run left behind.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}\n{}", self.stdout, self.stderr))
    }
}

/// A run that has not ended.
pub(crate) struct Started {
    child: Child,
}

impl Started {
    /// Sends it a signal, and waits for its end.
    pub(crate) fn signal(self, signal: &str) -> Ran {
        succeed(Command::new("kill").args([&format!("-{signal}"), &self.child.id().to_string()]));
        let output = self.child.wait_with_output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Ran { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

impl Folder {
    pub(crate) fn empty() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn new(plane: &ControlPlane) -> Self {
        let folder = Self::empty();
        folder.write("auth/kubeconfig", &fs::read_to_string(plane.kubeconfig()).unwrap());
        folder
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn path(&self, name: &str) -> std::path::PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.dir.path().join(name)).unwrap()
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hardway"));
        command
            .args(args)
            .arg("--dir")
            .arg(self.dir.path())
            .env_remove("KUBECONFIG")
            .env_remove("HARDWAY_NOW");
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        let output = self.command(args).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Ran { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// Sends the signal of Ctrl-C once the program has said something.
    pub(crate) fn interrupt_after(&self, args: &[&str], said: &str) -> Ran {
        let mut child = self.command(args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut reader = BufReader::new(child.stderr.take().unwrap());
        let mut stderr = String::new();
        while !stderr.contains(said) {
            assert!(reader.read_line(&mut stderr).unwrap() > 0, "it ended: {stderr}");
        }
        succeed(Command::new("kill").args(["-INT", &child.id().to_string()]));
        reader.read_to_string(&mut stderr).unwrap();
        Ran { code: child.wait().unwrap().code(), stdout: String::new(), stderr }
    }

    /// Begins, for a signal to end it.
    pub(crate) fn start(&self, args: &[&str]) -> Started {
        let child = self.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        Started { child }
    }

    pub(crate) fn create_crds(&self, plane: &ControlPlane) {
        let names = ["clusteroperators.config.", "clusterversions.config."];
        let crds: Vec<String> = sample().crds.into_iter().map(|crd| crd.text).collect();
        for name in names {
            let crd = crds.iter().find(|text| text.contains(&format!("name: {name}"))).unwrap();
            self.write("crd.yaml", crd);
            succeed(plane.kubectl().args(["create", "-f"]).arg(self.dir.path().join("crd.yaml")));
            let waited = format!("crd/{name}openshift.io");
            succeed(plane.kubectl().args(["wait", "--for=condition=Established", "--timeout=120s", &waited]));
        }
    }

    pub(crate) fn version(&self, plane: &ControlPlane, available: &str, progressing: &str, message: &str) {
        let conditions = [("Available", available), ("Progressing", progressing), ("Failing", "False")];
        self.play(plane, "ClusterVersion", "version", &conditions, message);
    }

    pub(crate) fn operator(&self, plane: &ControlPlane, name: &str, available: &str, progressing: &str) {
        let conditions = [("Available", available), ("Progressing", progressing), ("Degraded", "False")];
        self.play(plane, "ClusterOperator", name, &conditions, "as played");
    }

    fn play(&self, plane: &ControlPlane, kind: &str, name: &str, conditions: &[(&str, &str)], message: &str) {
        let object = json!({"apiVersion": "config.openshift.io/v1", "kind": kind, "metadata": {"name": name},
            "spec": if kind == "ClusterVersion" { json!({"clusterID": "11111111-2222-4333-8444-555555555555"}) } else { json!({}) }});
        self.write("object.json", &object.to_string());
        // It may be there from an earlier step.
        run(plane.kubectl().args(["create", "-f"]).arg(self.dir.path().join("object.json")));
        let conditions: Vec<Value> = conditions
            .iter()
            .map(|(kind, status)| json!({"type": kind, "status": status, "reason": "Played", "message": message, "lastTransitionTime": "2026-11-15T00:00:00Z"}))
            .collect();
        let patch = json!({"status": {"conditions": conditions}}).to_string();
        let kind = kind.to_lowercase();
        succeed(plane.kubectl().args([
            "patch",
            &kind,
            name,
            "--subresource=status",
            "--type=merge",
            "--patch",
            &patch,
        ]));
    }
}
