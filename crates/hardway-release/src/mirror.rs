//! Copying a release and all its component images to another registry, or to a folder that is carried there.
//!
//! Digests stay the same, so `image-references` and signatures stay valid; the cluster is told where to look by the
//! `imageDigestSources` that are returned. A copy that was broken off goes on: what is there already is not sent again.

use std::collections::BTreeSet;
use std::path::PathBuf;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use hardway_assets::install_config::ImageSource;

use crate::bundle::Bundles;
use crate::carried_images::{
    CarriedImageError, CarriedImages, Copied, RELEASE, images, images_with, signature_tag,
};
use crate::digest::Digest;
use crate::image_layout::{ImageLayout, LayoutEntry};
use crate::progress::{DownloadProgress, OfImage};
use crate::pull_spec::PullSpec;
use crate::registry::{BlobFile, Descriptor, Manifest, RegistryError, Repository};
use crate::release_image::{FetchOptions, FetchedRelease, find};

/// Where to copy to.
#[derive(Clone, Debug)]
pub enum Destination {
    /// One repository for all images.
    Repository(PullSpec),
    /// An OCI image layout.
    Folder(PathBuf),
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mirrored {
    /// Images, those of lists not counted one by one.
    pub images: usize,
    /// Images that were not there before.
    pub copied: usize,
    /// For the install-config; empty for a folder.
    pub image_digest_sources: Vec<ImageSource>,
}

/// Why a release was not copied whole. What was copied stays.
#[derive(Debug, thiserror::Error)]
pub enum MirrorReleaseError {
    /// The release, or one of its images.
    #[error(transparent)]
    Images(#[from] CarriedImageError),
    /// The destination.
    #[error(transparent)]
    Destination(#[from] RegistryError),
}

/// Copies a release. Image signatures that lie beside an image (sigstore's `sha256-….sig`) go with it.
pub async fn mirror(
    release: &FetchedRelease,
    to: &Destination,
    options: &FetchOptions,
    progress: &dyn DownloadProgress,
) -> Result<Mirrored, MirrorReleaseError> {
    copy_all(images(release)?, to, options, progress).await
}

/// The same with other images, which belong to no release.
pub async fn mirror_with(
    release: &FetchedRelease,
    others: &[PullSpec],
    to: &Destination,
    options: &FetchOptions,
    progress: &dyn DownloadProgress,
) -> Result<Mirrored, MirrorReleaseError> {
    copy_all(images_with(release, others)?, to, options, progress).await
}

/// The same with some of its components only; the release image itself is always among them. Names that it does not have are left out.
pub async fn mirror_some(
    release: &FetchedRelease,
    components: &BTreeSet<String>,
    to: &Destination,
    options: &FetchOptions,
    progress: &dyn DownloadProgress,
) -> Result<Mirrored, MirrorReleaseError> {
    let is_wanted = |copied: &Copied| copied.name == RELEASE || components.contains(&copied.name);
    let images = images(release)?.into_iter().filter(is_wanted).collect();
    copy_all(images, to, options, progress).await
}

async fn copy_all(
    images: Vec<Copied>,
    to: &Destination,
    options: &FetchOptions,
    progress: &dyn DownloadProgress,
) -> Result<Mirrored, MirrorReleaseError> {
    let target = Target::open(to, options)?;
    let copies = stream::iter(&images).map(|copied| async {
        let progress = OfImage { image: &copied.name, progress };
        let copy = copy(copied, &target, options, &progress).await;
        copy.map_err(|error| MirrorReleaseError::Images(CarriedImageError::of(&copied.name, error)))
    });
    let copies: Vec<bool> = copies.buffer_unordered(options.connection.parallel.max(1)).try_collect().await?;
    let sources = images.iter().map(|copied| copied.image.name());
    let copied = copies.iter().filter(|is_new| **is_new).count();
    Ok(Mirrored { images: images.len(), copied, image_digest_sources: target.sources(sources) })
}

/// Copies what [`mirror`] put into a folder to a registry.
pub async fn upload(
    from: &std::path::Path,
    to: &PullSpec,
    options: &FetchOptions,
    progress: &dyn DownloadProgress,
) -> Result<Mirrored, MirrorReleaseError> {
    push_all(&ImageLayout::open(from)?, to, options, progress).await
}

/// Copies all images of bundles to a registry.
pub async fn upload_bundles(
    from: &Bundles,
    to: &PullSpec,
    options: &FetchOptions,
    progress: &dyn DownloadProgress,
) -> Result<Mirrored, MirrorReleaseError> {
    push_all(from, to, options, progress).await
}

impl CarriedImages for ImageLayout {
    fn entries(&self) -> Result<Vec<LayoutEntry>, RegistryError> {
        Self::entries(self)
    }

    fn manifest(&self, image: &PullSpec, digest: &Digest) -> Result<Manifest, RegistryError> {
        Self::manifest(self, image, digest)
    }

    fn blob(&self, blob: &Descriptor) -> Result<BlobFile, RegistryError> {
        Ok(BlobFile::whole(self.checked(blob)?))
    }
}

async fn push_all(
    from: &impl CarriedImages,
    to: &PullSpec,
    options: &FetchOptions,
    progress: &dyn DownloadProgress,
) -> Result<Mirrored, MirrorReleaseError> {
    let target = Repository::to_push(to, &options.connection)?;
    let entries = from.entries()?;
    let mut copied = 0;
    for entry in &entries {
        let manifest = from.manifest(to, &entry.digest)?;
        let progress = OfImage { image: &entry.tag, progress };
        if target.has_manifest(&manifest, Some(&entry.tag)).await? {
            continue;
        }
        for child in manifest.children() {
            let child = from.manifest(to, &child.digest)?;
            push_from(from, &target, &child, &progress).await?;
            target.push_manifest(&child, None).await?;
        }
        push_from(from, &target, &manifest, &progress).await?;
        target.push_manifest(&manifest, Some(&entry.tag)).await?;
        copied += 1;
    }
    let sources = sources(entries.iter().map(|entry| entry.source.clone()), &to.name());
    Ok(Mirrored { images: entries.len(), copied, image_digest_sources: sources })
}

/// Tag and digest of the release in a folder that [`mirror`] made: the tags of all component images begin with its tag.
pub fn mirrored_release(from: &std::path::Path) -> Result<(String, Digest), RegistryError> {
    let entries = ImageLayout::open(from)?.entries()?;
    let images: Vec<_> = entries.iter().filter(|entry| !entry.tag.ends_with(".sig")).collect();
    let shortest = images.iter().min_by_key(|entry| entry.tag.len());
    match shortest.filter(|release| images.iter().all(|entry| entry.tag.starts_with(&release.tag))) {
        Some(release) => Ok((release.tag.clone(), release.digest.clone())),
        None => Err(RegistryError::Malformed {
            what: from.display().to_string(),
            detail: "it does not contain exactly one mirrored release".to_owned(),
        }),
    }
}

async fn push_from(
    from: &impl CarriedImages,
    target: &Repository,
    image: &Manifest,
    progress: &dyn DownloadProgress,
) -> Result<(), RegistryError> {
    for blob in image.blobs() {
        let name = blob.digest.to_string();
        match target.push_blob(blob, &from.blob(blob)?).await? {
            true => progress.bytes(&name, blob.size, blob.size),
            false => progress.kept(&name, blob.size),
        }
    }
    Ok(())
}

/// An open destination.
enum Target {
    Repository(Box<Repository>),
    Folder(ImageLayout),
}

impl Target {
    fn open(to: &Destination, options: &FetchOptions) -> Result<Self, RegistryError> {
        match to {
            Destination::Repository(place) => {
                Ok(Self::Repository(Box::new(Repository::to_push(place, &options.connection)?)))
            }
            Destination::Folder(folder) => Ok(Self::Folder(ImageLayout::create(folder)?)),
        }
    }

    async fn has(&self, manifest: &Manifest, tag: &str) -> Result<bool, RegistryError> {
        match self {
            Self::Repository(repository) => repository.has_manifest(manifest, Some(tag)).await,
            Self::Folder(layout) => Ok(layout.has(&manifest.digest, tag)?),
        }
    }

    async fn put_blob(&self, blob: &Descriptor, from: &std::path::Path) -> Result<(), RegistryError> {
        match self {
            Self::Repository(repository) => {
                repository.push_blob(blob, &BlobFile::whole(from.to_owned())).await.map(|_| ())
            }
            Self::Folder(layout) => Ok(layout.put_file(&blob.digest, from)?),
        }
    }

    /// With a tag for an image, without for one of a list.
    async fn put_manifest(
        &self,
        manifest: &Manifest,
        tag: Option<&str>,
        source: &str,
    ) -> Result<(), RegistryError> {
        match self {
            Self::Repository(repository) => repository.push_manifest(manifest, tag).await,
            Self::Folder(layout) => Ok(layout.put_manifest(manifest, tag, source)?),
        }
    }

    fn sources(&self, names: impl Iterator<Item = String>) -> Vec<ImageSource> {
        match self {
            Self::Repository(repository) => sources(names, &repository.name()),
            Self::Folder(_) => Vec::new(),
        }
    }
}

/// Copies one image with all its architectures; false where it was there.
async fn copy(
    copied: &Copied,
    target: &Target,
    options: &FetchOptions,
    progress: &dyn DownloadProgress,
) -> Result<bool, RegistryError> {
    let (from, place, manifest) = find(&copied.image, options).await?;
    let source = copied.image.name();
    let is_new = !target.has(&manifest, &copied.tag).await?;
    if is_new {
        for child in manifest.children() {
            let child = from.manifest(&place.at(&child.digest), &options.cache).await?;
            copy_blobs(&from, &child, target, options, progress).await?;
            target.put_manifest(&child, None, &source).await?;
        }
        copy_blobs(&from, &manifest, target, options, progress).await?;
        target.put_manifest(&manifest, Some(&copied.tag), &source).await?;
    }
    let signature = signature_tag(&manifest.digest);
    let there = PullSpec { tag: Some(signature.clone()), digest: None, ..place.clone() };
    if let Some(manifest) = from.manifest_if_any(&there, &options.cache).await?
        && !target.has(&manifest, &signature).await?
    {
        copy_blobs(&from, &manifest, target, options, progress).await?;
        target.put_manifest(&manifest, Some(&signature), &source).await?;
    }
    Ok(is_new)
}

async fn copy_blobs(
    from: &Repository,
    image: &Manifest,
    target: &Target,
    options: &FetchOptions,
    progress: &dyn DownloadProgress,
) -> Result<(), RegistryError> {
    for blob in image.blobs() {
        if let Target::Repository(repository) = target
            && repository.has_blob(blob).await?
        {
            progress.kept(&blob.digest.to_string(), blob.size);
            continue;
        }
        let path = from.blob(blob, &options.cache, progress).await?;
        target.put_blob(blob, &path).await?;
    }
    Ok(())
}

/// Each source once, all with the same mirror.
fn sources(names: impl Iterator<Item = String>, mirror: &str) -> Vec<ImageSource> {
    let names: BTreeSet<String> = names.collect();
    let source =
        |source| ImageSource { source, mirrors: vec![mirror.to_owned()], source_policy: String::new() };
    names.into_iter().map(source).collect()
}
