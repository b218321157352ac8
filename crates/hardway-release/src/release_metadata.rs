//! `release-metadata`: the version of a release (cluster-version-operator `pkg/payload/payload.go`).

use hardway_assets::release_payload::{REAL_MARK, SAMPLE_MARK, STAND_INS_MARK, VersionContract};

use crate::fault::FaultReason;
use crate::image_references::{json, unexpected};

/// What the metadata says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ReleaseMetadata {
    /// Checked to be a version these assets fit.
    pub(crate) version: String,
    /// A release for several architectures says so; one for a single architecture does not say which.
    pub(crate) is_multi: bool,
    /// The sample release, written down.
    pub(crate) is_sample: bool,
    /// Components that a lab's release has stand-ins for.
    pub(crate) stand_ins: Vec<String>,
    /// What it says is real beside them.
    pub(crate) real: String,
}

impl ReleaseMetadata {
    /// Reads the file.
    pub(crate) fn read(text: &str) -> Result<Self, Vec<FaultReason>> {
        let object = json(text)?;
        let mut reasons = Vec::new();
        if object["kind"] != "cincinnati-metadata-v0" {
            reasons.push(unexpected("kind", "cincinnati-metadata-v0", &object["kind"]));
        }
        let version = object["version"].as_str();
        match version.map(VersionContract::new) {
            None => reasons.push(FaultReason::Field("version".to_owned())),
            Some(contract) => {
                reasons.extend(contract.and_then(|c| c.supports()).err().map(FaultReason::Version))
            }
        }
        let architecture = &object["metadata"]["release.openshift.io/architecture"];
        if !architecture.is_null() && architecture != "multi" {
            reasons.push(unexpected("metadata[release.openshift.io/architecture]", "multi", architecture));
        }
        let marked = |name: &str| object["metadata"][name].as_str().unwrap_or_default();
        let stand_ins = names(marked(STAND_INS_MARK));
        match version {
            Some(version) if reasons.is_empty() => Ok(Self {
                version: version.to_owned(),
                is_multi: architecture == "multi",
                is_sample: object["metadata"][SAMPLE_MARK] == "true",
                // The word means something only beside the other: an ordinary release may use it as it likes.
                real: if stand_ins.is_empty() { String::new() } else { marked(REAL_MARK).to_owned() },
                stand_ins,
            }),
            _ => Err(reasons),
        }
    }
}

fn names(list: &str) -> Vec<String> {
    list.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lab_s_release_names_its_stand_ins() {
        let text = r#"{"kind": "cincinnati-metadata-v0", "version": "4.18.1", "metadata": {"stand-ins": "cli, pod", "real": "etcd"}}"#;
        let read = ReleaseMetadata::read(text).unwrap();
        assert_eq!((read.stand_ins.join(" "), read.real.as_str()), ("cli pod".to_owned(), "etcd"));
        let text = r#"{"kind": "cincinnati-metadata-v0", "version": "4.18.1", "metadata": {"real": "etcd"}}"#;
        assert_eq!(ReleaseMetadata::read(text).unwrap().real, "");
    }

    #[test]
    fn a_real_one_reads() {
        let text = r#"{"kind": "cincinnati-metadata-v0", "version": "4.18.1", "previous": ["4.17.11"],
                       "metadata": {"url": "https://access.redhat.com/errata/RHSA-2024:6122"}}"#;
        let read = ReleaseMetadata::read(text).unwrap();
        assert_eq!(
            read,
            ReleaseMetadata {
                version: "4.18.1".to_owned(),
                is_multi: false,
                is_sample: false,
                stand_ins: Vec::new(),
                real: String::new()
            }
        );
    }

    #[test]
    fn wrong_kind_old_version_and_odd_architecture_are_all_told() {
        let text = r#"{"kind": "x", "version": "4.17.1", "metadata": {"release.openshift.io/architecture": "amd64"}}"#;
        let texts: Vec<_> =
            ReleaseMetadata::read(text).unwrap_err().iter().map(ToString::to_string).collect();
        assert_eq!(
            texts,
            [
                "kind is \"x\", expected cincinnati-metadata-v0",
                "release 4.17.1 is too old: 4.18 is the oldest one supported",
                "metadata[release.openshift.io/architecture] is \"amd64\", expected multi",
            ]
        );
    }
}
