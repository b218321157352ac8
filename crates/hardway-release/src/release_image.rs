//! Fetching what a release image holds about itself.
//!
//! A release image is the cluster-version-operator's image with one layer on top that has only `release-manifests/`
//! (openshift/oc `pkg/cli/admin/release/new.go`). So the last layer is all that is fetched, a hundredth of the image,
//! unless the operator's own CRDs are asked for: those are in `manifests/` of a layer below.

use std::collections::BTreeMap;
use std::io::BufReader;
use std::path::PathBuf;

use hardway_assets::release_payload::ManifestHead;
use serde_json::Value;

use crate::archive::LayerLimits;
use crate::blob_cache::BlobCache;
use crate::digest::Digest;
use crate::layer::read_layer;
use crate::media::is_boot_images;
use crate::mirrors::Mirrors;
use crate::overlay::{LayerFiles, Overlay};
use crate::payload_manifests::REQUIRED_CRDS;
use crate::progress::DownloadProgress;
use crate::pull_spec::PullSpec;
use crate::registry::{Connection, Descriptor, Manifest, ManifestContent, RegistryError, Repository, choose};

/// What to fetch, from where and how.
#[derive(Clone, Debug)]
pub struct FetchOptions {
    /// How registries are reached.
    pub connection: Connection,
    /// Where blobs are kept.
    pub cache: BlobCache,
    /// Where else images may be.
    pub mirrors: Mirrors,
    /// Go's name of the architecture to take from a list of several.
    pub architecture: String,
    /// How much of the image.
    pub contents: Contents,
    /// How much of a layer is believed.
    pub limits: LayerLimits,
}

/// How much of a release image is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents {
    /// Image references, metadata and the operators' manifests: one layer.
    Manifests,
    /// Also the cluster-version-operator's own CRDs, which a payload needs: layers until they are found.
    Payload,
}

impl FetchOptions {
    /// Everything for a payload of `amd64`, with the given cache and nothing else set.
    pub fn new(cache: BlobCache) -> Self {
        Self {
            connection: Connection::default(),
            cache,
            mirrors: Mirrors::default(),
            architecture: "amd64".to_owned(),
            contents: Contents::Payload,
            limits: LayerLimits::default(),
        }
    }
}

/// A release as it came from a registry, not looked into yet.
#[derive(Clone, Debug)]
pub struct FetchedRelease {
    /// The release as everybody names it: as asked for, with the digest of the list if there is one, of the image if
    /// not. This is what the cluster-version-operator is given.
    pub image: PullSpec,
    /// Where it came from: a mirror, or the same.
    pub pulled_from: PullSpec,
    /// Of the image that was read.
    pub digest: Digest,
    /// Of the list it was chosen from.
    pub list_digest: Option<Digest>,
    /// Go's name of the image's architecture.
    pub architecture: String,
    /// `linux`.
    pub os: String,
    /// When the image was made, as it says.
    pub created: Option<String>,
    /// The files of `release-manifests/` by name.
    pub files: BTreeMap<String, Vec<u8>>,
    /// The files of `manifests/` by name, where asked for.
    pub own_manifests: BTreeMap<String, Vec<u8>>,
}

impl FetchedRelease {
    /// The ConfigMap `coreos-bootimages` as it stands in the release: where boot images are and their checksums
    /// (installer `hack/build-coreos-manifest.go`).
    pub fn boot_images(&self) -> Option<&str> {
        let texts = self.files.iter().filter(|(name, _)| name.contains("bootimages"));
        texts.filter_map(|(_, bytes)| std::str::from_utf8(bytes).ok()).find(|text| is_boot_images(text))
    }
}

const RELEASE_MANIFESTS: &str = "release-manifests/";
const OWN_MANIFESTS: &str = "manifests/";
const IMAGE_REFERENCES: &str = "release-manifests/image-references";

/// Fetches a release by tag or digest.
pub async fn fetch(
    image: &PullSpec,
    options: &FetchOptions,
    progress: &dyn DownloadProgress,
) -> Result<FetchedRelease, RegistryError> {
    let (repository, resolved) = resolve(image, options).await?;
    let files = release_files(&repository, &resolved, options, progress);
    let (files, config) = tokio::try_join!(files, config(&repository, &resolved, options, progress))?;
    let text = |key: &str| config[key].as_str().filter(|text| !text.is_empty());
    let top = resolved.list_digest.as_ref().unwrap_or(&resolved.digest);
    let (mut of_release, mut own) = (BTreeMap::new(), BTreeMap::new());
    for (path, bytes) in files {
        if let Some(name) = path.strip_prefix(RELEASE_MANIFESTS) {
            of_release.insert(name.to_owned(), bytes);
        } else if let Some(name) = path.strip_prefix(OWN_MANIFESTS) {
            own.insert(name.to_owned(), bytes);
        }
    }
    Ok(FetchedRelease {
        image: image.at(top),
        pulled_from: resolved.place.at(top),
        digest: resolved.digest,
        list_digest: resolved.list_digest,
        architecture: text("architecture").unwrap_or("amd64").to_owned(),
        os: text("os").unwrap_or("linux").to_owned(),
        created: text("created").map(str::to_owned),
        files: of_release,
        own_manifests: own,
    })
}

