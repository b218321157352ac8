//! Boot images: what machines are started from the first time, where it lies and how to know it is the right thing.
//!
//! The metadata is a CoreOS stream: as ConfigMap `coreos-bootimages` among the manifests of a release, or as the JSON
//! file of the installer (installer `hack/build-coreos-manifest.go`, `data/data/coreos`). Names of files changed from
//! release to release, so locations are read and never put together.

mod download;
mod sums;

pub(crate) use download::fetch_to_cache;
pub use download::{DownloadError, download};
pub use sums::{VerifyError, verify};

use std::io;
use std::path::Path;

use hardway_assets::release_payload::{ManifestHead, VersionContract};
use hardway_assets::yaml;
use serde_json::Value;

use crate::release_files::{ReleaseFiles as _, ReleaseFolder};

/// The boot images of one stream.
#[derive(Clone, Debug, PartialEq)]
pub struct BootImages {
    stream: Value,
}

/// What there is for an architecture and a format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Media {
    /// Files to download; more than one for PXE.
    Files(Vec<MediaFile>),
    /// An image that a cloud already has.
    Image(CloudImage),
}

/// A file to download.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediaFile {
    /// `disk`, or `kernel`, `initramfs`, `rootfs`.
    pub part: String,
    /// The URL.
    pub location: String,
    /// Of the file as it is downloaded.
    pub sha256: String,
    /// Of the file after it is unpacked, where it is packed.
    pub uncompressed_sha256: Option<String>,
}

/// An image by the name that a cloud knows it by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CloudImage {
    /// Such as `gcp`.
    pub platform: String,
    /// Such as `projects/rhcos-cloud/global/images/…`, an AMI, a pull spec.
    pub name: String,
}

/// Why there is no such image.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MediaError {
    /// The text is no stream.
    #[error("not boot-image metadata: {0}")]
    NotStream(String),
    /// No such architecture.
    #[error("no boot images for architecture {found:?}; available: {}", .there.join(", "))]
    Architecture {
        /// What was asked for.
        found: String,
        /// What there is.
        there: Vec<String>,
    },
    /// No such format.
    #[error("no boot image {found:?} for {architecture}; available: {}", .there.join(", "))]
    Format {
        /// What was asked for.
        found: String,
        /// For which architecture.
        architecture: String,
        /// What there is.
        there: Vec<String>,
    },
    /// No such stream.
    #[error("the release has no stream {found:?}; available: {}", .there.join(", "))]
    Stream {
        /// What was asked for.
        found: String,
        /// What there is.
        there: Vec<String>,
    },
}

/// Platforms whose formats go without the platform's name: metal, and virtual machines of one's own.
const OWN: [&str; 2] = ["metal", "qemu"];
/// The metadata's names of architectures, and Go's.
const ARCHITECTURES: [(&str, &str); 2] = [("x86_64", "amd64"), ("aarch64", "arm64")];

impl BootImages {
    /// Reads the ConfigMap or the stream itself. Of a ConfigMap with several streams, the default one of its release;
    /// what it calls its stream is that of RHEL 9 in every release.
    pub fn read(text: &str) -> Result<Self, MediaError> {
        let object = document(text)?;
        if object["kind"] != "ConfigMap" {
            return Self::new(object);
        }
        if let Some(version) = object["data"]["releaseVersion"].as_str()
            && let Ok(contract) = VersionContract::new(version)
            && let Ok(default) = Self::read_named(text, contract.default_os_image_stream())
        {
            return Ok(default);
        }
        let inner = object["data"]["stream"].as_str();
        Self::new(document(inner.ok_or_else(|| MediaError::NotStream("no data.stream".to_owned()))?)?)
    }

    /// Reads the stream of that name, such as `rhel-10`, of a ConfigMap that has several (4.22 and newer).
    pub fn read_named(text: &str, name: &str) -> Result<Self, MediaError> {
        let object = document(text)?;
        let mut streams = document(object["data"]["streams"].as_str().unwrap_or("{}"))?;
        match streams.get_mut(name) {
            Some(stream) => Self::new(stream.take()),
            None => Err(MediaError::Stream { found: name.to_owned(), there: keys(&streams) }),
        }
    }

    /// Such as `rhcos-4.18`.
    pub fn name(&self) -> &str {
        self.stream["stream"].as_str().unwrap_or_default()
    }

    /// Names of architectures, as the metadata has them.
    pub fn architectures(&self) -> Vec<String> {
        keys(&self.stream["architectures"])
    }

