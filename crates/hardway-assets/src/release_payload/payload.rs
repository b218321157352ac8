//! A release as the assets see it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{ComponentImages, VersionContract, VersionError};

/// One release, resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct ReleasePayload {
    /// The release image itself, by digest.
    pub image: String,
    /// Such as `4.18.1`.
    pub version: String,
    /// Go's name of the architecture it was built for, or `multi`.
    pub architecture: String,
    /// True for the embedded made-up release: its digests name nothing.
    pub is_sample: bool,
    /// Components that programs of hardway's own stand in for, as a lab's release says; empty for every other.
    pub stand_ins: Vec<String>,
    /// What is real in it, as a lab's release says; empty for every other.
    pub real: String,
    /// Component images by tag.
    pub images: ComponentImages,
    /// CRDs of all feature sets, byte for byte as in the payload.
    pub crds: Vec<ReleaseManifest>,
    /// Feature gates by feature set; `""` is the default set.
    pub feature_gates: BTreeMap<String, FeatureGates>,
    /// ClusterImagePolicies and ImagePolicies of all feature sets: whose signatures nodes ask for.
    pub image_policies: Vec<ReleaseManifest>,
    /// ConfigMap `coreos-bootimages`: where boot images are, and their sums. No asset reads it; media are made with it.
    pub boot_images: Option<ReleaseManifest>,
    /// MachineConfigs that the machine-config-operator rendered, by pool; empty until render-nodes ran.
    pub rendered: BTreeMap<String, RenderedConfig>,
}

impl ReleasePayload {
    /// What its version promises.
    pub fn contract(&self) -> Result<VersionContract, VersionError> {
        VersionContract::new(&self.version)
    }

    /// Whether its version promises something; no when it is not a version.
    pub fn promises(&self, question: fn(&VersionContract) -> bool) -> bool {
        self.contract().is_ok_and(|contract| question(&contract))
    }
}

/// A manifest of the payload, kept as the bytes it came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleaseManifest {
    /// Such as `0000_10_config-operator_01_dnses.crd.yaml`.
    pub file_name: String,
    /// Its text.
    pub text: String,
}

/// Which gates a feature set turns on and off.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FeatureGates {
    /// On, sorted.
    pub enabled: Vec<String>,
    /// Off, sorted.
    pub disabled: Vec<String>,
}

/// A rendered MachineConfig.
#[derive(Clone, Debug, PartialEq)]
pub struct RenderedConfig {
    /// `rendered-master-<hash>`: taken from the file, never computed.
    pub name: String,
    /// The whole MachineConfig object.
    pub machine_config: Value,
}
