//! The images of a release that a cluster will run: those that its manifests name, but for manifests that the cluster does
//! not get.

use std::collections::{BTreeMap, BTreeSet};

use hardway_assets::release_payload::{InclusionRules, ManifestHead};

use crate::documents::documents;
use crate::release_image::FetchedRelease;

/// Which images of a release are for a cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReleaseImages {
    /// By name of the component.
    pub run: Vec<ComponentImage>,
    /// Names of those that no manifest of this cluster mentions.
    pub left_out: Vec<String>,
    /// ClusterImagePolicies and ImagePolicies of the release that this cluster gets, each with its file.
    pub policies: Vec<(String, String)>,
}

/// An image of a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComponentImage {
    /// The tag in `image-references`, or `release`.
    pub name: String,
    /// By digest.
    pub pull_spec: String,
    /// Objects that mention it, such as `Deployment openshift-etcd-operator/etcd-operator`; empty where that is not known.
    pub users: Vec<String>,
    /// Whether nothing but ImageStreams mention it: it is pulled when somebody asks for it.
    pub is_on_demand: bool,
}

/// What the bootstrap host runs, whatever the manifests say.
pub const BOOTSTRAP_IMAGES: [&str; 10] = [
    "cli",
    "cluster-config-api",
    "cluster-kube-apiserver-operator",
    "cluster-policy-controller",
    "etcd",
    "hyperkube",
    "machine-config-operator",
    "pod",
    "rhel-coreos",
    "stream-coreos",
];

impl ReleaseImages {
    /// Those of a release that was fetched, for a cluster of these rules.
    pub fn of(
        release: &FetchedRelease,
        images: impl IntoIterator<Item = (String, String)>,
        rules: &InclusionRules,
    ) -> Self {
        let mut found = Self::default();
        let mut users: BTreeMap<&str, Vec<(String, bool)>> = BTreeMap::new();
        let images: BTreeMap<String, String> = images.into_iter().collect();
        let mut by_digest: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (name, pull_spec) in &images {
            digests(pull_spec).for_each(|digest| by_digest.entry(digest).or_default().push(name));
        }
        let texts = release.files.iter().filter(|(name, _)| is_manifest(name));
        for (file, text) in texts.filter_map(|(name, bytes)| Some((name, std::str::from_utf8(bytes).ok()?))) {
            for (_, document) in documents(text) {
                // What cannot be read is not left out: it may well be run.
                let head = ManifestHead::of(document).unwrap_or_default();
                if !head.kind.is_empty() && rules.exclusion(&head).is_some() {
                    continue;
                }
                if matches!(head.kind.as_str(), "ClusterImagePolicy" | "ImagePolicy") {
                    found.policies.push((file.clone(), document.to_owned()));
                }
                let names: BTreeSet<&str> =
                    digests(document).filter_map(|digest| by_digest.get(digest)).flatten().copied().collect();
                for name in names {
                    users.entry(name).or_default().push((shown(&head), head.kind == "ImageStream"));
                }
            }
        }
        for (name, pull_spec) in &images {
            let of_name = users.remove(name.as_str()).unwrap_or_default();
            if of_name.is_empty() && !BOOTSTRAP_IMAGES.contains(&name.as_str()) {
                found.left_out.push(name.clone());
                continue;
            }
            let is_on_demand =
                !BOOTSTRAP_IMAGES.contains(&name.as_str()) && of_name.iter().all(|(_, is_stream)| *is_stream);
            let users = of_name.into_iter().map(|(user, _)| user).collect();
            found.run.push(ComponentImage {
                name: name.clone(),
                pull_spec: pull_spec.clone(),
                users,
                is_on_demand,
            });
        }
        found
    }

    /// All images of a release whose manifests are not at hand.
    pub fn all(images: impl IntoIterator<Item = (String, String)>) -> Self {
        let all =
            |(name, pull_spec)| ComponentImage { name, pull_spec, users: Vec::new(), is_on_demand: false };
        Self { run: images.into_iter().map(all).collect(), ..Self::default() }
    }
}

/// The hexadecimal digits of every digest in a text. Building a release puts digests into its manifests wherever a name of
/// an image stood, also in arguments and environment variables (openshift/oc `pkg/cli/admin/release/image_mapper.go`).
fn digests(text: &str) -> impl Iterator<Item = &str> {
    text.split("@sha256:").skip(1).filter_map(|rest| rest.get(..64))
}

fn shown(head: &ManifestHead) -> String {
    match head.namespace.as_str() {
        "" => format!("{} {}", head.kind, head.name),
        namespace => format!("{} {namespace}/{}", head.kind, head.name),
    }
}

fn is_manifest(name: &str) -> bool {
    [".yaml", ".yml", ".json"].iter().any(|end| name.ends_with(end))
}
