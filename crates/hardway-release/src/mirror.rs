//! Copying a release and all its component images to another registry, or to a folder that is carried there.
//!
//! Digests stay the same, so `image-references` and signatures stay valid; the cluster is told where to look by the
//! `imageDigestSources` that are returned. A copy that was broken off goes on: what is there already is not sent again.

use std::path::PathBuf;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use hardway_assets::install_config::ImageSource;

use crate::digest::Digest;
use crate::fault::ReleaseError;
use crate::image_layout::ImageLayout;
use crate::progress::{DownloadProgress, OfImage};
use crate::pull_spec::{PullSpec, PullSpecError};
use crate::registry::{Descriptor, Manifest, ManifestContent, RegistryError, Repository};
use crate::release_image::{FetchOptions, FetchedRelease, find};
use crate::release_info::release_info;

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
    /// It is not a release.
    #[error(transparent)]
    Release(#[from] ReleaseError),
    /// It names an image in a way that we do not know.
    #[error(transparent)]
    PullSpec(#[from] PullSpecError),
    /// An image could not be fetched or pushed.
    #[error("{name}: {error}")]
    Image {
        /// The tag in `image-references`, or `release`.
        name: String,
        /// Why.
        #[source]
        error: Box<RegistryError>,
    },
    /// The destination.
    #[error(transparent)]
    Destination(#[from] RegistryError),
}

/// One image to copy.
#[derive(Clone, Debug)]
pub(crate) struct Copied {
    /// The tag in `image-references`.
    pub(crate) name: String,
    pub(crate) image: PullSpec,
    /// The tag it gets, without which registries would throw it away.
    pub(crate) tag: String,
}

/// Copies a release. Image signatures that lie beside an image (sigstore's `sha256-….sig`) go with it.
pub async fn mirror(
    release: &FetchedRelease,
    to: &Destination,
    options: &FetchOptions,
    progress: &dyn DownloadProgress,
) -> Result<Mirrored, MirrorReleaseError> {
    let images = images(release)?;
    let target = Target::open(to, options)?;
    let copies = stream::iter(&images).map(|copied| async {
        let progress = OfImage { image: &copied.name, progress };
        let copy = copy(copied, &target, options, &progress).await;
        copy.map_err(|error| MirrorReleaseError::Image { name: copied.name.clone(), error: Box::new(error) })
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
    let layout = ImageLayout::open(from)?;
    let target = Repository::to_push(to, &options.connection)?;
    let entries = layout.entries()?;
    let mut copied = 0;
    for entry in &entries {
        let manifest = layout.manifest(to, &entry.digest)?;
        let progress = OfImage { image: &entry.tag, progress };
        if target.has_manifest(&manifest, Some(&entry.tag)).await? {
            continue;
        }
        for child in children(&manifest) {
            let child = layout.manifest(to, &child.digest)?;
            push_from(&layout, &target, &child, &progress).await?;
            target.push_manifest(&child, None).await?;
        }
        push_from(&layout, &target, &manifest, &progress).await?;
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
            detail: "it does not hold one mirrored release".to_owned(),
        }),
    }
}

async fn push_from(
    layout: &ImageLayout,
    target: &Repository,
    image: &Manifest,
    progress: &dyn DownloadProgress,
) -> Result<(), RegistryError> {
    for blob in blobs(image) {
        let name = blob.digest.to_string();
        match target.push_blob(blob, &layout.checked(blob)?).await? {
            true => progress.bytes(&name, blob.size, blob.size),
            false => progress.kept(&name, blob.size),
        }
    }
    Ok(())
}

/// The release and every component image, each once.
fn images(release: &FetchedRelease) -> Result<Vec<Copied>, MirrorReleaseError> {
    let info = release_info(release)?;
    let architecture = match (info.is_multi, info.architecture.as_str()) {
        (true, _) => "multi",
        (false, "amd64") => "x86_64",
        (false, "arm64") => "aarch64",
        (false, other) => other,
    };
    let tag = format!("{}-{architecture}", info.version.replace('+', "_"));
    let mut images =
        vec![Copied { name: "release".to_owned(), image: release.image.clone(), tag: tag.clone() }];
    for (name, image) in info.images.iter() {
        let image: PullSpec = image.parse()?;
        images.push(Copied { name: name.to_owned(), image, tag: format!("{tag}-{name}") });
    }
    Ok(images)
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
            Self::Repository(repository) => repository.push_blob(blob, from).await.map(|_| ()),
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
        for child in children(&manifest) {
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
    for blob in blobs(image) {
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

fn children(manifest: &Manifest) -> impl Iterator<Item = &Descriptor> {
    let list = match &manifest.content {
        ManifestContent::List(list) => list.as_slice(),
        ManifestContent::Image { .. } => &[],
    };
    list.iter().map(|entry| &entry.image)
}

fn blobs(manifest: &Manifest) -> impl Iterator<Item = &Descriptor> {
    let (config, layers) = match &manifest.content {
        ManifestContent::Image { config, layers } => (Some(config), layers.as_slice()),
        ManifestContent::List(_) => (None, &[][..]),
    };
    config.into_iter().chain(layers)
}

/// Where sigstore's tools put the signatures of an image.
fn signature_tag(digest: &Digest) -> String {
    format!("sha256-{}.sig", digest.hex())
}

/// Each source once, all with the same mirror.
fn sources(names: impl Iterator<Item = String>, mirror: &str) -> Vec<ImageSource> {
    let names: std::collections::BTreeSet<String> = names.collect();
    let source =
        |source| ImageSource { source, mirrors: vec![mirror.to_owned()], source_policy: String::new() };
    names.into_iter().map(source).collect()
}
