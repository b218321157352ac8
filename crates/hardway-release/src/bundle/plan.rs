//! What a bundle will be: all of it is known before the first layer is fetched, because manifests say how large everything is.
//! So a run that was broken off goes on where it stopped, and the same release is the same bytes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};

use super::contents::{
    BundleContents, BundledImage, CONTENTS, MEDIA, NeededBundle, PROGRAM, Part, README, SIGNATURES,
};
use super::error::BundleError;
use super::gather::{GatheredImage, gather};
use super::member;
use super::read::Bundle;
use crate::aside::aside;
use crate::blob_cache::hash;
use crate::carried_images::{CarriedImageError, images_with};
use crate::digest::Digest;
use crate::image_layout::{LAYOUT, index, index_entry};
use crate::media::{MediaFile, fetch_to_cache};
use crate::progress::DownloadProgress;
use crate::pull_spec::PullSpec;
use crate::registry::{DOCKER_IMAGE, DOCKER_LIST, Descriptor, OCI_INDEX, Repository};
use crate::release_image::{FetchOptions, FetchedRelease};
use crate::release_info::release_info;
use crate::signature::{SignatureStore, signatures};

/// What is to be in a bundle beside the release and its images.
#[derive(Clone, Debug, Default)]
pub struct BundleWishes {
    /// The program, to be carried too.
    pub program: PathBuf,
    /// Its version.
    pub version: String,
    /// Where signatures of the release are looked for.
    pub signatures: Vec<SignatureStore>,
    /// Images that belong to no release, and are wanted on the other side all the same.
    pub others: Vec<PullSpec>,
    /// Boot images.
    pub media: Vec<MediaFile>,
    /// URLs to try first for boot images.
    pub media_mirrors: Vec<String>,
}

/// A bundle to be written.
pub struct BundlePlan {
    pub(super) contents: BundleContents,
    /// Of each part, in their order.
    pub(super) sources: Vec<PartSource>,
}

/// Where a part's bytes come from.
#[derive(Clone)]
pub(super) enum PartSource {
    Bytes(Arc<Vec<u8>>),
    File(PathBuf),
    Blob(Arc<Repository>, Descriptor),
}

impl BundlePlan {
    /// Asks for every manifest, and fetches signatures and boot images. Layers come when the bundle is written.
    ///
    /// # Errors
    /// When something is not there, or this is no release.
    pub async fn make(
        release: &FetchedRelease,
        wishes: &BundleWishes,
        options: &FetchOptions,
        progress: &dyn DownloadProgress,
    ) -> Result<Self, BundleError> {
        let info = release_info(release).map_err(CarriedImageError::from)?;
        let images = images_with(release, &wishes.others)?;
        let gathered = gather(&images, options).await?;
        let architecture = if info.is_multi { "multi".to_owned() } else { info.architecture.clone() };
        let mut plan = Self {
            contents: BundleContents::new(
                info.image.to_string(),
                info.version.clone(),
                architecture,
                &wishes.version,
            ),
            sources: Vec::new(),
        };
        plan.contents.images = gathered.iter().flat_map(|image| image.named.clone()).collect();
        plan.add_texts(&gathered, &info.architecture);
        plan.add_program(wishes).await?;
        plan.add_signatures(release, wishes, options).await?;
        plan.add_images(&gathered, &info.architecture);
        plan.add_media(wishes, options, progress).await?;
        Ok(plan)
    }

    /// Leaves out blobs and boot images that other bundles have. Whoever uses this one then needs those, too.
    pub fn leave_out(&mut self, have: &[Bundle]) {
        let has = |bundle: &Bundle, part: &Part| {
            bundle.contents().parts.iter().any(|other| other.digest == part.digest && other.size == part.size)
        };
        let mut used = BTreeSet::new();
        let parts = std::mem::take(&mut self.contents.parts);
        let sources = std::mem::take(&mut self.sources);
        for (part, source) in parts.into_iter().zip(sources) {
            match have.iter().position(|bundle| part.may_be_elsewhere() && has(bundle, &part)) {
                Some(bundle) => {
                    used.insert(bundle);
                    self.contents.elsewhere.push(part);
                }
                None => {
                    self.contents.parts.push(part);
                    self.sources.push(source);
                }
            }
        }
        let needed = |bundle: &Bundle| NeededBundle {
            id: bundle.id().clone(),
            version: bundle.contents().version.clone(),
            release: bundle.contents().release.clone(),
        };
        self.contents.needs = used.into_iter().map(|bundle| needed(&have[bundle])).collect();
    }

    /// What it will say about itself.
    pub fn contents(&self) -> &BundleContents {
        &self.contents
    }

    /// Of the file, in bytes.
    pub fn length(&self) -> u64 {
        let parts: u64 = self.contents.parts.iter().map(|part| member::length(part.size)).sum();
        let (head, _) = self.head();
        member::length(head.size) + parts + member::closing(&head.digest).len() as u64
    }

    /// Its first part, with which the file begins.
    pub(super) fn head(&self) -> (Part, Vec<u8>) {
        let json = self.contents.to_json();
        (Part::of_bytes(CONTENTS, &json, "the list of parts"), json)
    }

    fn add(&mut self, part: Part, source: PartSource) {
        self.contents.parts.push(part);
        self.sources.push(source);
    }

    fn add_bytes(&mut self, name: &str, bytes: Vec<u8>, of: &str) {
        self.add(Part::of_bytes(name, &bytes, of), PartSource::Bytes(Arc::new(bytes)));
    }

