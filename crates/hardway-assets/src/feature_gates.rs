//! Which feature gates a cluster runs with: what install-config asks for, on top of what its release brings.
//!
//! What `Name=T` means is read in one place, with the rules of install-config: the FeatureGate object, `metadata.json` and the static pods
//! must agree with them.

use serde::Serialize;

use crate::graph::{Facet, MakeError, Source};
use crate::install_config::{CUSTOM_FEATURE_SET, InstallConfig, parse_gate};
use crate::release_payload::{FeatureGates, InclusionRules, ReleaseManifest, ReleasePayload};

/// The gate of releases with several operating systems.
pub const OS_STREAMS: &str = "OSStreams";

/// `spec.customNoUpgrade` of a FeatureGate: the gates of install-config, sorted into enabled and disabled.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CustomGates {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    disabled: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    enabled: Vec<String>,
}

impl CustomGates {
    /// The wishes of an install-config; nothing unless its feature set is [`CUSTOM_FEATURE_SET`]. The rules have seen to the form.
    pub fn of(config: &InstallConfig) -> Option<Self> {
        if config.feature_set != CUSTOM_FEATURE_SET {
            return None;
        }
        let mut gates = Self::default();
        for (name, wanted) in config.feature_gates.iter().filter_map(|entry| parse_gate(entry).ok()) {
            if wanted { &mut gates.enabled } else { &mut gates.disabled }.push(name.to_owned());
        }
        Some(gates)
    }

    /// Whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        self.enabled.is_empty() && self.disabled.is_empty()
    }
}

/// The gates of the cluster: those of its feature set. [`CUSTOM_FEATURE_SET`] is the default set with the wishes on top
/// (openshift/api `payload-command/render/render.go`).
pub fn of(config: &InstallConfig, release: &ReleasePayload) -> Result<FeatureGates, MakeError> {
    match CustomGates::of(config) {
        Some(custom) => overlay(of_set(release, "")?, &custom),
        None => of_set(release, &config.feature_set).cloned(),
    }
}

impl InclusionRules {
    /// The rules of a self-managed cluster of this release with the gates that an install-config asks for on top of those of its feature set.
    pub fn of_config(payload: &ReleasePayload, config: &InstallConfig) -> Self {
        match of(config, payload) {
            Ok(gates) => Self::for_version(&payload.version, &config.feature_set, Some(&gates)),
            Err(_) => Self::of(payload, &config.feature_set),
        }
    }
}

impl ReleasePayload {
    /// The CRDs for a cluster with this install-config: a gate it turns on by itself may bring one.
    pub fn crds_of(&self, config: &InstallConfig) -> Vec<&ReleaseManifest> {
        self.crds_by(&InclusionRules::of_config(self, config), &config.feature_set)
    }

    /// The image policies for a cluster with this install-config, in file order. The operator's `render` hands
    /// them to the machine-config-operator before there is an API to ask (cluster-version-operator
    /// `pkg/payload/render.go`).
    pub fn image_policies_of(&self, config: &InstallConfig) -> Vec<&ReleaseManifest> {
        let rules = InclusionRules::of_config(self, config);
        let is_for =
            |policy: &&ReleaseManifest| policy.head().is_ok_and(|head| rules.exclusion(&head).is_none());
        self.image_policies.iter().filter(is_for).collect()
    }
}

/// Whether a gate is on in the cluster; no where the release does not say.
pub fn is_on(config: &InstallConfig, release: &ReleasePayload, gate: &str) -> bool {
    of(config, release).is_ok_and(|gates| gates.enabled.iter().any(|name| name == gate))
}

/// What [`of`] reads.
pub fn sources() -> [Source; 3] {
    [Source::config("featureSet"), Source::config("featureGates"), Source::Release(Facet::FeatureGates)]
}

fn of_set<'a>(release: &'a ReleasePayload, feature_set: &str) -> Result<&'a FeatureGates, MakeError> {
    release.feature_gates.get(feature_set).ok_or_else(|| {
        let name = if feature_set.is_empty() { "Default" } else { feature_set };
        MakeError::Release(format!(
            "release {} does not list the gates of feature set {name}",
            release.version
        ))
    })
}

fn overlay(default: &FeatureGates, custom: &CustomGates) -> Result<FeatureGates, MakeError> {
    if let Some(both) = custom.enabled.iter().find(|name| custom.disabled.contains(name)) {
        return Err(MakeError::BadFile {
            path: "install-config.yaml".to_owned(),
            reason: format!("featureGates: trying to enable and disable {both:?}"),
            offset: None,
        });
    }
    Ok(FeatureGates {
        enabled: moved(&default.enabled, &custom.enabled, &custom.disabled),
        disabled: moved(&default.disabled, &custom.disabled, &custom.enabled),
    })
}

fn moved(names: &[String], add: &[String], take: &[String]) -> Vec<String> {
    let mut all: Vec<String> = names.iter().filter(|name| !take.contains(name)).chain(add).cloned().collect();
    all.sort();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{example, release_payload};

    #[test]
    fn wishes_change_sides() {
        let default = FeatureGates { enabled: vec!["B".into()], disabled: vec!["A".into(), "C".into()] };
        let mut config = example::cluster().config;
        config.feature_set = CUSTOM_FEATURE_SET.to_owned();
        config.feature_gates = ["A=T", "B=0", "New=true"].map(str::to_owned).into();
        let mut release = release_payload::sample();
        release.feature_gates.insert(String::new(), default.clone());
        let gates = of(&config, &release).unwrap();
        assert_eq!(gates.enabled, ["A", "New"]);
        assert_eq!(gates.disabled, ["B", "C"]);
        config.feature_set.clear();
        assert_eq!(of(&config, &release).unwrap(), default, "wishes count in the custom set only");
    }
}
