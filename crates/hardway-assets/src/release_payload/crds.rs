//! Which of a release's CRDs and image policies a cluster gets.
//!
//! A release ships some CRDs once per feature set and once per cluster profile. Applying them all makes the last one
//! by name win, which is the tech preview. The test for each file is the cluster-version-operator's, which is also the
//! one of openshift/api's `render` (library-go `pkg/manifest`, openshift/api `payload-command/render/renderassets`).

use super::inclusion::{DEFAULT, InclusionRules};
use super::{ManifestHead, ReleaseManifest, ReleasePayload};

/// Every feature set a file name may end in (openshift/api `config/v1/types_feature.go`).
const FEATURE_SETS: [&str; 5] =
    [DEFAULT, "CustomNoUpgrade", "DevPreviewNoUpgrade", "TechPreviewNoUpgrade", "OKD"];

impl ReleasePayload {
    /// The CRDs for a self-managed cluster with this feature set (`""` is the default one), in file order.
    /// A CRD whose head cannot be read belongs to none.
    pub fn crds_for(&self, feature_set: &str) -> Vec<&ReleaseManifest> {
        self.crds_by(&InclusionRules::of(self, feature_set), feature_set)
    }

    /// Those that these rules let in.
    pub(crate) fn crds_by(&self, rules: &InclusionRules, feature_set: &str) -> Vec<&ReleaseManifest> {
        let is_for = |crd: &&ReleaseManifest| {
            crd.head().is_ok_and(|head| {
                rules.exclusion(&head).is_none() && name_agrees(&crd.file_name, &head, feature_set)
            })
        };
        self.crds.iter().filter(is_for).collect()
    }
}

/// The operator's own CRDs are told apart by file name (cluster-version-operator `pkg/payload/render.go`).
fn name_agrees(file_name: &str, head: &ManifestHead, feature_set: &str) -> bool {
    let feature_set = if feature_set.is_empty() { DEFAULT } else { feature_set };
    head.annotations.contains_key("release.openshift.io/feature-set")
        || set_in_name(file_name).is_none_or(|set| set == feature_set)
}

/// `…_nodes-Default.crd.yaml` names a feature set, `…_dnses.crd.yaml` does not.
fn set_in_name(file_name: &str) -> Option<&str> {
    let stem = file_name.split('.').next().unwrap_or_default();
    let (_, last) = stem.rsplit_once('-')?;
    FEATURE_SETS.contains(&last).then_some(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release_payload::{real_data, sample};

    const PROFILE: &str = "include.release.openshift.io/self-managed-high-availability";
    const FEATURE_SET: &str = "release.openshift.io/feature-set";
    const FEATURE_GATE: &str = "release.openshift.io/feature-gate";

    fn crd(file_name: &str, annotations: &[(&str, &str)]) -> ReleaseManifest {
        let lines: String = annotations.iter().map(|(k, v)| format!("    {k}: {v:?}\n")).collect();
        ReleaseManifest {
            file_name: file_name.to_owned(),
            text: format!(
                "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  annotations:\n{lines}"
            ),
        }
    }

    fn names<'a>(payload: &'a ReleasePayload, feature_set: &str) -> Vec<&'a str> {
        payload.crds_for(feature_set).iter().map(|crd| crd.file_name.as_str()).collect()
    }

    #[test]
    fn profile_and_feature_set_choose() {
        let mut payload = sample();
        payload.crds = vec![
            crd("plain.crd.yaml", &[(PROFILE, "true")]),
            crd("x-Default.crd.yaml", &[(PROFILE, "true"), (FEATURE_SET, "Default")]),
            crd(
                "x-TechPreviewNoUpgrade.crd.yaml",
                &[(PROFILE, "true"), (FEATURE_SET, "TechPreviewNoUpgrade")],
            ),
            crd("two.crd.yaml", &[(PROFILE, "true"), (FEATURE_SET, "CustomNoUpgrade,TechPreviewNoUpgrade")]),
            crd("by-name-CustomNoUpgrade.crd.yaml", &[(PROFILE, "true")]),
            crd("x-Hypershift-Default.crd.yaml", &[(FEATURE_SET, "Default")]),
            crd("data.crd.yaml", &[(PROFILE, "false-except-for-the-config-operator")]),
            crd("none.crd.yaml", &[]),
        ];
        assert_eq!(names(&payload, ""), ["plain.crd.yaml", "x-Default.crd.yaml"]);
        assert_eq!(
            names(&payload, "TechPreviewNoUpgrade"),
            ["plain.crd.yaml", "x-TechPreviewNoUpgrade.crd.yaml", "two.crd.yaml"]
        );
        assert_eq!(
            names(&payload, "CustomNoUpgrade"),
            ["plain.crd.yaml", "two.crd.yaml", "by-name-CustomNoUpgrade.crd.yaml"]
        );
    }

    #[test]
    fn gates_choose_from_4_22() {
        let mut payload = sample();
        payload.crds = vec![
            crd("on.crd.yaml", &[(PROFILE, "true"), (FEATURE_GATE, "NewOLM")]),
            crd("off.crd.yaml", &[(PROFILE, "true"), (FEATURE_GATE, "NewOLM,-KMSv1")]),
            crd("unknown.crd.yaml", &[(PROFILE, "true"), (FEATURE_GATE, "NoSuchGate")]),
        ];
        assert_eq!(names(&payload, "").len(), 3, "4.18 does not look at gates");
        payload.version = "4.22.0".to_owned();
        assert_eq!(names(&payload, ""), ["on.crd.yaml"]);
        assert_eq!(names(&payload, "CustomNoUpgrade"), ["on.crd.yaml"]);
        let mut config = crate::example::cluster().config;
        config.feature_set = "CustomNoUpgrade".to_owned();
        config.feature_gates = vec!["NewOLM=false".to_owned(), "NoSuchGate=true".to_owned()];
        let of_config: Vec<&str> =
            payload.crds_of(&config).iter().map(|crd| crd.file_name.as_str()).collect();
        assert_eq!(of_config, ["unknown.crd.yaml"]);
    }

    /// 42 of the 94 of openshift/api and both of the cluster-version-operator.
    #[test]
    fn the_real_4_18_default_set() {
        let (Some(mut all), Some(expected)) = (real_data("crds-4.18-all"), real_data("crds-4.18")) else {
            return;
        };
        assert_eq!((all.len(), expected.len()), (94, 44));
        let own = |crd: &&ReleaseManifest| crd.file_name.starts_with("0000_00_cluster-version-operator");
        all.extend(expected.iter().filter(own).cloned());
        let mut payload = sample();
        payload.crds = all;
        let mut found = names(&payload, "");
        found.sort_unstable();
        assert_eq!(found, expected.iter().map(|crd| crd.file_name.as_str()).collect::<Vec<_>>());
        assert_eq!(names(&payload, "TechPreviewNoUpgrade").len(), 31 + 1 + 16 + 1);
    }
}
