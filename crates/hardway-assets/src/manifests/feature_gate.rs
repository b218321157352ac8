//! `openshift/99_feature-gate.yaml`: FeatureGate, with its status.
//!
//! openshift-install leaves the status to a render step on the bootstrap host. Here it is filled in from the release:
//! operators and the machine-config-operator's render wait for the entry of their own version and stop without it.

use serde::Serialize;
use serde_json::{Value, json};

use super::manifest::{Manifest, config_object, fields};
use crate::graph::{Inputs, MakeError, Source};
use crate::install_config::InstallConfig;
use crate::release_payload::{FeatureGates, ReleasePayload};

/// The feature set that names its gates one by one.
pub(super) const CUSTOM: &str = "CustomNoUpgrade";

/// Which features are on, always written, for the default set too.
pub(super) fn feature_gate() -> Manifest {
    let mut sources = fields(["featureGates", "featureSet"]);
    sources.extend([Source::release("feature-gates"), Source::release("version")]);
    Manifest::new("feature-gate", "openshift/99_feature-gate.yaml", sources, build)
}

/// `spec.customNoUpgrade`, from `Name=true` and `Name=false`.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct CustomGates {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    disabled: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    enabled: Vec<String>,
}

impl CustomGates {
    /// Sorts the gates of install-config by what is wanted of them. Its check has seen to the form.
    pub(super) fn of(config: &InstallConfig) -> Self {
        let mut gates = Self::default();
        for (name, wanted) in config.feature_gates.iter().filter_map(|gate| gate.split_once('=')) {
            // All that Go's strconv.ParseBool takes for true.
            let is_on = ["1", "t", "T", "true", "TRUE", "True"].contains(&wanted);
            if is_on { &mut gates.enabled } else { &mut gates.disabled }.push(name.to_owned());
        }
        gates
    }
}

fn build(inputs: &Inputs<'_>) -> Result<Value, MakeError> {
    let config = &inputs.cluster.config;
    let mut object = config_object("FeatureGate", &json!({}));
    let gates = if config.feature_set == CUSTOM {
        let custom = CustomGates::of(config);
        let gates = merge(gates_of(inputs.release, "")?, &custom)?;
        if !config.feature_gates.is_empty() {
            object["spec"]["customNoUpgrade"] = json!(custom);
        }
        gates
    } else {
        // As the render step marks it, except for the custom set (API `payload-command/render/render.go`).
        object["metadata"]["annotations"] =
            json!({"include.release.openshift.io/self-managed-high-availability": "true"});
        gates_of(inputs.release, &config.feature_set)?.clone()
    };
    if !config.feature_set.is_empty() {
        object["spec"]["featureSet"] = config.feature_set.clone().into();
    }
    object["status"] = json!({"featureGates": [{
        "disabled": named(&gates.disabled),
        "enabled": named(&gates.enabled),
        "version": inputs.release.version,
    }]});
    Ok(object)
}

fn gates_of<'a>(release: &'a ReleasePayload, feature_set: &str) -> Result<&'a FeatureGates, MakeError> {
    release.feature_gates.get(feature_set).ok_or_else(|| {
        let name = if feature_set.is_empty() { "Default" } else { feature_set };
        MakeError::Release(format!(
            "release {} does not say which gates are in feature set {name}",
            release.version
        ))
    })
}

/// The default set, with the custom wishes on top.
fn merge(default: &FeatureGates, custom: &CustomGates) -> Result<FeatureGates, MakeError> {
    if let Some(both) = custom.enabled.iter().find(|name| custom.disabled.contains(name)) {
        return Err(MakeError::BadFile {
            path: "install-config.yaml".to_owned(),
            reason: format!("featureGates: trying to enable and disable {both:?}"),
            offset: None,
        });
    }
    Ok(FeatureGates {
        enabled: overlay(&default.enabled, &custom.enabled, &custom.disabled),
        disabled: overlay(&default.disabled, &custom.disabled, &custom.enabled),
    })
}

fn overlay(names: &[String], add: &[String], take: &[String]) -> Vec<String> {
    let mut all: Vec<String> = names.iter().filter(|name| !take.contains(name)).chain(add).cloned().collect();
    all.sort();
    all.dedup();
    all
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
        let gate = with("CustomNoUpgrade", &["Solid=false", "New=true", "Fresh=1"]).object(PATH);
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
        assert_eq!(error, "release 4.18.1 does not say which gates are in feature set DevPreviewNoUpgrade");
    }
}