    fn add_texts(&mut self, gathered: &[GatheredImage], architecture: &str) {
        let readme = readme(&self.contents);
        self.add_bytes(README, readme.into_bytes(), "for whoever finds the file");
        self.add_bytes("oci-layout", LAYOUT.to_vec(), "mark of an OCI image layout");
        let entry = |image: &BundledImage| {
            let BundledImage { media_type, digest, size, tag, source, .. } = image;
            match readable(gathered, image, architecture) {
                Some(index) => index_entry(OCI_INDEX, &Digest::of(&index), index.len() as u64, tag, source),
                None => index_entry(media_type, digest, *size, tag, source),
            }
        };
        let entries: Vec<_> = self.contents.images.iter().map(entry).collect();
        self.add_bytes("index.json", index(&json!(entries)), "names of all images");
    }

    async fn add_program(&mut self, wishes: &BundleWishes) -> Result<(), BundleError> {
        let part = part_of_file(PROGRAM.to_owned(), &wishes.program, "this program").await?;
        self.add(part, PartSource::File(wishes.program.clone()));
        Ok(())
    }

    async fn add_signatures(
        &mut self,
        release: &FetchedRelease,
        wishes: &BundleWishes,
        options: &FetchOptions,
    ) -> Result<(), BundleError> {
        let Some(digest) = &release.image.digest else { return Ok(()) };
        let found = signatures(digest, &wishes.signatures, &options.connection).await?;
        for (n, bytes) in (1..).zip(found) {
            let name = format!("{SIGNATURES}sha256={}/signature-{n}", digest.hex());
            self.add_bytes(&name, bytes, "signature of the release");
        }
        Ok(())
    }

    /// Manifests first: whoever reads only the beginning knows all images.
    fn add_images(&mut self, gathered: &[GatheredImage], architecture: &str) {
        let mut known = BTreeSet::new();
        let mut is_new = |digest: &Digest| known.insert(digest.clone());
        for image in self.contents.images.clone() {
            let Some(index) = readable(gathered, &image, architecture) else { continue };
            let part = Part::blob(
                &Digest::of(&index),
                index.len() as u64,
                format!("{} for readers of OCI layouts", image.name),
            );
            if is_new(&part.digest) {
                self.add(part, PartSource::Bytes(Arc::new(index)));
            }
        }
        for (manifest, of) in gathered.iter().flat_map(|image| &image.manifests) {
            if is_new(&manifest.digest) {
                let part = Part::blob(&manifest.digest, manifest.bytes.len() as u64, of.clone());
                self.add(part, PartSource::Bytes(Arc::new(manifest.bytes.clone())));
            }
        }
        for image in gathered {
            for (blob, of) in image.blobs.iter().filter(|(blob, _)| is_new(&blob.digest)) {
                let part = Part::blob(&blob.digest, blob.size, of.clone());
                self.add(part, PartSource::Blob(image.from.clone(), blob.clone()));
            }
        }
    }

    async fn add_media(
        &mut self,
        wishes: &BundleWishes,
        options: &FetchOptions,
        progress: &dyn DownloadProgress,
    ) -> Result<(), BundleError> {
        for file in &wishes.media {
            let (connection, cache) = (&options.connection, &options.cache);
            let (name, path) =
                fetch_to_cache(file, &wishes.media_mirrors, connection, cache, progress).await?;
            let part =
                part_of_file(format!("{MEDIA}{name}"), &path, &format!("boot image, {}", file.part)).await?;
            part.check().map_err(|_| BundleError::Name(name))?;
            if !self.contents.parts.contains(&part) {
                self.add(part, PartSource::File(path));
            }
        }
        Ok(())
    }
}

async fn part_of_file(name: String, path: &Path, of: &str) -> Result<Part, BundleError> {
    let (path, of) = (path.to_owned(), of.to_owned());
    let part = aside(move || {
        let size = fs_err::metadata(&path)?.len();
        Ok(Part { name, size, digest: hash(&path)?, of })
    });
    Ok(part.await?)
}

/// An OCI index around an image of Docker's kind, of which most releases are made: skopeo finds nothing else by name in an OCI
/// layout. What is inside keeps its bytes, and its digest. Nothing for an image of OCI's own kind.
fn readable(gathered: &[GatheredImage], image: &BundledImage, architecture: &str) -> Option<Vec<u8>> {
    let mut manifests = gathered.iter().flat_map(|image| &image.manifests);
    let (manifest, _) = manifests.find(|(manifest, _)| manifest.digest == image.digest)?;
    let entries = match manifest.media_type.as_str() {
        DOCKER_LIST => serde_json::from_slice::<Value>(&manifest.bytes).ok()?["manifests"].take(),
        DOCKER_IMAGE => json!([{
            "mediaType": DOCKER_IMAGE,
            "digest": manifest.digest.to_string(),
            "size": manifest.bytes.len(),
            "platform": {"os": "linux", "architecture": architecture},
        }]),
        _ => return None,
    };
    Some(index(&entries))
}

fn readme(contents: &BundleContents) -> String {
    let BundleContents { release, version, architecture, .. } = contents;
    format!(
        "Everything to install {release}\n(version {version}, {architecture}) without internet access, written by \
         hardway.\n\nTake the program out of this file, and let it check the rest:\n\n  tar xf FILE hardway\n  ./hardway \
         release bundle --verify FILE\n\nThen either serve the file as a registry, or push it into one:\n\n  ./hardway release serve \
         FILE\n  ./hardway release mirror --from FILE --to REGISTRY/REPOSITORY\n\nhardway-bundle.json lists every part with \
         its size and digest. oci-layout, index.json and blobs are an OCI\nimage layout; skopeo reads it as \
         oci-archive:FILE:TAG.\n"
    )
}
