//! The parts that all static pods are built from.

use serde_json::{Value, json};

use crate::graph::{Asset, Inputs, MakeError, Output, Source};
use crate::{Phase, yaml};

/// A file of `static-pods/` as a row: the asset is the same for all, only the content differs.
pub(crate) struct StaticPodFile {
    /// The name of the asset and of the file, without `.yaml`.
    pub(crate) name: &'static str,
    /// Everything `build` reads.
    pub(crate) sources: fn() -> Vec<Source>,
    pub(crate) build: fn(&Inputs<'_>) -> Result<Value, MakeError>,
}

impl Asset for StaticPodFile {
    fn id(&self) -> String {
        self.name.to_owned()
    }

    fn phase(&self) -> Phase {
        Phase::MakeManifests
    }

    fn sources(&self) -> Vec<Source> {
        (self.sources)()
    }

    fn outputs(&self) -> Vec<Output> {
        vec![Output::public(format!("static-pods/{}.yaml", self.name))]
    }

    fn make(&self, inputs: &Inputs<'_>) -> Result<Vec<Vec<u8>>, MakeError> {
        Ok(vec![yaml::write(&(self.build)(inputs)?).into_bytes()])
    }
}

/// A folder or file of the host inside a container.
pub(crate) struct Mount {
    pub(crate) name: &'static str,
    pub(crate) host: &'static str,
    pub(crate) container: &'static str,
    pub(crate) access: Access,
}

/// What a container may do with what is mounted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    /// One file. The pod waits for it: a runtime would put an empty folder in its place.
    ReadFile,
    /// And the kubelet makes the folder when the host has none.
    Write,
}

/// Keys and certificates of the bootstrap control plane.
pub(crate) const SECRETS: Mount = Mount {
    name: "secrets",
    host: "/etc/kubernetes/bootstrap-secrets",
    container: "/etc/kubernetes/secrets",
    access: Access::Read,
};

/// Configuration files of the bootstrap control plane.
pub(crate) const CONFIGS: Mount = Mount {
    name: "config",
    host: "/etc/kubernetes/bootstrap-configs",
    container: "/etc/kubernetes/config",
    access: Access::Read,
};

/// The host's trust in public certificate authorities.
pub(crate) const SSL_CERTS: Mount = Mount {
    name: "ssl-certs-host",
    host: "/etc/ssl/certs",
    container: "/etc/ssl/certs",
    access: Access::Read,
};

/// Where components may leave logs that `gather` picks up.
pub(crate) const LOGS: Mount = Mount {
    name: "logs",
    host: "/var/log/bootstrap-control-plane",
    container: "/var/log/bootstrap-control-plane",
    access: Access::Write,
};

/// A container's `volumeMounts`.
pub(crate) fn mounts(mounts: &[&Mount]) -> Value {
    mounts
        .iter()
        .map(|mount| match mount.access {
            Access::Write => json!({"mountPath": mount.container, "name": mount.name}),
            Access::Read | Access::ReadFile => {
                json!({"mountPath": mount.container, "name": mount.name, "readOnly": true})
            }
        })
        .collect()
}

/// The pod's `volumes`.
pub(crate) fn volumes(mounts: &[&Mount]) -> Value {
    mounts
        .iter()
        .map(|mount| {
            let path = match mount.access {
                Access::Read => json!({"path": mount.host}),
                Access::ReadFile => json!({"path": mount.host, "type": "File"}),
                Access::Write => json!({"path": mount.host, "type": "DirectoryOrCreate"}),
            };
            json!({"name": mount.name, "hostPath": path})
        })
        .collect()
}

/// A container's `resources`.
pub(crate) fn requests(memory: &str, cpu: &str) -> Value {
    json!({"requests": {"memory": memory, "cpu": cpu}})
}

/// What a pod is called and where it is shown.
pub(crate) struct Pod {
    pub(crate) name: String,
    pub(crate) namespace: &'static str,
    pub(crate) labels: Value,
    pub(crate) annotations: Value,
}

impl Pod {
    /// The object, with what every pod of the control plane has: the host's network, and a restart whenever it ends.
    pub(crate) fn object(self, mut spec: Value) -> Value {
        spec["hostNetwork"] = true.into();
        spec["restartPolicy"] = "Always".into();
        let mut metadata = json!({"name": self.name, "namespace": self.namespace, "labels": self.labels});
        if self.annotations.as_object().is_some_and(|annotations| !annotations.is_empty()) {
            metadata["annotations"] = self.annotations;
        }
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
    }
}
