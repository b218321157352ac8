//! `manifests/cluster-pki-02-config.yaml`: PKI.

use serde_json::json;

use crate::feature_gates;
use crate::install_config::InstallConfig;
use crate::object_file::ObjectFile;
use crate::release_payload::{ReleasePayload, VersionContract};

/// The gate it stands behind.
const GATE: &str = "ConfigurablePKI";

/// With which keys operators sign what they renew: their own choice. `None` where they have no other (installer
/// `manifests/pki.go`). What hardway signs itself is settled in the inventory.
pub(super) fn pki_config(config: &InstallConfig, release: &ReleasePayload) -> Option<ObjectFile> {
    if !release.promises(VersionContract::writes_pki_config) || !feature_gates::is_on(config, release, GATE) {
        return None;
    }
    let path = "manifests/cluster-pki-02-config.yaml";
    Some(ObjectFile::new("pki-config", path, feature_gates::sources(), |_| {
        Ok(json!({
            "apiVersion": "config.openshift.io/v1alpha1",
            "kind": "PKI",
            "metadata": {"name": "cluster"},
            "spec": {"certificateManagement": {"mode": "Default"}},
        }))
    }))
}

#[cfg(test)]
mod tests {
    use super::super::testing::World;
    use super::GATE;

    #[test]
    fn there_is_one_where_the_gate_is_on_from_4_23() {
        const PATH: &str = "manifests/cluster-pki-02-config.yaml";
        for (version, gates, there) in
            [("4.23.0", "=true", true), ("4.23.0", "=false", false), ("4.22.1", "=true", false)]
        {
            let mut world = World::of_version(version);
            world.cluster.config.feature_set = "CustomNoUpgrade".to_owned();
            world.cluster.config.feature_gates = vec![format!("{GATE}{gates}")];
            assert_eq!(world.paths().contains(&PATH.to_owned()), there, "{version} {gates}");
            if there {
                assert_eq!(world.object(PATH)["spec"]["certificateManagement"]["mode"], "Default");
            }
        }
    }
}
