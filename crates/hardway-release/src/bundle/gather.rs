//! What a release's images are made of: every manifest and every blob, before any layer is fetched.

use std::sync::Arc;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use super::contents::BundledImage;
use super::error::BundleError;
use crate::carried_images::{CarriedImageError, Copied, signature_tag};
use crate::pull_spec::PullSpec;
use crate::registry::{Descriptor, Manifest, RegistryError, Repository};
use crate::release_image::{FetchOptions, find};

/// One image with everything below it.
pub(super) struct GatheredImage {
    /// It, and its signature.
    pub(super) named: Vec<BundledImage>,
    /// Every manifest, and what it is of.
    pub(super) manifests: Vec<(Manifest, String)>,
    /// Every blob, and what it is of.
    pub(super) blobs: Vec<(Descriptor, String)>,
    /// Where the blobs are.
    pub(super) from: Arc<Repository>,
}

/// All images, in their order.
pub(super) async fn gather(
    images: &[Copied],
    options: &FetchOptions,
) -> Result<Vec<GatheredImage>, BundleError> {
    let gathered = stream::iter(images).map(|image| async {
        let gathered = gather_one(image, options).await;
        gathered.map_err(|error| BundleError::Images(CarriedImageError::of(&image.name, error)))
    });
    gathered.buffered(options.connection.parallel.max(1)).try_collect().await
}

async fn gather_one(copied: &Copied, options: &FetchOptions) -> Result<GatheredImage, RegistryError> {
    let (from, place, manifest) = find(&copied.image, options).await?;
    let Copied { name, tag, .. } = copied;
    let source = copied.image.name();
    let mut gathered = GatheredImage {
        named: vec![named(&manifest, name, tag, &source)],
        manifests: Vec::new(),
        blobs: Vec::new(),
        from: Arc::new(from),
    };
    for child in manifest.children() {
        let child = gathered.from.manifest(&place.at(&child.digest), &options.cache).await?;
        gathered.add(child, name);
    }
    let digest = manifest.digest.clone();
    gathered.add(manifest, name);
    let tag = signature_tag(&digest);
    let beside = PullSpec { tag: Some(tag.clone()), digest: None, ..place };
    if let Some(signature) = gathered.from.manifest_if_any(&beside, &options.cache).await? {
        let name = format!("signature of {name}");
        gathered.named.push(named(&signature, &name, &tag, &source));
        gathered.add(signature, &name);
    }
    Ok(gathered)
}

impl GatheredImage {
    fn add(&mut self, manifest: Manifest, name: &str) {
        for (i, blob) in manifest.blobs().enumerate() {
            let of = if i == 0 { format!("config of {name}") } else { format!("layer {i} of {name}") };
            self.blobs.push((blob.clone(), of));
        }
        self.manifests.push((manifest, format!("manifest of {name}")));
    }
}

fn named(manifest: &Manifest, name: &str, tag: &str, source: &str) -> BundledImage {
    BundledImage {
        name: name.to_owned(),
        source: source.to_owned(),
        tag: tag.to_owned(),
        digest: manifest.digest.clone(),
        media_type: manifest.media_type.clone(),
        size: manifest.bytes.len() as u64,
    }
}
