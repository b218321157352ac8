//! `image-references`: the ImageStream that names the images of a release (openshift/oc `pkg/cli/admin/release`).

use hardway_assets::release_payload::ComponentImages;
use serde_json::Value;

use crate::fault::FaultReason;
use crate::pull_spec::is_by_digest;

/// The images of a release.
#[derive(Debug)]
pub(crate) struct ImageReferences {
    /// The release version: the stream is named after it.
    pub(crate) version: String,
    /// By tag.
    pub(crate) images: ComponentImages,
}

impl ImageReferences {
    /// Reads the file.
    pub(crate) fn read(text: &str) -> Result<Self, Vec<FaultReason>> {
        let stream = json(text)?;
        let mut reasons = Vec::new();
        for (field, expected) in [("kind", "ImageStream"), ("apiVersion", "image.openshift.io/v1")] {
            if stream[field] != expected {
                reasons.push(unexpected(field, expected, &stream[field]));
            }
        }
        let version = stream["metadata"]["name"].as_str();
        if version.is_none() {
            reasons.push(FaultReason::Field("metadata.name".to_owned()));
        }
        let mut images: Vec<(String, String)> = Vec::new();
        match stream["spec"]["tags"].as_array() {
            None => reasons.push(FaultReason::Field("spec.tags".to_owned())),
            Some(tags) => {
                for (i, tag) in tags.iter().enumerate() {
                    match image(tag, i, &images) {
                        Ok(Some(image)) => images.push(image),
                        Ok(None) => {}
                        Err(reason) => reasons.push(reason),
                    }
                }
            }
        }
        match version {
            Some(version) if reasons.is_empty() => {
                Ok(Self { version: version.to_owned(), images: images.into_iter().collect() })
            }
            _ => Err(reasons),
        }
    }
}

/// Reads JSON; every other file of a release may be YAML, but the two without an extension are always JSON.
pub(crate) fn json(text: &str) -> Result<Value, Vec<FaultReason>> {
    serde_json::from_str(text).map_err(|error| {
        let text = error.to_string();
        let message = text.split(" at line ").next().unwrap_or(&text).to_owned();
        vec![FaultReason::Syntax { line: error.line(), message }]
    })
}

pub(crate) fn unexpected(field: &str, expected: &str, found: &Value) -> FaultReason {
    let found = found.as_str().map_or_else(|| found.to_string(), str::to_owned);
    FaultReason::Unexpected { field: field.to_owned(), expected: expected.to_owned(), found }
}

/// One tag. Only those that name a registry image are images of the release; oc passes over the others too.
fn image(
    tag: &Value,
    i: usize,
    before: &[(String, String)],
) -> Result<Option<(String, String)>, FaultReason> {
    let name = tag["name"].as_str().ok_or_else(|| FaultReason::Field(format!("spec.tags[{i}].name")))?;
    if tag["from"]["kind"] != "DockerImage" {
        return Ok(None);
    }
    let pull_spec = tag["from"]["name"].as_str().unwrap_or_default();
    if !is_by_digest(pull_spec) {
        return Err(FaultReason::NotByDigest { name: name.to_owned(), pull_spec: pull_spec.to_owned() });
    }
    match before.iter().find(|(other, _)| other == name) {
        Some((_, other)) if other != pull_spec => {
            Err(FaultReason::Conflict { what: format!("tag {name}"), other: "the same file".to_owned() })
        }
        _ => Ok(Some((name.to_owned(), pull_spec.to_owned()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn stream(tags: &Value) -> String {
        json!({"kind": "ImageStream", "apiVersion": "image.openshift.io/v1", "metadata": {"name": "4.18.1"},
               "spec": {"tags": tags}})
        .to_string()
    }

    fn tag(name: &str, pull_spec: &str) -> Value {
        json!({"name": name, "from": {"kind": "DockerImage", "name": pull_spec}})
    }

    #[test]
    fn images_come_by_tag() {
        let digest = "a".repeat(64);
        let spec = format!("quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:{digest}");
        let other = json!({"name": "local", "from": {"kind": "ImageStreamTag", "name": "x:y"}});
        let read = ImageReferences::read(&stream(&json!([tag("etcd", &spec), other]))).unwrap();
        assert_eq!(read.version, "4.18.1");
        assert_eq!(read.images.iter().collect::<Vec<_>>(), [("etcd", spec.as_str())]);
    }

    #[test]
    fn everything_wrong_is_told() {
        let digest = "a".repeat(64);
        let [one, two] = ["x", "y"].map(|name| format!("quay.io/r/{name}@sha256:{digest}"));
        let tags =
            json!([tag("etcd", "quay.io/r/etcd:latest"), {"from": {}}, tag("cli", &one), tag("cli", &two)]);
        let reasons = ImageReferences::read(&stream(&tags)).unwrap_err();
        let texts: Vec<_> = reasons.iter().map(ToString::to_string).collect();
        assert_eq!(
            texts,
            [
                "etcd: \"quay.io/r/etcd:latest\" is not a pull spec by digest (registry/name@sha256:…)",
                "spec.tags[1].name is missing or malformed",
                "tag cli is also in the same file, with different content",
            ]
        );
        assert_eq!(ImageReferences::read("{}").unwrap_err().len(), 4);
        assert!(matches!(
            ImageReferences::read("{\n!").unwrap_err()[..],
            [FaultReason::Syntax { line: 2, .. }]
        ));
    }
}