    /// The formats of an architecture, each a name that [`BootImages::find`] takes.
    pub fn formats(&self, architecture: &str) -> Result<Vec<String>, MediaError> {
        let images = self.architecture(architecture)?;
        let mut own = Vec::new();
        let mut others = Vec::new();
        for platform in keys(&images["artifacts"]) {
            for format in keys(&images["artifacts"][&platform]["formats"]) {
                if OWN.contains(&platform.as_str()) {
                    own.push(format);
                } else {
                    others.push(format!("{platform}/{format}"));
                }
            }
        }
        for platform in keys(&images["images"]) {
            let regions = keys(&images["images"][&platform]["regions"]);
            match regions.first() {
                None => own.push(platform),
                Some(region) => others.push(format!("{platform}/{region} and {} more", regions.len() - 1)),
            }
        }
        own.extend(others);
        Ok(own)
    }

    /// What there is for an architecture (`amd64` or `x86_64`) and a format: `iso`, `pxe`, `raw.gz`, `4k.raw.gz`,
    /// `qcow2.gz`, `gcp`, `PLATFORM/FORMAT`, or `aws/REGION`.
    pub fn find(&self, architecture: &str, format: &str) -> Result<Media, MediaError> {
        let images = self.architecture(architecture)?;
        let media = match format.split_once('/') {
            Some((platform, name)) => files(images, platform, name)
                .or_else(|| cloud_image(platform, &images["images"][platform]["regions"][name])),
            None => OWN
                .iter()
                .find_map(|platform| files(images, platform, format))
                .or_else(|| cloud_image(format, &images["images"][format])),
        };
        match media {
            Some(media) => Ok(media),
            None => Err(MediaError::Format {
                found: format.to_owned(),
                architecture: architecture.to_owned(),
                there: self.formats(architecture)?,
            }),
        }
    }

    fn new(stream: Value) -> Result<Self, MediaError> {
        if stream["architectures"].is_object() {
            return Ok(Self { stream });
        }
        Err(MediaError::NotStream("it has no architectures".to_owned()))
    }

    fn architecture(&self, name: &str) -> Result<&Value, MediaError> {
        let known = ARCHITECTURES.iter().find(|(_, go)| *go == name).map_or(name, |(theirs, _)| theirs);
        let there = || MediaError::Architecture { found: name.to_owned(), there: self.architectures() };
        self.stream["architectures"].get(known).ok_or_else(there)
    }
}

/// The metadata among the manifests of an extracted release.
pub fn boot_images_in(release: &Path) -> io::Result<Option<String>> {
    let files = ReleaseFolder(release);
    for folder in ["", "manifests/"] {
        for name in files.list(folder)?.iter().filter(|name| name.contains("bootimages")) {
            let text = files.read(&format!("{folder}{name}"))?.unwrap_or_default();
            if let Ok(text) = String::from_utf8(text.into_owned())
                && is_boot_images(&text)
            {
                return Ok(Some(text));
            }
        }
    }
    Ok(None)
}

/// Whether a manifest is the ConfigMap `coreos-bootimages`.
pub(crate) fn is_boot_images(manifest: &str) -> bool {
    ManifestHead::of(manifest).is_ok_and(|head| head.kind == "ConfigMap" && head.name == "coreos-bootimages")
}

/// The files of a format. One without location or sum does not count: it could not be checked.
fn files(images: &Value, platform: &str, format: &str) -> Option<Media> {
    let parts = images["artifacts"][platform]["formats"][format].as_object()?;
    let text = |part: &Value, field: &str| part[field].as_str().map(str::to_owned);
    let file = |(name, part): (&String, &Value)| {
        Some(MediaFile {
            part: name.clone(),
            location: text(part, "location")?,
            sha256: text(part, "sha256")?,
            uncompressed_sha256: text(part, "uncompressed-sha256"),
        })
    };
    parts.iter().map(file).collect::<Option<Vec<_>>>().map(Media::Files)
}

fn cloud_image(platform: &str, image: &Value) -> Option<Media> {
    let text = |field: &str| image[field].as_str().map(str::to_owned);
    let name = match (text("project"), text("name")) {
        (Some(project), Some(name)) => format!("projects/{project}/global/images/{name}"),
        _ => text("digest-ref").or_else(|| text("image")).or_else(|| text("url"))?,
    };
    Some(Media::Image(CloudImage { platform: platform.to_owned(), name }))
}

fn document(text: &str) -> Result<Value, MediaError> {
    // A stream is JSON of some 50 KB; the ConfigMap around it is YAML.
    serde_json::from_str(text).or_else(|_| {
        let first = |errors: Vec<yaml::SyntaxError>| errors.into_iter().next().map(|error| error.message);
        let node =
            yaml::read(text).map_err(|errors| MediaError::NotStream(first(errors).unwrap_or_default()))?;
        Ok(node.to_json())
    })
}

fn keys(object: &Value) -> Vec<String> {
    object.as_object().into_iter().flatten().map(|(key, _)| key.clone()).collect()
}

#[cfg(test)]
mod tests;
