//! A real API server with the namespace of a hosted control plane, and the user that the deployment's service account
//! stands for.

use std::path::PathBuf;

use hardway_testing::{ControlPlane, run, succeed};
use serde_json::{Value, json};

pub(crate) const NAMESPACE: &str = "clusters-demo";

pub(crate) struct ApiServer {
    plane: ControlPlane,
    server: PathBuf,
}

impl ApiServer {
    pub(crate) fn start() -> Self {
        let plane = ControlPlane::start();
        succeed(plane.kubectl().args(["create", "namespace", NAMESPACE]));
        let account = format!("system:serviceaccount:{NAMESPACE}:hardway-ignition-server");
        let groups = ["system:serviceaccounts", &format!("system:serviceaccounts:{NAMESPACE}")];
        let server = plane.identity("server", &account, &groups).kubeconfig().to_owned();
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

    /// Whether the server may.
    pub(crate) fn server_may(&self, verb: &str, what: &str, namespace: &str) -> bool {
        let question = ["auth", "can-i", verb, what, "-n", namespace, "--quiet"];
        run(self.plane.kubectl_with(&self.server).args(question)).0
    }

    pub(crate) fn apply(&self, object: &Value) {
        self.plane.apply(object);
    }
}
