//! `manifests/cluster-config.yaml`: the ConfigMap kube-system/cluster-config-v1.

use serde_json::{Value, json};

use super::proxy::holds_password;
use crate::graph::{Inputs, MakeError, Source};
use crate::install_config::InstallConfig;
use crate::object_file::ObjectFile;
use crate::yaml;

/// The install-config with all defaults filled in and the pull secret taken out, for operators to read.
pub(super) fn cluster_config(config: &InstallConfig) -> ObjectFile {
    let manifest =
        ObjectFile::new("cluster-config", "manifests/cluster-config.yaml", [Source::config("")], build);
    if holds_password(config) { manifest.secret() } else { manifest }
}

fn build(inputs: &Inputs<'_>) -> Result<Value, MakeError> {
    let config = serde_json::to_value(&inputs.cluster.config)
        .map_err(|error| MakeError::Internal(format!("install-config cannot be written: {error}")))?;
    Ok(json!({
        "apiVersion": "v1",
        "data": {"install-config": yaml::write(&config)},
        "kind": "ConfigMap",
        "metadata": {
            "annotations": {
                "kubernetes.io/description":
                    "What this cluster was installed from. It does not follow later changes: for the present state, \
                     read the configuration resources themselves.",
            },
            "name": "cluster-config-v1",
            "namespace": "kube-system",
        },
    }))
}

#[cfg(test)]
mod tests {
    use super::super::testing::World;
    use crate::yaml;

    #[test]
    fn holds_the_whole_config_but_the_pull_secret() {
        let world = World::new();
        let object = world.object("manifests/cluster-config.yaml");
        let text = object["data"]["install-config"].as_str().unwrap();
        let config = yaml::read(text).unwrap().to_json();
        assert_eq!(config["pullSecret"], "");
        assert_eq!(config["controlPlane"]["replicas"], 3);
        assert_eq!(config["networking"]["machineNetwork"][0]["cidr"], "192.168.126.0/24");
        assert!(!text.contains("dXNlcjpwYXNz"));
    }

    #[test]
    fn says_when_the_node_installs_itself() {
        let object = World::in_place().object("manifests/cluster-config.yaml");
        let config = yaml::read(object["data"]["install-config"].as_str().unwrap()).unwrap();
        assert_eq!(config.to_json()["bootstrapInPlace"]["installationDisk"], "/dev/sda");
    }
}
