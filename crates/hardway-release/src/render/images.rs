//! Images that the operator's command looks up in `image-references`.

use hardway_assets::release_payload::{ReleasePayload, VersionContract};

use super::fault::{Problem, RenderFault};
use crate::pull_spec::is_by_digest;

/// The image both commands are in.
pub(super) const OPERATOR: &str = "machine-config-operator";
/// Those it stops without, in every version (MCO `cmd/machine-config-operator/bootstrap.go`).
const REQUIRED: [&str; 8] = [
    OPERATOR,
    "keepalived-ipfailover",
    "coredns",
    "baremetal-runtimecfg",
    "oauth-proxy",
    "kube-rbac-proxy",
    "pod",
    "haproxy-router",
];
const FILE: &str = "release/image-references";

/// Checks the release itself.
pub(super) fn check(release: &ReleasePayload, version: &VersionContract) -> Vec<RenderFault> {
    if release.is_sample {
        return vec![RenderFault::new("release/release-metadata", Problem::Sample)];
    }
    let mut faults = Vec::new();
    for name in required(version) {
        match release.images.get(name) {
            Err(_) => faults.push(RenderFault::new(FILE, Problem::MissingImage(name.to_owned()))),
            Ok(image) if name == OPERATOR && !is_by_digest(image) => {
                faults.push(RenderFault::new(FILE, not_by_digest(name, image)));
            }
            Ok(_) => {}
        }
    }
    if !is_by_digest(&release.image) {
        faults
            .push(RenderFault::new("release/release-image", not_by_digest("release image", &release.image)));
    }
    faults
}

/// The operator only warns about a missing node image, and then renders configs that name none: nodes cannot use them.
fn required(version: &VersionContract) -> Vec<&'static str> {
    let mut names = REQUIRED.to_vec();
    if version.node_render_reads_image_references() {
        names.push("docker-registry");
    }
    names.push(version.node_image_name());
    names
}

fn not_by_digest(name: &str, pull_spec: &str) -> Problem {
    Problem::NotByDigest { name: name.to_owned(), pull_spec: pull_spec.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hardway_assets::release_payload::sample;

    fn texts(release: &ReleasePayload, version: &str) -> Vec<String> {
        let version = VersionContract::new(version).unwrap();
        check(release, &version).iter().map(|fault| fault.problem.to_string()).collect()
    }

    #[test]
    fn every_tag_is_asked_for_by_version() {
        let mut release = sample();
        assert_eq!(texts(&release, "4.18.1"), [Problem::Sample.to_string()]);
        release.is_sample = false;
        assert!(texts(&release, "4.18.1").is_empty());
        let kept = ["coredns", "docker-registry", "rhel-coreos"];
        let images = release.images.clone();
        let without = |name: &str| {
            let all = images.iter().filter(|(other, _)| *other != name);
            all.map(|(name, image)| (name.to_owned(), image.to_owned())).collect()
        };
        for (name, version, expected) in [
            (kept[0], "4.18.1", 1),
            (kept[1], "4.18.1", 0),
            (kept[1], "4.21.0", 1),
            (kept[2], "4.18.1", 1),
            (kept[2], "4.18.0-okd-scos.3", 1),
        ] {
            release.images = without(name);
            assert_eq!(texts(&release, version).len(), expected, "{name} {version}");
        }
    }

    #[test]
    fn tags_are_no_digests() {
        let mut release = sample();
        release.is_sample = false;
        release.image = "quay.io/a/b:4.18.1".to_owned();
        assert_eq!(
            texts(&release, "4.18.1"),
            ["release image is \"quay.io/a/b:4.18.1\", which is not a pull spec by digest"]
        );
    }
}
