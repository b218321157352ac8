//! Which of a release's manifests the cluster-version-operator applies, and why not the others.
//!
//! The tests and their order are those of library-go `pkg/manifest` (`IncludeAllowUnknownCapabilities`). The first
//! that fails decides.

use std::collections::BTreeSet;

use super::{EnabledCapabilities, FeatureGates, ManifestHead, ObjectId, ReleasePayload, VersionContract};

/// Clusters that run their own control plane, single-node ones included.
pub const SELF_MANAGED: &str = "self-managed-high-availability";
/// How the default feature set, which install-config writes as nothing, is called in annotations and file names.
pub(super) const DEFAULT: &str = "Default";
const FEATURE_SET: &str = "release.openshift.io/feature-set";
const FEATURE_GATE: &str = "release.openshift.io/feature-gate";
const MAJOR_VERSION: &str = "release.openshift.io/major-version";
const CAPABILITY: &str = "capability.openshift.io/name";

/// What a cluster is, as far as manifests ask. A test whose value is not set is not made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InclusionRules {
    /// [`SELF_MANAGED`], or another profile.
    pub profile: Option<String>,
    /// The feature set; `""` is the default one.
    pub feature_set: Option<String>,
    /// Feature sets that the release knows, as annotations name them.
    pub known_feature_sets: Vec<String>,
    /// Gates turned on. Releases before 4.22 do not look at them.
    pub enabled_gates: Option<BTreeSet<String>>,
    /// The release's major version. Releases before 4.22 do not look at it.
    pub major: Option<u64>,
    /// The operator's environment variable `EXCLUDE_MANIFESTS`.
    pub exclude_id: Option<String>,
    /// Which capabilities are known and on.
    pub capabilities: Option<EnabledCapabilities>,
    /// Objects of ClusterVersion's `spec.overrides` with `unmanaged: true`.
    pub unmanaged: Vec<ObjectId>,
}

/// Why a manifest is left out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Exclusion {
    /// Every manifest that is applied says for which profile.
    #[error("no annotations")]
    NoAnnotations,
    /// By the operator's environment.
    #[error("exclude.release.openshift.io/{0}=true")]
    Identifier(String),
    /// From 4.22 a manifest may have one of the two only.
    #[error("it names both feature sets and feature gates")]
    SetsAndGates,
    /// A set that the release does not know.
    #[error("unknown feature set {0:?}")]
    UnknownFeatureSet(String),
    /// It is for other sets.
    #[error("feature set {wanted}, but it is for {allowed}")]
    FeatureSet {
        /// The cluster's.
        wanted: String,
        /// The annotation.
        allowed: String,
    },
    /// A gate must be on.
    #[error("feature gate {0} is off")]
    GateOff(String),
    /// A gate must be off.
    #[error("feature gate {0} is on")]
    GateOn(String),
    /// Only FeatureGates and CRDs may ask for a major version.
    #[error("it requires a major version, which only feature gates and CRDs may")]
    MajorVersionMisplaced,
    /// Not numbers, or the same number on both sides.
    #[error("malformed major versions {0:?}")]
    MajorVersionMalformed(String),
    /// It is for other major versions.
    #[error("major version {major}, but it is for {allowed}")]
    MajorVersion {
        /// The release's.
        major: u64,
        /// The annotation.
        allowed: String,
    },
    /// Not for this kind of cluster.
    #[error("not for profile {0}")]
    Profile(String),
    /// The annotation has a value other than `true`.
    #[error("include.release.openshift.io/{profile}={value}")]
    ProfileValue {
        /// The cluster's.
        profile: String,
        /// What stands there.
        value: String,
    },
    /// Capabilities that the release does not know.
    #[error("unknown capabilities {}", .0.join(", "))]
    UnknownCapabilities(Vec<String>),
    /// Capabilities that are turned off.
    #[error("capabilities turned off: {}", .0.join(", "))]
    DisabledCapabilities(Vec<String>),
    /// The cluster's owner looks after the object.
    #[error("overridden as unmanaged")]
    Unmanaged,
}

impl InclusionRules {
    /// The rules of a self-managed cluster of this release with this feature set (`""` is the default one) and all
    /// capabilities. A custom feature set starts out from the gates of the default one.
    pub fn of(payload: &ReleasePayload, feature_set: &str) -> Self {
        let gates = payload.feature_gates.get(feature_set).or_else(|| payload.feature_gates.get(""));
        Self::for_version(&payload.version, feature_set, gates)
    }

    /// The same from what a payload would say.
    pub fn for_version(version: &str, feature_set: &str, gates: Option<&FeatureGates>) -> Self {
        let contract = VersionContract::new(version).ok();
        let is = |question: fn(&VersionContract) -> bool| contract.as_ref().is_some_and(question);
        let tests_gates = is(VersionContract::filters_manifests_by_feature_gate);
        let mut sets = vec![DEFAULT, "CustomNoUpgrade", "DevPreviewNoUpgrade", "TechPreviewNoUpgrade"];
        if is(VersionContract::knows_okd_feature_set) {
            sets.push("OKD");
        }
        Self {
            profile: Some(SELF_MANAGED.to_owned()),
            feature_set: Some(feature_set.to_owned()),
            known_feature_sets: sets.into_iter().map(str::to_owned).collect(),
            enabled_gates: gates.filter(|_| tests_gates).map(|gates| gates.enabled.iter().cloned().collect()),
            major: contract.as_ref().filter(|_| tests_gates).map(VersionContract::major),
            exclude_id: None,
            capabilities: contract.as_ref().map(|contract| EnabledCapabilities::of(contract, None)),
            unmanaged: Vec::new(),
        }
    }

