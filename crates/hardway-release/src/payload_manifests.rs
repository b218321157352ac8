//! What hardway takes from the manifests of a release: CRDs, image policies and the lists of feature gates.

use std::collections::BTreeMap;

use hardway_assets::release_payload::{FeatureGates, ManifestHead, ReleaseManifest};
use hardway_assets::yaml::{self, SyntaxError};
use serde_json::Value;

use crate::documents::documents;
use crate::fault::FaultReason;

/// Only the config-operator reads these FeatureGates; to everybody else they are data files
/// (openshift/api `payload-manifests/featuregates`).
const GATES_PROFILE: &str = "include.release.openshift.io/self-managed-high-availability";
/// From 4.22: the major versions a list is for.
const MAJOR_VERSION: &str = "release.openshift.io/major-version";

/// Without these two the cluster-version-operator does not start (its informers wait for them).
pub(crate) const REQUIRED_CRDS: [&str; 2] =
    ["clusterversions.config.openshift.io", "clusteroperators.config.openshift.io"];

/// CRDs, policies and gates found so far.
#[derive(Debug, Default)]
pub(crate) struct PayloadManifests {
    crds: BTreeMap<String, Found<ReleaseManifest>>,
    policies: BTreeMap<String, Found<ReleaseManifest>>,
    boot_images: BTreeMap<String, Found<ReleaseManifest>>,
    gates: BTreeMap<String, Found<FeatureGates>>,
}

/// The parts of a payload that are manifests.
pub(crate) struct Parts {
    /// By file name.
    pub(crate) crds: Vec<ReleaseManifest>,
    /// By file name.
    pub(crate) image_policies: Vec<ReleaseManifest>,
    /// Where boot images are.
    pub(crate) boot_images: Option<ReleaseManifest>,
    /// By feature set.
    pub(crate) feature_gates: BTreeMap<String, FeatureGates>,
}

/// A thing and the file it came from.
#[derive(Debug)]
struct Found<T> {
    path: String,
    thing: T,
}

/// What is wrong with a document: places are those of the document, not of the file.
enum Wrong {
    Syntax(Vec<SyntaxError>),
    Content(Vec<FaultReason>),
}

impl From<Vec<FaultReason>> for Wrong {
    fn from(reasons: Vec<FaultReason>) -> Self {
        Self::Content(reasons)
    }
}

impl PayloadManifests {
    /// Takes what a file holds of interest. `major` is the release's major version, where known.
    pub(crate) fn add(&mut self, path: &str, text: &str, major: Option<u64>) -> Result<(), Vec<FaultReason>> {
        let documents = documents(text);
        let mut reasons = Vec::new();
        for (i, (start, document)) in documents.iter().enumerate() {
            let index = (documents.len() > 1).then_some(i);
            let result = self.add_document(path, document, index, major);
            reasons.extend(match result {
                Ok(()) => Vec::new(),
                Err(Wrong::Syntax(errors)) => FaultReason::syntax(text, *start, errors),
                Err(Wrong::Content(reasons)) => reasons,
            });
        }
        if reasons.is_empty() { Ok(()) } else { Err(reasons) }
    }

    /// Whether there is a CRD of this name.
    pub(crate) fn has_crd(&self, name: &str) -> bool {
        self.crds.values().any(|crd| crd.thing.head().is_ok_and(|head| head.name == name))
    }

    /// Whether the gates of a feature set are known; `""` is the default one.
    pub(crate) fn has_gates(&self, feature_set: &str) -> bool {
        self.gates.contains_key(feature_set)
    }

    /// All that was found.
    pub(crate) fn into_parts(self) -> Parts {
        let things = |found: BTreeMap<_, Found<_>>| found.into_values().map(|found| found.thing).collect();
        Parts {
            crds: things(self.crds),
            image_policies: things(self.policies),
            boot_images: self.boot_images.into_values().map(|found| found.thing).next(),
            feature_gates: self.gates.into_iter().map(|(set, found)| (set, found.thing)).collect(),
        }
    }

