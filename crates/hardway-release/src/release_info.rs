//! What a release says about itself: version, component versions, images.

use std::collections::BTreeMap;

use hardway_assets::release_payload::ComponentImages;
use serde_json::{Value, json};

use crate::fault::{Fault, FaultReason, ReleaseError};
use crate::image_references::{ImageReferences, json as read_json};
use crate::progress::DownloadProgress;
use crate::pull_spec::PullSpec;
use crate::registry::RegistryError;
use crate::release_image::{Contents, FetchOptions, FetchedRelease, fetch};
use crate::release_metadata::ReleaseMetadata;

/// The facts about a release.
#[derive(Clone, Debug)]
pub struct ReleaseInfo {
    /// The release by digest.
    pub image: PullSpec,
    /// Of the image that was read; the one in `image` may be of a list.
    pub content_digest: String,
    /// `amd64`; of a list, the one that was read.
    pub architecture: String,
    /// Whether the release is for several architectures.
    pub is_multi: bool,
    /// `linux`.
    pub os: String,
    /// When the release was made, as it says.
    pub created: Option<String>,
    /// Such as `4.18.1`.
    pub version: String,
    /// Versions that may be updated to this one.
    pub upgrades: Vec<String>,
    /// Such as `url` of the errata.
    pub metadata: BTreeMap<String, String>,
    /// Versions of what is inside, such as `kubernetes`.
    pub component_versions: BTreeMap<String, ComponentVersion>,
    /// Pull specs by tag.
    pub images: ComponentImages,
    /// How many manifests.
    pub manifests: usize,
    /// What is odd, such as two versions of one component.
    pub warnings: Vec<String>,
    /// `image-references` as it is.
    references: Value,
    /// `release-metadata` as it is.
    raw_metadata: Value,
}

/// A component's version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ComponentVersion {
    /// Such as `1.31.5`.
    pub version: String,
    /// Such as `Red Hat Enterprise Linux CoreOS`, or nothing.
    pub display_name: String,
}

