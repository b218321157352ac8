//! A working folder that has nothing but a kubeconfig, as after openshift-install, and what is played in its cluster.

use std::ops::Deref;

use hardway_assets::release_payload::sample;
use hardway_testing::{ControlPlane, Ran, Work, run, succeed};
use serde_json::{Value, json};

use crate::work;

pub(crate) struct Folder(Work);

impl Deref for Folder {
    type Target = Work;

    fn deref(&self) -> &Work {
        &self.0
    }
}

impl Folder {
    pub(crate) fn empty() -> Self {
        Self(work::empty().with_real_clock().from_outside())
    }

    pub(crate) fn new(plane: &ControlPlane) -> Self {
        let folder = Self::empty();
        folder.write("auth/kubeconfig", plane.read("kubeconfig"));
        folder
    }

    /// Sends the signal of Ctrl-C once the program has said something.
    pub(crate) fn interrupt_after(&self, args: &[&str], said: &str) -> Ran {
        let mut run = self.start(args);
        run.until_said(said);
        run.signal("INT");
        run.end()
    }

    pub(crate) fn create_crds(&self, plane: &ControlPlane) {
        let names = ["clusteroperators.config.", "clusterversions.config."];
        let crds: Vec<String> = sample().crds.into_iter().map(|crd| crd.text).collect();
        for name in names {
            let crd = crds.iter().find(|text| text.contains(&format!("name: {name}"))).unwrap();
            self.write("crd.yaml", crd);
            succeed(plane.kubectl().args(["create", "-f"]).arg(self.path("crd.yaml")));
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
        self.write("object.json", object.to_string());
        // It may be there from an earlier step.
        run(plane.kubectl().args(["create", "-f"]).arg(self.path("object.json")));
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
