//! Several bundles as one: what one leaves out is in another.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::contents::BundledImage;
use super::error::BundleError;
use super::read::{Bundle, Extent};
use crate::carried_images::{CarriedImageError, CarriedImages};
use crate::digest::Digest;
use crate::image_layout::LayoutEntry;
use crate::progress::DownloadProgress;
use crate::pull_spec::PullSpec;
use crate::registry::{BlobFile, Descriptor, Manifest, RegistryError};

/// Bundles with every image in them whole.
#[derive(Debug)]
pub struct Bundles {
    all: Vec<Bundle>,
    /// Bundle and part.
    by_digest: BTreeMap<Digest, (usize, usize)>,
}

impl Bundles {
    /// Opens the files; at least one. All that their images need must be in one of them.
    ///
    /// # Errors
    /// When one of them is damaged, or lacks what is in no other.
    pub fn open(paths: &[PathBuf]) -> Result<Self, BundleError> {
        let all: Vec<Bundle> = paths.iter().map(|path| Bundle::open(path)).collect::<Result<_, _>>()?;
        let mut by_digest = BTreeMap::new();
        for (i, bundle) in all.iter().enumerate() {
            for (j, part) in bundle.contents().parts.iter().enumerate() {
                by_digest.entry(part.digest.clone()).or_insert((i, j));
            }
        }
        let bundles = Self { all, by_digest };
        bundles.nothing_is_elsewhere()?;
        bundles.images_are_whole()?;
        Ok(bundles)
    }

    /// Each of them.
    pub fn all(&self) -> &[Bundle] {
        &self.all
    }

    /// The one named first.
    pub fn first(&self) -> &Bundle {
        &self.all[0]
    }

    /// Reads all files and compares every part with its digest.
    ///
    /// # Errors
    /// At the first part that is not what the list says.
    pub fn check(&self, progress: &dyn DownloadProgress) -> Result<(), BundleError> {
        self.all.iter().try_for_each(|bundle| bundle.check(progress))
    }

    /// Images of all of them, each once.
    pub fn images(&self) -> Vec<&BundledImage> {
        let mut images: Vec<&BundledImage> = Vec::new();
        for image in self.all.iter().flat_map(|bundle| &bundle.contents().images) {
            if !images.contains(&image) {
                images.push(image);
            }
        }
        images
    }

    /// Puts the signatures of the releases below a folder, as a signature store has them.
    ///
    /// # Errors
    /// When a file cannot be written, or a signature is damaged.
    pub fn write_signatures(&self, folder: &std::path::Path) -> Result<usize, BundleError> {
        let mut count = 0;
        for bundle in &self.all {
            for (i, part) in bundle.contents().parts.iter().enumerate() {
                let Some((digest, name)) = signature_name(&part.name) else { continue };
                fs_err::create_dir_all(folder.join(digest))?;
                fs_err::write(folder.join(digest).join(name), bundle.bytes(i)?)?;
                count += 1;
            }
        }
        Ok(count)
    }

    /// Where a blob is.
    pub(crate) fn find(&self, digest: &Digest) -> Option<Extent> {
        self.by_digest.get(digest).map(|(bundle, part)| self.all[*bundle].extent(*part))
    }

    /// The bytes of a manifest.
    pub(crate) fn manifest_of(&self, image: &PullSpec, digest: &Digest) -> Result<Manifest, BundleError> {
        let (bundle, part) = self.by_digest.get(digest).ok_or_else(|| BundleError::Incomplete {
            image: image.to_string(),
            blob: format!("the manifest {digest}"),
        })?;
        let bytes = self.all[*bundle].bytes(*part)?;
        let named = |error| BundleError::Images(CarriedImageError::of(&image.to_string(), error));
        Manifest::read(&image.at(digest), bytes).map_err(named)
    }

    fn nothing_is_elsewhere(&self) -> Result<(), BundleError> {
        for bundle in &self.all {
            let contents = bundle.contents();
            let missing = contents.elsewhere.iter().find(|part| !self.by_digest.contains_key(&part.digest));
            if let Some(part) = missing {
                return Err(BundleError::Elsewhere {
                    path: bundle.path().to_owned(),
                    count: contents.elsewhere.len(),
                    part: part.shown(),
                    needs: contents.needs.clone(),
                });
            }
        }
        Ok(())
    }

    fn images_are_whole(&self) -> Result<(), BundleError> {
        for image in self.images() {
            let place: Result<PullSpec, _> = format!("{}@{}", image.source, image.digest).parse();
            let place = place.map_err(CarriedImageError::from)?;
            let manifest = self.manifest_of(&place, &image.digest)?;
            let mut manifests = vec![];
            for child in manifest.children() {
                manifests.push(self.manifest_of(&place, &child.digest)?);
            }
            manifests.push(manifest);
            for blob in manifests.iter().flat_map(Manifest::blobs) {
                let has = self.find(&blob.digest).is_some_and(|extent| extent.size == blob.size);
                if !has {
                    let (image, blob) = (image.name.clone(), format!("the blob {}", blob.digest));
                    return Err(BundleError::Incomplete { image, blob });
                }
            }
        }
        Ok(())
    }
}

impl CarriedImages for Bundles {
    fn entries(&self) -> Result<Vec<LayoutEntry>, RegistryError> {
        let entry = |image: &BundledImage| LayoutEntry {
            digest: image.digest.clone(),
            tag: image.tag.clone(),
            source: image.source.clone(),
        };
        Ok(self.images().into_iter().map(entry).collect())
    }

    fn manifest(&self, image: &PullSpec, digest: &Digest) -> Result<Manifest, RegistryError> {
        self.manifest_of(image, digest).map_err(unreadable)
    }

    fn blob(&self, blob: &Descriptor) -> Result<BlobFile, RegistryError> {
        let missing = || {
            let image = String::new();
            unreadable(BundleError::Incomplete { image, blob: blob.digest.to_string() })
        };
        let extent = self.find(&blob.digest).ok_or_else(missing)?;
        Ok(BlobFile { path: extent.path, offset: extent.offset })
    }
}

/// What was there when the files were opened.
fn unreadable(error: BundleError) -> RegistryError {
    RegistryError::File(std::io::Error::other(error))
}

/// `signatures/sha256=<hex>/signature-<n>`.
fn signature_name(part: &str) -> Option<(&str, &str)> {
    part.strip_prefix(super::contents::SIGNATURES)?.split_once('/').filter(|(_, name)| !name.contains('/'))
}