/// A release could not be fetched, or not be understood.
#[derive(Debug, thiserror::Error)]
pub enum InfoError {
    /// Not fetched.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// Not understood.
    #[error(transparent)]
    Release(#[from] ReleaseError),
}

/// Fetches the last layer of a release and tells what it says.
pub async fn info(
    image: &PullSpec,
    options: &FetchOptions,
    progress: &dyn DownloadProgress,
) -> Result<ReleaseInfo, InfoError> {
    let options = FetchOptions { contents: Contents::Manifests, ..options.clone() };
    Ok(release_info(&fetch(image, &options, progress).await?)?)
}

/// What a fetched release says.
pub fn release_info(release: &FetchedRelease) -> Result<ReleaseInfo, ReleaseError> {
    let mut faults = Vec::new();
    let references = parsed(release, "image-references", ImageReferences::read, &mut faults);
    let metadata = parsed(release, "release-metadata", ReleaseMetadata::read, &mut faults);
    let raw =
        |name: &str| serde_json::from_slice(release.files.get(name).map(Vec::as_slice).unwrap_or_default());
    let (Some(references), Some(metadata), true) = (references, metadata, faults.is_empty()) else {
        return Err(ReleaseError { image: release.image.to_string(), faults });
    };
    let raw_references: Value = raw("image-references").unwrap_or_default();
    let raw_metadata: Value = raw("release-metadata").unwrap_or_default();
    let (component_versions, warnings) = component_versions(&raw_references);
    let is_manifest = |name: &&String| [".yaml", ".yml", ".json"].iter().any(|end| name.ends_with(end));
    Ok(ReleaseInfo {
        image: release.image.clone(),
        content_digest: release.digest.to_string(),
        architecture: release.architecture.clone(),
        is_multi: metadata.is_multi || release.list_digest.is_some(),
        os: release.os.clone(),
        created: raw_references["metadata"]["creationTimestamp"]
            .as_str()
            .map(str::to_owned)
            .or_else(|| release.created.clone()),
        version: metadata.version,
        upgrades: texts(&raw_metadata["previous"]),
        metadata: text_map(&raw_metadata["metadata"]),
        component_versions,
        images: references.images,
        manifests: release.files.keys().filter(is_manifest).count(),
        warnings,
        references: raw_references,
        raw_metadata,
    })
}

impl ReleaseInfo {
    /// The same as JSON, with the field names of `oc adm release info -o json`.
    pub fn to_json(&self) -> Value {
        let versions = self.component_versions.iter().map(|(key, component)| {
            (key.clone(), json!({"Version": component.version, "DisplayName": component.display_name}))
        });
        json!({
            "image": self.image.to_string(),
            "digest": self.image.digest.as_ref().map(ToString::to_string),
            "contentDigest": self.content_digest,
            "config": {"architecture": self.architecture, "os": self.os, "created": self.created},
            "metadata": self.raw_metadata,
            "references": self.references,
            "displayVersions": versions.collect::<serde_json::Map<_, _>>(),
            "warnings": self.warnings,
        })
    }
}

fn parsed<T>(
    release: &FetchedRelease,
    name: &str,
    read: fn(&str) -> Result<T, Vec<FaultReason>>,
    faults: &mut Vec<Fault>,
) -> Option<T> {
    let result = match release.files.get(name).map(|bytes| std::str::from_utf8(bytes)) {
        None => Err(vec![FaultReason::Missing("not a release image")]),
        Some(Err(_)) => Err(vec![FaultReason::NotText]),
        Some(Ok(text)) => read_json(text).and_then(|_| read(text)),
    };
    match result {
        Ok(value) => Some(value),
        Err(reasons) => {
            faults.extend(reasons.into_iter().map(|reason| Fault { file: name.to_owned(), reason }));
            None
        }
    }
}

const VERSIONS: &str = "io.openshift.build.versions";
const DISPLAY_NAMES: &str = "io.openshift.build.version-display-names";

/// Put together from all tags; `kubectl` is what the programs for users say (openshift/oc `pkg/cli/admin/release`).
fn component_versions(references: &Value) -> (BTreeMap<String, ComponentVersion>, Vec<String>) {
    let mut found: BTreeMap<String, ComponentVersion> = BTreeMap::new();
    let mut warnings = Vec::new();
    for tag in references["spec"]["tags"].as_array().map(Vec::as_slice).unwrap_or_default() {
        let name = tag["name"].as_str().unwrap_or_default();
        for (key, version) in pairs(&tag["annotations"][VERSIONS]) {
            if key == "kubectl" && !["cli", "cli-artifacts"].contains(&name) {
                continue;
            }
            let component = found.entry(key.to_owned()).or_default();
            if component.version.is_empty() {
                version.clone_into(&mut component.version);
            } else if component.version != version {
                warnings.push(format!(
                    "{key} has several versions: {} and, in {name}, {version}",
                    component.version
                ));
            }
        }
        for (key, display_name) in pairs(&tag["annotations"][DISPLAY_NAMES]) {
            if let Some(component) = found.get_mut(key) {
                display_name.clone_into(&mut component.display_name);
            }
        }
    }
    (found, warnings)
}

/// `a=1,b=2`.
fn pairs(value: &Value) -> impl Iterator<Item = (&str, &str)> {
    value.as_str().unwrap_or_default().split(',').filter_map(|pair| pair.split_once('='))
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(|text| Some(text.as_str()?.to_owned())).collect()
}

fn text_map(value: &Value) -> BTreeMap<String, String> {
    let entries = value.as_object().into_iter().flatten();
    entries.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_come_from_all_tags_and_kubectl_from_its_own() {
        let tag = |name: &str, versions: &str, names: &str| json!({"name": name, "annotations": {VERSIONS: versions, DISPLAY_NAMES: names}});
        let references = json!({"spec": {"tags": [
            tag("cli", "kubectl=1.31.1", ""),
            tag("hyperkube", "kubernetes=1.31.5,kubectl=9", ""),
            tag("rhel-coreos", "machine-os=418.94.1", "machine-os=Red Hat Enterprise Linux CoreOS"),
            tag("tests", "kubernetes=1.31.6", ""),
        ]}});
        let (versions, warnings) = component_versions(&references);
        let texts: Vec<_> =
            versions.iter().map(|(k, c)| format!("{k} {} {}", c.version, c.display_name)).collect();
        assert_eq!(
            texts,
            ["kubectl 1.31.1 ", "kubernetes 1.31.5 ", "machine-os 418.94.1 Red Hat Enterprise Linux CoreOS"]
        );
        assert_eq!(warnings, ["kubernetes has several versions: 1.31.5 and, in tests, 1.31.6"]);
    }
}
