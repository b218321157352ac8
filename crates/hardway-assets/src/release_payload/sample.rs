//! The embedded sample release: everything a real one has, made up, so that every command works offline.
//!
//! Its digests name nothing that can be pulled, and its CRDs accept any content where the real ones check every field.
//! Image names, feature gates and the groups, kinds and scopes of the CRDs are those of 4.18.

use std::collections::BTreeMap;

use hardway_base::hex;
use sha2::{Digest as _, Sha256};

use super::sample_crds::sample_crds;
use super::{ComponentImages, FeatureGates, ReleasePayload, sample_nodes};

/// What stands for it where a pull spec would name a release.
pub const SAMPLE: &str = "sample";
/// The sample's version. No release of 4.18 has this patch level, so nobody mistakes the sample for one.
pub const SAMPLE_VERSION: &str = "4.18.99";
/// No such organisation has images; the name shows up in every file that mentions one.
const REPOSITORY: &str = "quay.io/hardway-sample";
/// The payload tags of 4.18.
const IMAGE_NAMES: &str = include_str!("../../sample-release/image-names.txt");
/// Gates and the first feature set that turns each on.
const FEATURE_GATES: &str = include_str!("../../sample-release/feature-gates.txt");
/// Each set turns on what the sets before it do; install-config writes the default one as nothing.
const FEATURE_SETS: [(&str, &str); 3] = [
    ("", "Default"),
    ("TechPreviewNoUpgrade", "TechPreviewNoUpgrade"),
    ("DevPreviewNoUpgrade", "DevPreviewNoUpgrade"),
];

/// The sample release. The same value every time.
///
/// ```
/// let sample = hardway_assets::release_payload::sample();
/// assert!(sample.is_sample && sample.images.get("etcd").is_ok());
/// ```
pub fn sample() -> ReleasePayload {
    let images: ComponentImages =
        IMAGE_NAMES.lines().map(|name| (name.to_owned(), pull_spec(name))).collect();
    let rendered = sample_nodes::rendered(&images, SAMPLE_VERSION).into_iter().collect();
    ReleasePayload {
        image: pull_spec("release"),
        version: SAMPLE_VERSION.to_owned(),
        architecture: "amd64".to_owned(),
        is_sample: true,
        stand_ins: Vec::new(),
        real: String::new(),
        images,
        crds: sample_crds(),
        feature_gates: feature_gates(),
        image_policies: Vec::new(),
        boot_images: None,
        rendered,
    }
}

/// A digest made from the name: unlike any other and the same in every run.
fn pull_spec(name: &str) -> String {
    let digest = hex::encode(Sha256::digest(name));
    format!("{REPOSITORY}/{name}@sha256:{digest}")
}

fn feature_gates() -> BTreeMap<String, FeatureGates> {
    let gates: Vec<(&str, Option<usize>)> = FEATURE_GATES
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once(' '))
        .map(|(gate, set)| (gate, FEATURE_SETS.iter().position(|(_, name)| *name == set)))
        .collect();
    let names = |keep: &dyn Fn(Option<usize>) -> bool| {
        gates.iter().filter(|(_, since)| keep(*since)).map(|(gate, _)| (*gate).to_owned()).collect()
    };
    FEATURE_SETS
        .iter()
        .enumerate()
        .map(|(i, (set, _))| {
            let is_on = |since: Option<usize>| since.is_some_and(|since| since <= i);
            let gates = FeatureGates { enabled: names(&is_on), disabled: names(&|since| !is_on(since)) };
            ((*set).to_owned(), gates)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release_payload::VersionContract;

    #[test]
    fn it_is_a_supported_release_and_says_that_it_is_made_up() {
        let payload = sample();
        assert!(payload.is_sample);
        VersionContract::new(&payload.version).unwrap().supports().unwrap();
        assert!(payload.images.iter().all(|(_, image)| image.starts_with("quay.io/hardway-sample/")));
        assert_eq!(payload, sample());
    }

    #[test]
    fn every_image_that_assets_ask_for_is_there() {
        let images = sample().images;
        for name in [
            "baremetal-runtimecfg",
            "cli",
            "cluster-bootstrap",
            "cluster-etcd-operator",
            "cluster-policy-controller",
            "coredns",
            "etcd",
            "haproxy-router",
            "hyperkube",
            "keepalived-ipfailover",
            "kube-proxy",
            "kube-rbac-proxy",
            "machine-config-operator",
            "oauth-proxy",
            "pod",
            "rhel-coreos",
            "rhel-coreos-extensions",
        ] {
            let image = images.get(name).unwrap();
            assert_eq!(image.split_once("@sha256:").unwrap().1.len(), 64, "{image}");
        }
    }

    /// The counts of openshift/api release-4.18 `payload-manifests/featuregates`.
    #[test]
    fn the_gates_are_those_of_4_18() {
        let sets = sample().feature_gates;
        let counts: Vec<_> =
            sets.iter().map(|(set, g)| (set.as_str(), g.enabled.len(), g.disabled.len())).collect();
        assert_eq!(counts, [("", 33, 52), ("DevPreviewNoUpgrade", 79, 6), ("TechPreviewNoUpgrade", 78, 7)]);
        for gates in sets.values() {
            assert!(gates.enabled.is_sorted() && gates.disabled.is_sorted());
        }
        assert!(sets[""].enabled.iter().any(|gate| gate == "ValidatingAdmissionPolicy"));
    }
}
