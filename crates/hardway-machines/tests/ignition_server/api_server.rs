//! A real API server with the namespace of a hosted control plane, and the user that the deployment's service account
//! stands for.

use std::path::PathBuf;

use hardway_testing::{ControlPlane, succeed};
use serde_json::{Value, json};

pub(crate) const NAMESPACE: &str = "clusters-demo";

pub(crate) struct ApiServer {
    plane: ControlPlane,
    server: PathBuf,
}

impl ApiServer {
    pub(crate) fn start() -> Self {
        let mut plane = ControlPlane::start();
        plane.write_down_what_accounts_ask();
        succeed(plane.kubectl().args(["create", "namespace", NAMESPACE]));
        let account = format!("system:serviceaccount:{NAMESPACE}:hardway-ignition-server");
        let groups = ["system:serviceaccounts", &format!("system:serviceaccounts:{NAMESPACE}")];
        let server = plane.identity("ignition-server", &account, &groups).kubeconfig().to_owned();
        // As that of a pod: the namespace is the one it is in.
        let mut config: Value = serde_json::from_slice(&std::fs::read(&server).unwrap()).unwrap();
        config["contexts"][0]["context"]["namespace"] = json!(NAMESPACE);
        std::fs::write(&server, config.to_string()).unwrap();
        Self { plane, server }
    }

    /// Of the server.
    pub(crate) fn kubeconfig(&self) -> PathBuf {
        self.server.clone()
    }

    /// As administrator, in the namespace; must succeed.
    pub(crate) fn kubectl(&self, args: &[&str]) -> String {
        succeed(self.plane.kubectl().args(["--namespace", NAMESPACE]).args(args))
    }

    /// As administrator: an object of the namespace.
    pub(crate) fn get(&self, kind: &str, name: &str) -> Value {
        self.plane.get(&["--namespace", NAMESPACE, kind, name])
    }

    /// What the server did so far is what it may.
    pub(crate) fn has_exactly_the_rights_it_used(&self) {
        let namespaces = [NAMESPACE, "default", "kube-system"];
        self.plane.has_exactly_the_rights_it_used(NAMESPACE, "hardway-ignition-server", &namespaces);
    }

    pub(crate) fn apply(&self, object: &Value) {
        self.plane.apply(object);
    }
}