    fn add_document(
        &mut self,
        path: &str,
        text: &str,
        index: Option<usize>,
        major: Option<u64>,
    ) -> Result<(), Wrong> {
        let head = ManifestHead::of(text).map_err(Wrong::Syntax)?;
        if head.is_crd() || is_image_policy(&head) {
            yaml::read(text).map_err(Wrong::Syntax)?;
            let file_name = indexed(path.rsplit('/').next().unwrap_or(path), index);
            let what = format!("{} file {file_name}", if head.is_crd() { "CRD" } else { "image policy" });
            let manifest = ReleaseManifest { file_name: file_name.clone(), text: text.to_owned() };
            let things = if head.is_crd() { &mut self.crds } else { &mut self.policies };
            keep(things, file_name, manifest, path, what)?;
        } else if is_boot_images(&head) {
            let file_name = indexed(path.rsplit('/').next().unwrap_or(path), index);
            let manifest = ReleaseManifest { file_name, text: text.to_owned() };
            keep(&mut self.boot_images, head.name, manifest, path, "the list of boot images".to_owned())?;
        } else if is_gate_list(&head, major) {
            let object = yaml::read(text).map_err(Wrong::Syntax)?.to_json();
            let set = object["spec"]["featureSet"].as_str().unwrap_or_default().to_owned();
            let what =
                format!("the gates of feature set {:?}", if set.is_empty() { "Default" } else { &set });
            keep(&mut self.gates, set, feature_gates(&object)?, path, what)?;
        }
        Ok(())
    }
}

/// The same thing may come twice, as where `crds/` repeats what the other manifests hold; two versions of it may not.
fn keep<T: PartialEq>(
    things: &mut BTreeMap<String, Found<T>>,
    key: String,
    thing: T,
    path: &str,
    what: String,
) -> Result<(), Vec<FaultReason>> {
    match things.get(&key) {
        Some(found) if found.thing != thing => {
            Err(vec![FaultReason::Conflict { what, other: found.path.clone() }])
        }
        Some(_) => Ok(()),
        None => {
            things.insert(key, Found { path: path.to_owned(), thing });
            Ok(())
        }
    }
}

/// `a.yaml` and its second document: `a_1.yaml`.
fn indexed(file_name: &str, index: Option<usize>) -> String {
    match (index, file_name.split_once('.')) {
        (Some(index), Some((stem, extension))) => format!("{stem}_{index}.{extension}"),
        _ => file_name.to_owned(),
    }
}

/// A FeatureGate of the right cluster profile and major version. The empty FeatureGate that the
/// cluster-version-operator creates says `"true"` there and has no status.
fn is_gate_list(head: &ManifestHead, major: Option<u64>) -> bool {
    let is_for = |majors: &String| majors.split(',').any(|m| m.trim().parse().ok() == major);
    head.kind == "FeatureGate"
        && head.api_version == "config.openshift.io/v1"
        && head.annotations.get(GATES_PROFILE).is_some_and(|value| value != "true")
        && (major.is_none() || head.annotations.get(MAJOR_VERSION).is_none_or(is_for))
}

/// Installer `hack/build-coreos-manifest.go`.
fn is_boot_images(head: &ManifestHead) -> bool {
    head.kind == "ConfigMap" && head.name == "coreos-bootimages"
}

/// Of either version: 4.18 and 4.19 have v1alpha1.
fn is_image_policy(head: &ManifestHead) -> bool {
    ["ClusterImagePolicy", "ImagePolicy"].contains(&head.kind.as_str())
        && head.api_version.starts_with("config.openshift.io/")
}

