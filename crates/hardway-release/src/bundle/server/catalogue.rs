//! Which repository has which images, and which path leads to which other part.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::bundle::contents::{MEDIA, PROGRAM, README, SIGNATURES};
use crate::bundle::read::Extent;
use crate::bundle::shelf::Bundles;
use crate::digest::Digest;
use crate::pull_spec::PullSpec;

/// Made once; requests only look things up.
pub(super) struct Catalogue {
    bundles: Arc<Bundles>,
    /// By name, without the registry.
    pub(super) repositories: BTreeMap<String, ServedRepository>,
    /// Parts that are no images, by path.
    files: BTreeMap<String, Digest>,
}

#[derive(Default)]
pub(super) struct ServedRepository {
    pub(super) tags: BTreeMap<String, Digest>,
    /// With their media types.
    pub(super) manifests: BTreeMap<Digest, String>,
}

impl Catalogue {
    /// Images are where everybody names them, but for the registry.
    pub(super) fn of(bundles: Arc<Bundles>) -> Self {
        let mut repositories: BTreeMap<String, ServedRepository> = BTreeMap::new();
        for image in bundles.images() {
            let place: Result<PullSpec, _> = format!("{}@{}", image.source, image.digest).parse();
            // Both were read when the bundles were opened.
            let Ok(place) = place else { continue };
            let Ok(manifest) = bundles.manifest_of(&place, &image.digest) else { continue };
            let repository = repositories.entry(place.repository.clone()).or_default();
            for child in manifest.children() {
                if let Ok(child) = bundles.manifest_of(&place, &child.digest) {
                    repository.manifests.insert(child.digest, child.media_type);
                }
            }
            repository.tags.insert(image.tag.clone(), image.digest.clone());
            repository.manifests.insert(manifest.digest, manifest.media_type);
        }
        let parts = bundles.all().iter().flat_map(|bundle| {
            let contents = bundle.contents();
            contents.parts.iter().chain(&contents.elsewhere)
        });
        let is_file = |name: &str| {
            [README, PROGRAM].contains(&name)
                || [MEDIA, SIGNATURES].iter().any(|begin| name.starts_with(begin))
        };
        let mut files = BTreeMap::new();
        for part in parts.filter(|part| is_file(&part.name)) {
            files.entry(format!("/{}", part.name)).or_insert_with(|| part.digest.clone());
        }
        Self { bundles, repositories, files }
    }

    /// A blob that some repository's images need.
    pub(super) fn blob(&self, digest: &Digest) -> Option<Extent> {
        self.bundles.find(digest)
    }

    /// A boot image, a signature, the program.
    pub(super) fn file(&self, path: &str) -> Option<(&Digest, Extent)> {
        let digest = self.files.get(path)?;
        Some((digest, self.bundles.find(digest)?))
    }

    /// What is beside images, for `/`.
    pub(super) fn paths(&self) -> BTreeSet<&str> {
        self.files.keys().map(String::as_str).collect()
    }
}
