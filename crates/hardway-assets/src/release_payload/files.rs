//! A release written down as a folder that `hardway-release` reads back.
//!
//! The working directory keeps the release it was made from, so that everything in it can be made again without the
//! registry. What assets do not use of a release (its other manifests, upgrade edges, build annotations) is left out.

use serde_json::{Value, json};

use super::{FeatureGates, ReleasePayload};
use crate::File;

/// Marks the sample release in `release-metadata`.
pub const SAMPLE_MARK: &str = "hardway.dev/sample";

/// In `release-metadata` of a lab's release: which components are stand-ins, with commas between them (`lab/release/payload.sh`).
pub const STAND_INS_MARK: &str = "stand-ins";

/// Beside it: what of such a release is real, in its own words.
pub const REAL_MARK: &str = "real";

/// The files of `release/`, in the layout of `oc adm release extract`. What was rendered for the nodes is not of the
/// release alone: see [`crate::rendered_nodes`].
pub fn files(payload: &ReleasePayload) -> Vec<File> {
    let mut files = vec![
        File::public("release/image-references", pretty(&image_references(payload))),
        File::public("release/release-architecture", format!("{}\n", payload.architecture)),
        File::public("release/release-image", format!("{}\n", payload.image)),
        File::public("release/release-metadata", pretty(&release_metadata(payload))),
    ];
    for crd in &payload.crds {
        files.push(File::public(format!("release/crds/{}", crd.file_name), crd.text.as_str()));
    }
    if let Some(manifest) = &payload.boot_images {
        files.push(File::public(format!("release/{}", manifest.file_name), manifest.text.as_str()));
    }
    for policy in &payload.image_policies {
        files.push(File::public(format!("release/manifests/{}", policy.file_name), policy.text.as_str()));
    }
    for (set, gates) in &payload.feature_gates {
        let name = if set.is_empty() { "Default" } else { set };
        let path =
            format!("release/manifests/0000_50_cluster-config-api_featureGate-SelfManagedHA-{name}.yaml");
        files.push(File::public(path, pretty(&feature_gate(set, gates))));
    }
    files
}

/// The ImageStream of the payload's `image-references`.
pub fn image_references(payload: &ReleasePayload) -> Value {
    let tags: Vec<_> = payload
        .images
        .iter()
        .map(|(name, image)| json!({"from": {"kind": "DockerImage", "name": image}, "name": name}))
        .collect();
    json!({
        "apiVersion": "image.openshift.io/v1",
        "kind": "ImageStream",
        "metadata": {"name": payload.version},
        "spec": {"lookupPolicy": {"local": false}, "tags": tags},
    })
}

fn release_metadata(payload: &ReleasePayload) -> Value {
    let mut metadata = json!({});
    if payload.is_sample {
        metadata[SAMPLE_MARK] = "true".into();
    }
    if !payload.stand_ins.is_empty() {
        metadata[STAND_INS_MARK] = payload.stand_ins.join(", ").into();
    }
    if !payload.real.is_empty() {
        metadata[REAL_MARK] = payload.real.as_str().into();
    }
    if payload.architecture == "multi" {
        metadata["release.openshift.io/architecture"] = "multi".into();
    }
    json!({"kind": "cincinnati-metadata-v0", "metadata": metadata, "version": payload.version})
}

/// As the payload has it: for the config-operator's eyes only, with no version filled in.
fn feature_gate(set: &str, gates: &FeatureGates) -> Value {
    let named = |names: &[String]| names.iter().map(|name| json!({"name": name})).collect::<Vec<_>>();
    let spec = if set.is_empty() { json!({}) } else { json!({"featureSet": set}) };
    let profile = "include.release.openshift.io/self-managed-high-availability";
    json!({
        "apiVersion": "config.openshift.io/v1",
        "kind": "FeatureGate",
        "metadata": {"annotations": {profile: "false-except-for-the-config-operator"}, "name": "cluster"},
        "spec": spec,
        "status": {"featureGates": [
            {"disabled": named(&gates.disabled), "enabled": named(&gates.enabled), "version": ""},
        ]},
    })
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::release_payload::sample;

    #[test]
    fn every_file_has_its_own_place_in_release() {
        let files = files(&sample());
        let paths: BTreeSet<_> = files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths.len(), files.len());
        assert!(paths.iter().all(|path| path.starts_with("release/")));
        assert_eq!(files.len(), 4 + 45 + 3);
    }
}