fn feature_gates(object: &Value) -> Result<FeatureGates, Vec<FaultReason>> {
    let lists = &object["status"]["featureGates"][0];
    let names = |field: &str| {
        let list = lists[field].as_array()?;
        let mut names =
            list.iter().map(|gate| Some(gate["name"].as_str()?.to_owned())).collect::<Option<Vec<_>>>()?;
        names.sort();
        Some(names)
    };
    let missing = |field: &str| FaultReason::Field(format!("status.featureGates[0].{field}"));
    match (names("enabled"), names("disabled")) {
        (Some(enabled), Some(disabled)) => Ok(FeatureGates { enabled, disabled }),
        (enabled, disabled) => Err([("enabled", enabled), ("disabled", disabled)]
            .into_iter()
            .filter(|(_, names)| names.is_none())
            .map(|(field, _)| missing(field))
            .collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CRD: &str =
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: a.b\n";

    fn gates(majors: &str, set: &str, enabled: &str) -> String {
        format!(
            r#"{{"apiVersion": "config.openshift.io/v1", "kind": "FeatureGate", "metadata": {{"name": "cluster",
               "annotations": {{"{GATES_PROFILE}": "false-except-for-the-config-operator", "{MAJOR_VERSION}": "{majors}"}}}},
               "spec": {{"featureSet": "{set}"}},
               "status": {{"featureGates": [{{"version": "", "enabled": [{enabled}], "disabled": []}}]}}}}"#
        )
    }

    #[test]
    fn crds_are_kept_as_they_are_and_the_rest_is_passed_over() {
        let mut manifests = PayloadManifests::default();
        let two = format!("{CRD}---\nkind: ConfigMap\n---\n{CRD}spec: {{}}\n");
        manifests.add("0000_10_x.crd.yaml", CRD, Some(4)).unwrap();
        manifests.add("crds/0000_10_x.crd.yaml", CRD, Some(4)).unwrap();
        manifests.add("0000_50_two.yaml", &two, Some(4)).unwrap();
        assert!(manifests.has_crd("a.b") && !manifests.has_crd("c.d"));
        let crds = manifests.into_parts().crds;
        let names: Vec<_> = crds.iter().map(|crd| crd.file_name.as_str()).collect();
        assert_eq!(names, ["0000_10_x.crd.yaml", "0000_50_two_0.yaml", "0000_50_two_2.yaml"]);
        assert_eq!(crds[0].text, CRD);
    }

    #[test]
    fn two_versions_of_one_file_are_a_conflict() {
        let mut manifests = PayloadManifests::default();
        manifests.add("x.crd.yaml", CRD, None).unwrap();
        let reasons = manifests.add("crds/x.crd.yaml", &format!("{CRD}spec: {{}}\n"), None).unwrap_err();
        assert_eq!(
            reasons[0].to_string(),
            "CRD file x.crd.yaml is also in x.crd.yaml, with different content"
        );
    }

    #[test]
    fn gates_of_the_right_profile_and_major_version_count() {
        let mut manifests = PayloadManifests::default();
        let list = gates("4,5", "", r#"{"name": "B"}, {"name": "A"}"#);
        manifests.add("featureGate-4-5-SelfManagedHA-Default.yaml", &list, Some(4)).unwrap();
        manifests
            .add("featureGate-6-10-SelfManagedHA-Default.yaml", &gates("6,10", "", ""), Some(4))
            .unwrap();
        let hosted = gates("4", "", "").replace("self-managed-high-availability", "ibm-cloud-managed");
        manifests.add("featureGate-4-10-Hypershift-Default.yaml", &hosted, Some(4)).unwrap();
        let empty = gates("4", "", "").replace("false-except-for-the-config-operator", "true");
        manifests.add("0000_05_config-operator_02_featuregate.cr.yaml", &empty, Some(4)).unwrap();
        manifests.add("tech.yaml", &gates("4", "TechPreviewNoUpgrade", ""), Some(4)).unwrap();
        let gates = manifests.into_parts().feature_gates;
        assert_eq!(gates.keys().collect::<Vec<_>>(), ["", "TechPreviewNoUpgrade"]);
        assert_eq!(gates[""].enabled, ["A", "B"]);
    }

    #[test]
    fn broken_files_are_told_with_their_lines() {
        let mut manifests = PayloadManifests::default();
        let reasons = manifests.add("x.yaml", &format!("{CRD}spec:\n  a: [\n"), None).unwrap_err();
        assert!(matches!(reasons[..], [FaultReason::Syntax { line: 6.., .. }]), "{reasons:?}");
        let reasons = manifests.add("y.yaml", "a: 1\n---\nkind: [\n}\n", None).unwrap_err();
        assert!(matches!(reasons[..], [FaultReason::Syntax { line: 3, .. }]), "{reasons:?}");
        let text = gates("4", "", "").replace("enabled", "on").replace("disabled", "off");
        let reasons = manifests.add("g.yaml", &text, None).unwrap_err();
        assert_eq!(reasons[0], FaultReason::Field("status.featureGates[0].enabled".to_owned()));
    }
}