/// An image found in one of the places it may be in.
pub(crate) struct ResolvedImage {
    /// The mirror or source it is in.
    pub(crate) place: PullSpec,
    pub(crate) digest: Digest,
    pub(crate) list_digest: Option<Digest>,
    pub(crate) config: Descriptor,
    pub(crate) layers: Vec<Descriptor>,
}

/// The manifest of an image for the wanted architecture, from the first place that has it.
pub(crate) async fn resolve(
    image: &PullSpec,
    options: &FetchOptions,
) -> Result<(Repository, ResolvedImage), RegistryError> {
    let (repository, place, manifest) = find(image, options).await?;
    let (list_digest, manifest) = match &manifest.content {
        ManifestContent::Image { .. } => (None, manifest),
        ManifestContent::List(list) => {
            let chosen = place.at(&choose(image, list, &options.architecture)?.image.digest);
            (Some(manifest.digest.clone()), repository.manifest(&chosen, &options.cache).await?)
        }
    };
    let Manifest { digest, content: ManifestContent::Image { config, layers }, .. } = manifest else {
        let detail = "it is a list within a list".to_owned();
        return Err(RegistryError::Malformed { what: format!("the manifest of {image}"), detail });
    };
    Ok((repository, ResolvedImage { place, digest, list_digest, config, layers }))
}

/// The manifest of an image as it is, from the first place that has it.
pub(crate) async fn find(
    image: &PullSpec,
    options: &FetchOptions,
) -> Result<(Repository, PullSpec, Manifest), RegistryError> {
    let mut tried = Vec::new();
    for place in options.mirrors.candidates(image)? {
        let found = async {
            let repository = Repository::to_pull(&place, &options.connection)?;
            let manifest = repository.manifest(&place, &options.cache).await?;
            Ok((repository, manifest))
        };
        match found.await {
            Ok((repository, manifest)) => return Ok((repository, place, manifest)),
            Err(error) if RegistryError::is_of_one_place(&error) => tried.push((place.name(), error)),
            Err(error) => return Err(error),
        }
    }
    match tried.pop() {
        Some((_, error)) if tried.is_empty() => Err(error),
        last => {
            tried.extend(last);
            Err(RegistryError::Nowhere { image: Box::new(image.clone()), tried })
        }
    }
}

/// Layers from the top until all that is wanted was found.
async fn release_files(
    repository: &Repository,
    image: &ResolvedImage,
    options: &FetchOptions,
    progress: &dyn DownloadProgress,
) -> Result<BTreeMap<String, Vec<u8>>, RegistryError> {
    let mut overlay = Overlay::default();
    for layer in image.layers.iter().rev() {
        overlay.add_below(layer_files(repository, image, layer, options, progress).await?);
        let files = overlay.files();
        let is_enough = match options.contents {
            Contents::Manifests => true,
            Contents::Payload => has_own_crds(files),
        };
        if is_enough && files.contains_key(IMAGE_REFERENCES) {
            break;
        }
    }
    Ok(overlay.into_files())
}

async fn layer_files(
    repository: &Repository,
    image: &ResolvedImage,
    layer: &Descriptor,
    options: &FetchOptions,
    progress: &dyn DownloadProgress,
) -> Result<LayerFiles, RegistryError> {
    let path = repository.blob(layer, &options.cache, progress).await?;
    let limits = options.limits;
    let wanted: &[&str] = match options.contents {
        Contents::Manifests => &[RELEASE_MANIFESTS],
        Contents::Payload => &[RELEASE_MANIFESTS, OWN_MANIFESTS],
    };
    let read = open_layer(path, move |file| read_layer(file, wanted, limits)).await?;
    read.map_err(|error| RegistryError::Layer {
        what: format!("layer {} of {}", layer.digest, image.place.name()),
        error,
    })
}

/// Decompressing takes a while, so it is not done where downloads run.
pub(crate) async fn open_layer<T: Send + 'static>(
    path: PathBuf,
    read: impl FnOnce(BufReader<fs_err::File>) -> T + Send + 'static,
) -> Result<T, RegistryError> {
    let task = tokio::task::spawn_blocking(move || {
        Ok::<_, std::io::Error>(read(BufReader::with_capacity(1 << 18, fs_err::File::open(path)?)))
    });
    Ok(task.await.map_err(std::io::Error::other)??)
}

async fn config(
    repository: &Repository,
    image: &ResolvedImage,
    options: &FetchOptions,
    progress: &dyn DownloadProgress,
) -> Result<Value, RegistryError> {
    let malformed = |detail: String| RegistryError::Malformed {
        what: format!("the configuration of {}", image.place),
        detail,
    };
    if image.config.size > CONFIG_LIMIT {
        return Err(malformed("it is larger than any configuration".to_owned()));
    }
    let path = repository.blob(&image.config, &options.cache, progress).await?;
    serde_json::from_slice(&fs_err::read(path)?).map_err(|error| malformed(error.to_string()))
}

/// No image's configuration comes near this.
const CONFIG_LIMIT: u64 = 8 << 20;

fn has_own_crds(files: &BTreeMap<String, Vec<u8>>) -> bool {
    let own = files.iter().filter(|(path, _)| path.starts_with(OWN_MANIFESTS));
    let heads: Vec<_> = own
        .filter_map(|(_, bytes)| ManifestHead::of(std::str::from_utf8(bytes).ok()?).ok())
        .filter(ManifestHead::is_crd)
        .collect();
    REQUIRED_CRDS.iter().all(|crd| heads.iter().any(|head| head.name == *crd))
}
