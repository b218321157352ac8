//! `openshift/99_feature-gate.yaml`: FeatureGate, with its status.
//!
//! openshift-install leaves the status to a render step on the bootstrap host. Here it is filled in from the release:
//! operators and the machine-config-operator's render wait for the entry of their own version and stop without it.

use serde_json::{Value, json};

use super::config_objects::config_object;
use crate::feature_gates::{self, CustomGates};
use crate::graph::{Facet, Inputs, MakeError, Source};
use crate::object_file::ObjectFile;

/// Which features are on, always written, for the default set too.
pub(super) fn feature_gate() -> ObjectFile {
    let mut sources = feature_gates::sources().to_vec();
    sources.push(Source::Release(Facet::Version));
    ObjectFile::new("feature-gate", "openshift/99_feature-gate.yaml", sources, build)
}

fn build(inputs: &Inputs<'_>) -> Result<Value, MakeError> {
    let config = &inputs.cluster.config;
    let mut object = config_object("FeatureGate", &json!({}));
    match CustomGates::of(config) {
        Some(custom) if custom.is_empty() => {}
        Some(custom) => object["spec"]["customNoUpgrade"] = json!(custom),
        // As the render step marks it, except for the custom set (API `payload-command/render/render.go`).
        None => {
            object["metadata"]["annotations"] =
                json!({"include.release.openshift.io/self-managed-high-availability": "true"});
        }
    }
    if !config.feature_set.is_empty() {
        object["spec"]["featureSet"] = config.feature_set.clone().into();
    }
    let gates = feature_gates::of(config, inputs.release)?;
    object["status"] = json!({"featureGates": [{
        "disabled": named(&gates.disabled),
        "enabled": named(&gates.enabled),
        "version": inputs.release.version,
    }]});
    Ok(object)
}

fn named(gates: &[String]) -> Vec<Value> {
    gates.iter().map(|name| json!({"name": name})).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::World;
    use crate::graph::Asset as _;
    use serde_json::json;

    const PATH: &str = "openshift/99_feature-gate.yaml";

    fn with(feature_set: &str, gates: &[&str]) -> World {
        let mut world = World::new();
        world.cluster.config.feature_set = feature_set.to_owned();
        world.cluster.config.feature_gates = gates.iter().map(|gate| (*gate).to_owned()).collect();
        world
    }

    fn error(world: &World) -> String {
        super::feature_gate().make(&world.inputs()).unwrap_err().to_string()
    }

    #[test]
    fn the_status_is_that_of_the_release() {
        let gate = with("", &[]).object(PATH);
        assert_eq!(gate["spec"], json!({}));
        assert_eq!(
            gate["status"]["featureGates"],
            json!([{"version": "4.18.1", "enabled": [{"name": "Solid"}], "disabled": [{"name": "Fresh"}]}])
        );
    }

    #[test]
    fn another_set_has_its_own_gates() {
        let gate = with("TechPreviewNoUpgrade", &[]).object(PATH);
        assert_eq!(gate["spec"], json!({"featureSet": "TechPreviewNoUpgrade"}));
        let details = &gate["status"]["featureGates"][0];
        assert_eq!(details["enabled"], json!([{"name": "Fresh"}, {"name": "Solid"}]));
        assert_eq!(details["disabled"], json!([]));
    }

    #[test]
    fn custom_gates_go_on_top_of_the_default_set() {
        let gate = with("CustomNoUpgrade", &["Solid=false", "New=true", "Fresh=T"]).object(PATH);
        assert_eq!(
            gate["spec"],
            json!({
                "featureSet": "CustomNoUpgrade",
                "customNoUpgrade": {"enabled": ["New", "Fresh"], "disabled": ["Solid"]},
            })
        );
        let details = &gate["status"]["featureGates"][0];
        assert_eq!(details["enabled"], json!([{"name": "Fresh"}, {"name": "New"}]));
        assert_eq!(details["disabled"], json!([{"name": "Solid"}]));
        assert_eq!(gate["metadata"].get("annotations"), None);
    }

    #[test]
    fn on_and_off_at_once_is_refused() {
        let error = error(&with("CustomNoUpgrade", &["A=true", "A=false"]));
        assert!(error.ends_with("trying to enable and disable \"A\""), "{error}");
    }

    #[test]
    fn a_set_the_release_does_not_list_is_refused() {
        let error = error(&with("DevPreviewNoUpgrade", &[]));
        assert_eq!(error, "release 4.18.1 does not list the gates of feature set DevPreviewNoUpgrade");
    }
}
