//! `manifests/image-content-source-policy.yaml` and `manifests/image-digest-mirror-set.yaml`: where images are pulled
//! from instead of their own registry.

use serde_json::{Value, json};

use crate::graph::{Inputs, MakeError};
use crate::install_config::{ImageSource, InstallConfig};
use crate::object_file::{ObjectFile, fields};

/// The old form, from `imageContentSources`.
pub(super) fn image_content_source_policy(config: &InstallConfig) -> Option<ObjectFile> {
    (!config.image_content_sources.is_empty()).then(|| {
        ObjectFile::new(
            "image-content-source-policy",
            "manifests/image-content-source-policy.yaml",
            fields(["imageContentSources"]),
            build_policy,
        )
    })
}

/// The present form, from `imageDigestSources`.
pub(super) fn image_digest_mirror_set(config: &InstallConfig) -> Option<ObjectFile> {
    (!config.image_digest_sources.is_empty()).then(|| {
        ObjectFile::new(
            "image-digest-mirror-set",
            "manifests/image-digest-mirror-set.yaml",
            fields(["imageDigestSources"]),
            build_mirror_set,
        )
    })
}

fn build_policy(inputs: &Inputs<'_>) -> Result<Value, MakeError> {
    let mirrors: Vec<Value> = inputs.cluster.config.image_content_sources.iter().map(mirror).collect();
    Ok(json!({
        "apiVersion": "operator.openshift.io/v1alpha1",
        "kind": "ImageContentSourcePolicy",
        "metadata": {"name": "image-policy"},
        "spec": {"repositoryDigestMirrors": mirrors},
    }))
}

fn build_mirror_set(inputs: &Inputs<'_>) -> Result<Value, MakeError> {
    let mirrors = inputs.cluster.config.image_digest_sources.iter().map(|source| {
        let mut entry = mirror(source);
        if !source.source_policy.is_empty() {
            entry["mirrorSourcePolicy"] = source.source_policy.clone().into();
        }
        entry
    });
    Ok(json!({
        "apiVersion": "config.openshift.io/v1",
        "kind": "ImageDigestMirrorSet",
        "metadata": {"name": "image-digest-mirror"},
        "spec": {"imageDigestMirrors": mirrors.collect::<Vec<_>>()},
    }))
}

fn mirror(source: &ImageSource) -> Value {
    let mut entry = json!({"source": source.source});
    if !source.mirrors.is_empty() {
        entry["mirrors"] = json!(source.mirrors);
    }
    entry
}

#[cfg(test)]
mod tests {
    use super::super::testing::World;
    use crate::install_config::ImageSource;
    use serde_json::json;

    fn sources() -> Vec<ImageSource> {
        let source = |source: &str, mirrors: &[&str], policy: &str| ImageSource {
            mirrors: mirrors.iter().map(|mirror| (*mirror).to_owned()).collect(),
            source: source.to_owned(),
            source_policy: policy.to_owned(),
        };
        vec![
            source("quay.io/a/b", &["mirror.example/a/b", "other.example/b"], "NeverContactSource"),
            source("quay.io/c", &[], ""),
        ]
    }

    #[test]
    fn without_mirrors_there_is_neither() {
        let paths = World::new().paths();
        assert!(!paths.iter().any(|path| path.starts_with("manifests/image-")));
    }

    #[test]
    fn digest_sources_become_a_mirror_set() {
        let mut world = World::new();
        world.cluster.config.image_digest_sources = sources();
        let set = world.object("manifests/image-digest-mirror-set.yaml");
        assert_eq!(
            set["spec"]["imageDigestMirrors"],
            json!([
                {
                    "source": "quay.io/a/b",
                    "mirrors": ["mirror.example/a/b", "other.example/b"],
                    "mirrorSourcePolicy": "NeverContactSource",
                },
                {"source": "quay.io/c"},
            ])
        );
    }

    #[test]
    fn content_sources_become_a_policy_without_source_policies() {
        let mut world = World::new();
        world.cluster.config.image_content_sources = sources();
        let policy = world.object("manifests/image-content-source-policy.yaml");
        assert_eq!(policy["apiVersion"], "operator.openshift.io/v1alpha1");
        assert_eq!(
            policy["spec"]["repositoryDigestMirrors"],
            json!([
                {"source": "quay.io/a/b", "mirrors": ["mirror.example/a/b", "other.example/b"]},
                {"source": "quay.io/c"},
            ])
        );
    }
}
