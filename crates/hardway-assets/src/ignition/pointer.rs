//! Pointer configs: a few lines that tell a machine where to fetch the rest.

use serde_json::{Value, json};

use super::config::Config;
use crate::graph::{Asset, Inputs, MakeError, Output, Source};
use crate::inventory::Role;
use crate::{Phase, pki, yaml};

/// `master.ign` or `worker.ign`: fetch `/config/<role>` from the machine-config-server, trusting the root CA.
pub struct Pointer(pub Role);

impl Pointer {
    /// Where it lies.
    pub fn path(&self) -> String {
        format!("{}.ign", self.0)
    }
}

impl Asset for Pointer {
    fn id(&self) -> String {
        format!("{}-pointer", self.0)
    }

    fn phase(&self) -> Phase {
        Phase::MakeIgnition
    }

    fn sources(&self) -> Vec<Source> {
        vec![
            Source::config("metadata.name"),
            Source::config("baseDomain"),
            Source::file(pki::path("root-ca")),
        ]
    }

    fn outputs(&self) -> Vec<Output> {
        vec![Output::public(self.path())]
    }

    fn make(&self, inputs: &Inputs<'_>) -> Result<Vec<Vec<u8>>, MakeError> {
        let mut config = Config::default();
        let url = format!("https://{}:22623/config/{}", inputs.cluster.api_int_host(), self.0);
        config.merge_from(&url, inputs.file(&pki::path("root-ca"))?);
        Ok(vec![config.write()])
    }
}

/// `openshift/99_openshift-installer-ignition_<role>.yaml`: what a user added to `master.ign` or `worker.ign`, handed to
/// the machine-config-operator so that it stays in force after the first boot (installer `pkg/asset/ignition/machine`). An
/// asset only when the pointer was edited.
pub struct EditedPointer(pub Role);

impl Asset for EditedPointer {
    fn id(&self) -> String {
        format!("{}-edited-pointer", self.0)
    }

    fn phase(&self) -> Phase {
        Phase::MakeManifests
    }

    fn sources(&self) -> Vec<Source> {
        vec![Source::file(format!("{}.ign", self.0))]
    }

    fn outputs(&self) -> Vec<Output> {
        // Whatever the user put there may be a secret.
        vec![Output::secret(format!("openshift/99_openshift-installer-ignition_{}.yaml", self.0))]
    }

    fn make(&self, inputs: &Inputs<'_>) -> Result<Vec<Vec<u8>>, MakeError> {
        let path = format!("{}.ign", self.0);
        let bad = |reason: String| MakeError::BadFile { path: path.clone(), reason, offset: None };
        let mut config: Value = serde_json::from_slice(inputs.file(&path)?)
            .map_err(|error| bad(format!("line {}, column {}: not JSON", error.line(), error.column())))?;
        if !config["ignition"]["version"].as_str().is_some_and(|version| version.starts_with("3.")) {
            return Err(bad("not an Ignition config of spec 3".to_owned()));
        }
        // Where to fetch the rest from is for the first boot only.
        if let Some(ignition) = config["ignition"].as_object_mut() {
            ignition.remove("config");
        }
        let machine_config = json!({
            "apiVersion": "machineconfiguration.openshift.io/v1",
            "kind": "MachineConfig",
            "metadata": {
                "name": format!("99-installer-ignition-{}", self.0),
                "labels": {"machineconfiguration.openshift.io/role": self.0.name()},
            },
            "spec": {"config": config},
        });
        Ok(vec![yaml::write(&machine_config).into_bytes()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release_payload::sample;
    use crate::secrets::SecretBundle;
    use crate::{Tree, example};

    fn make(text: &str) -> Result<Value, MakeError> {
        let mut tree = Tree::default();
        tree.insert("worker.ign", text);
        let (cluster, release, secrets) = (example::cluster(), sample(), SecretBundle::default());
        let inputs = Inputs { cluster: &cluster, release: &release, secrets: &secrets, tree: &tree };
        let made = EditedPointer(Role::Worker).make(&inputs)?;
        Ok(yaml::read(std::str::from_utf8(&made[0]).unwrap()).unwrap().to_json())
    }

    #[test]
    fn the_addition_is_kept_without_the_pointer() {
        let text = r#"{"ignition":{"version":"3.2.0","config":{"merge":[{"source":"https://x"}]}},"storage":{"files":[{"path":"/etc/a"}]}}"#;
        let made = make(text).unwrap();
        assert_eq!(made["metadata"]["name"], "99-installer-ignition-worker");
        assert_eq!(
            made["spec"]["config"],
            json!({"ignition": {"version": "3.2.0"}, "storage": {"files": [{"path": "/etc/a"}]}})
        );
    }

    #[test]
    fn what_is_not_ignition_is_refused() {
        assert!(make("{").unwrap_err().to_string().contains("worker.ign: line 1"));
        assert!(make("{}").unwrap_err().to_string().contains("not an Ignition config"));
    }
}
