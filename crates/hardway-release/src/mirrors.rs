//! Where else an image may be pulled from: `imageDigestSources` and `imageContentSources` of the install-config.

use hardway_assets::install_config::{ImageSource, InstallConfig};

use crate::pull_spec::{PullSpec, PullSpecError};

/// Mirrors of repositories. Asked for images by digest only: a tag may point elsewhere on a mirror.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mirrors(Vec<Source>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Source {
    /// `registry/repository` or a parent of it.
    prefix: String,
    mirrors: Vec<String>,
    may_contact: bool,
}

/// Mirrors that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MirrorError {
    /// Two entries for one source disagree (openshift/runtime-utils `pkg/registries`).
    #[error("the mirrors of {0} have different source policies; give all of them the same sourcePolicy")]
    MixedPolicy(String),
    /// Not a policy.
    #[error(
        "the sourcePolicy {policy:?} of {source_prefix} is neither AllowContactingSource nor NeverContactSource"
    )]
    UnknownPolicy {
        /// Of which source.
        source_prefix: String,
        /// What stands there.
        policy: String,
    },
    /// The mirror's name with what follows the source makes no pull spec.
    #[error("the mirror {mirror}: {error}")]
    Name {
        /// As configured.
        mirror: String,
        /// Why.
        error: PullSpecError,
    },
}

impl Mirrors {
    /// The mirrors an install-config names.
    pub fn of(config: &InstallConfig) -> Result<Self, MirrorError> {
        Self::new(config.image_digest_sources.iter().chain(&config.image_content_sources))
    }

    /// Mirrors from a list. Entries of one source come together, in the order given.
    pub fn new<'a>(sources: impl IntoIterator<Item = &'a ImageSource>) -> Result<Self, MirrorError> {
        let mut found: Vec<Source> = Vec::new();
        for source in sources {
            let may_contact = match source.source_policy.as_str() {
                "" | "AllowContactingSource" => true,
                "NeverContactSource" => false,
                policy => {
                    let (source_prefix, policy) = (source.source.clone(), policy.to_owned());
                    return Err(MirrorError::UnknownPolicy { source_prefix, policy });
                }
            };
            match found.iter_mut().find(|other| other.prefix == source.source) {
                Some(other) if other.may_contact != may_contact => {
                    return Err(MirrorError::MixedPolicy(source.source.clone()));
                }
                Some(other) => other.mirrors.extend(source.mirrors.iter().cloned()),
                None => found.push(Source {
                    prefix: source.source.clone(),
                    mirrors: source.mirrors.clone(),
                    may_contact,
                }),
            }
        }
        Ok(Self(found))
    }

    /// Where to try for an image, in order. The source itself comes last, if it may be asked at all.
    pub fn candidates(&self, image: &PullSpec) -> Result<Vec<PullSpec>, MirrorError> {
        let name = image.name();
        let (Some(source), Some(digest)) = (self.source_of(&name), &image.digest) else {
            return Ok(vec![image.clone()]);
        };
        let rest = rest(&name, &source.prefix).unwrap_or_default();
        let mut found: Vec<PullSpec> = Vec::new();
        for mirror in &source.mirrors {
            let there = format!("{mirror}{rest}@{digest}").parse();
            let there = there.map_err(|error| MirrorError::Name { mirror: mirror.clone(), error })?;
            if !found.contains(&there) {
                found.push(there);
            }
        }
        if source.may_contact {
            found.push(image.clone());
        }
        Ok(found)
    }

    /// Whether there are mirrors of an image that are not asked because it is named by tag.
    pub fn are_passed_by(&self, image: &PullSpec) -> bool {
        image.digest.is_none() && self.source_of(&image.name()).is_some()
    }

    fn source_of(&self, name: &str) -> Option<&Source> {
        self.0.iter().filter(|s| rest(name, &s.prefix).is_some()).max_by_key(|s| s.prefix.len())
    }
}

/// What follows a prefix that ends where a part of the name ends.
fn rest<'n>(name: &'n str, prefix: &str) -> Option<&'n str> {
    name.strip_prefix(prefix).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(source: &str, mirrors: &[&str], policy: &str) -> ImageSource {
        ImageSource {
            source: source.to_owned(),
            mirrors: mirrors.iter().map(|m| (*m).to_owned()).collect(),
            source_policy: policy.to_owned(),
        }
    }

    fn candidates(sources: &[ImageSource], name: &str) -> Vec<String> {
        let image = format!("{name}@sha256:{}", "a".repeat(64)).parse().unwrap();
        let found = Mirrors::new(sources).unwrap().candidates(&image).unwrap();
        found.iter().map(PullSpec::name).collect()
    }

    #[test]
    fn the_longest_prefix_at_a_slash_counts() {
        let sources = [
            source("quay.io/openshift-release-dev", &["lab:5000/all"], ""),
            source("quay.io/openshift-release-dev/ocp-release", &["lab:5000/release", "b.lab/r"], ""),
        ];
        assert_eq!(
            candidates(&sources, "quay.io/openshift-release-dev/ocp-release"),
            ["lab:5000/release", "b.lab/r", "quay.io/openshift-release-dev/ocp-release"]
        );
        assert_eq!(
            candidates(&sources, "quay.io/openshift-release-dev/ocp-v4.0-art-dev"),
            ["lab:5000/all/ocp-v4.0-art-dev", "quay.io/openshift-release-dev/ocp-v4.0-art-dev"]
        );
        assert_eq!(
            candidates(&sources, "quay.io/openshift-release-device/x"),
            ["quay.io/openshift-release-device/x"]
        );
    }

    #[test]
    fn tags_are_not_mirrored() {
        let mirrors = Mirrors::new(&[source("quay.io/a", &["lab:5000/a"], "NeverContactSource")]).unwrap();
        let image: PullSpec = "quay.io/a/b:1".parse().unwrap();
        assert!(mirrors.are_passed_by(&image));
        assert!(!mirrors.are_passed_by(&"quay.io/b:1".parse().unwrap()));
        assert_eq!(mirrors.candidates(&image).unwrap(), [image]);
    }

    #[test]
    fn a_source_that_may_not_be_asked_is_not() {
        let sources = [source("quay.io/a", &["lab:5000/a"], "NeverContactSource")];
        assert_eq!(candidates(&sources, "quay.io/a"), ["lab:5000/a"]);
    }

    #[test]
    fn entries_of_one_source_come_together_and_must_agree() {
        let one = source("quay.io/a", &["lab:5000/a"], "");
        let sources =
            [one.clone(), source("quay.io/a", &["lab:5001/a", "lab:5000/a"], "AllowContactingSource")];
        assert_eq!(candidates(&sources, "quay.io/a"), ["lab:5000/a", "lab:5001/a", "quay.io/a"]);
        let mixed = [one, source("quay.io/a", &["lab:5001/a"], "NeverContactSource")];
        assert_eq!(Mirrors::new(&mixed), Err(MirrorError::MixedPolicy("quay.io/a".to_owned())));
        assert!(Mirrors::new(&[source("quay.io/a", &[], "Sometimes")]).is_err());
        let odd = Mirrors::new(&[source("quay.io/a", &["Lab/UPPER"], "")]).unwrap();
        let image = format!("quay.io/a@sha256:{}", "a".repeat(64)).parse().unwrap();
        assert!(matches!(odd.candidates(&image), Err(MirrorError::Name { .. })));
    }
}
