//! A fetched release as the payload that assets are made from.

use std::borrow::Cow;
use std::collections::BTreeMap;

use hardway_assets::release_payload::ReleasePayload;

use crate::folder_error::ReleaseError;
use crate::media::is_boot_images;
use crate::payload_reader::Reader;
use crate::release_files::InMemory;
use crate::release_image::FetchedRelease;

/// The payload, or everything that is wrong with the release. Needs [`crate::Contents::Payload`].
pub fn payload(release: &FetchedRelease) -> Result<ReleasePayload, ReleaseError> {
    let mut files: BTreeMap<String, Cow<'_, [u8]>> =
        release.files.iter().map(|(name, bytes)| (name.clone(), Cow::Borrowed(&bytes[..]))).collect();
    // The other files there are templates, which the operator fills in for itself.
    let crds = release.own_manifests.iter().filter(|(name, _)| name.ends_with(".crd.yaml"));
    files.extend(crds.map(|(name, bytes)| (format!("manifests/{name}"), Cow::Borrowed(&bytes[..]))));
    // Not what an image holds: the folder reader's way of being told.
    files.remove("release-image");
    files.insert("release-architecture".to_owned(), Cow::Borrowed(release.architecture.as_bytes()));
    let image = release.image.to_string();
    Reader::new(&InMemory(files)).read(Some(&image)).map_err(|faults| ReleaseError { image, faults })
}

impl FetchedRelease {
    /// The ConfigMap `coreos-bootimages` as it stands in the release: where boot images are and their checksums
    /// (installer `hack/build-coreos-manifest.go`).
    pub fn boot_images(&self) -> Option<&str> {
        let texts = self.files.iter().filter(|(name, _)| name.contains("bootimages"));
        texts.filter_map(|(_, bytes)| std::str::from_utf8(bytes).ok()).find(|text| is_boot_images(text))
    }
}