    /// Why a manifest is left out; nothing if it is taken.
    pub fn exclusion(&self, head: &ManifestHead) -> Option<Exclusion> {
        self.check(head).err()
    }

    fn check(&self, head: &ManifestHead) -> Result<(), Exclusion> {
        if head.annotations.is_empty() {
            return Err(Exclusion::NoAnnotations);
        }
        self.check_identifier(head)?;
        self.check_features(head)?;
        self.check_major(head)?;
        self.check_profile(head)?;
        self.check_capabilities(head)?;
        if self.unmanaged.iter().any(|id| names(id, head)) {
            return Err(Exclusion::Unmanaged);
        }
        Ok(())
    }

    fn check_identifier(&self, head: &ManifestHead) -> Result<(), Exclusion> {
        match &self.exclude_id {
            Some(id) if annotation(head, &format!("exclude.release.openshift.io/{id}")) == Some("true") => {
                Err(Exclusion::Identifier(id.clone()))
            }
            _ => Ok(()),
        }
    }

    fn check_features(&self, head: &ManifestHead) -> Result<(), Exclusion> {
        let (sets, gates) = (annotation(head, FEATURE_SET), annotation(head, FEATURE_GATE));
        if let (Some(wanted), Some(sets)) = (&self.feature_set, sets) {
            if self.enabled_gates.is_some() && gates.is_some() {
                return Err(Exclusion::SetsAndGates);
            }
            let wanted = if wanted.is_empty() { DEFAULT } else { wanted };
            if let Some(set) =
                sets.split(',').find(|set| !self.known_feature_sets.iter().any(|known| known == set))
            {
                return Err(Exclusion::UnknownFeatureSet(set.to_owned()));
            }
            if !sets.split(',').any(|set| set == wanted) {
                return Err(Exclusion::FeatureSet { wanted: wanted.to_owned(), allowed: sets.to_owned() });
            }
        }
        let (Some(enabled), Some(gates)) = (&self.enabled_gates, gates) else { return Ok(()) };
        for gate in gates.split(',').map(str::trim).filter(|gate| !gate.is_empty()) {
            match gate.strip_prefix('-') {
                Some(gate) if enabled.contains(gate) => return Err(Exclusion::GateOn(gate.to_owned())),
                None if !enabled.contains(gate) => return Err(Exclusion::GateOff(gate.to_owned())),
                _ => {}
            }
        }
        Ok(())
    }

    fn check_major(&self, head: &ManifestHead) -> Result<(), Exclusion> {
        let (Some(major), Some(text)) = (self.major, annotation(head, MAJOR_VERSION)) else { return Ok(()) };
        let is_gate = head.group() == "config.openshift.io" && head.kind == "FeatureGate";
        if !is_gate && !head.is_crd() {
            return Err(Exclusion::MajorVersionMisplaced);
        }
        let malformed = || Exclusion::MajorVersionMalformed(text.to_owned());
        let (mut allowed, mut barred) = (BTreeSet::new(), BTreeSet::new());
        for version in text.split(',').map(str::trim).filter(|version| !version.is_empty()) {
            match version.strip_prefix('-') {
                Some(version) => barred.insert(version.parse::<u64>().map_err(|_| malformed())?),
                None => allowed.insert(version.parse::<u64>().map_err(|_| malformed())?),
            };
        }
        if !allowed.is_disjoint(&barred) {
            return Err(malformed());
        }
        if allowed.contains(&major) || (allowed.is_empty() && !barred.contains(&major)) {
            return Ok(());
        }
        Err(Exclusion::MajorVersion { major, allowed: text.to_owned() })
    }

    fn check_profile(&self, head: &ManifestHead) -> Result<(), Exclusion> {
        let Some(profile) = &self.profile else { return Ok(()) };
        match annotation(head, &format!("include.release.openshift.io/{profile}")) {
            Some("true") => Ok(()),
            Some(value) => Err(Exclusion::ProfileValue { profile: profile.clone(), value: value.to_owned() }),
            None => Err(Exclusion::Profile(profile.clone())),
        }
    }

    fn check_capabilities(&self, head: &ManifestHead) -> Result<(), Exclusion> {
        let asked = annotation(head, CAPABILITY).filter(|names| !names.is_empty());
        let (Some(capabilities), Some(asked)) = (&self.capabilities, asked) else { return Ok(()) };
        let missing = |from: &[String]| -> Vec<String> {
            asked.split('+').filter(|name| !from.iter().any(|n| n == name)).map(str::to_owned).collect()
        };
        let unknown = missing(&capabilities.known);
        if !unknown.is_empty() {
            return Err(Exclusion::UnknownCapabilities(unknown));
        }
        let disabled = missing(&capabilities.enabled);
        if disabled.is_empty() { Ok(()) } else { Err(Exclusion::DisabledCapabilities(disabled)) }
    }
}

/// The namespace is not looked at for objects that have none.
fn names(id: &ObjectId, head: &ManifestHead) -> bool {
    let same_place = head.namespace.is_empty() || id.namespace == head.namespace;
    id.group == head.group() && id.kind == head.kind && id.name == head.name && same_place
}

fn annotation<'h>(head: &'h ManifestHead, key: &str) -> Option<&'h str> {
    head.annotations.get(key).map(String::as_str)
}

#[cfg(test)]
mod tests;
