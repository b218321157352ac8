//! The images of a release on their way to another place: which they are, under which tag each travels, and what can be wrong
//! with one.

use crate::digest::Digest;
use crate::fault::ReleaseError;
use crate::image_layout::LayoutEntry;
use crate::pull_spec::{PullSpec, PullSpecError};
use crate::registry::{BlobFile, Descriptor, Manifest, RegistryError};
use crate::release_image::FetchedRelease;
use crate::release_info::release_info;

/// One image to copy.
#[derive(Clone, Debug)]
pub(crate) struct Copied {
    /// The tag in `image-references`.
    pub(crate) name: String,
    pub(crate) image: PullSpec,
    /// The tag it gets, without which registries would throw it away.
    pub(crate) tag: String,
}

/// Images on their way, with everything they need.
pub(crate) trait CarriedImages {
    /// Each with its tag.
    fn entries(&self) -> Result<Vec<LayoutEntry>, RegistryError>;

    /// A manifest, checked.
    fn manifest(&self, image: &PullSpec, digest: &Digest) -> Result<Manifest, RegistryError>;

    /// Where the bytes of a blob are, checked.
    fn blob(&self, blob: &Descriptor) -> Result<BlobFile, RegistryError>;
}

/// Why the images of a release cannot be carried.
#[derive(Debug, thiserror::Error)]
pub enum CarriedImageError {
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
}

impl CarriedImageError {
    pub(crate) fn of(name: &str, error: RegistryError) -> Self {
        Self::Image { name: name.to_owned(), error: Box::new(error) }
    }
}

/// What the release image itself is called among the others.
pub(crate) const RELEASE: &str = "release";

/// The release and every component image, each once.
pub(crate) fn images(release: &FetchedRelease) -> Result<Vec<Copied>, CarriedImageError> {
    let info = release_info(release)?;
    let architecture = match (info.is_multi, info.architecture.as_str()) {
        (true, _) => "multi",
        (false, "amd64") => "x86_64",
        (false, "arm64") => "aarch64",
        (false, other) => other,
    };
    let tag = format!("{}-{architecture}", info.version.replace('+', "_"));
    let mut images =
        vec![Copied { name: RELEASE.to_owned(), image: release.image.clone(), tag: tag.clone() }];
    for (name, image) in info.images.iter() {
        let image: PullSpec = image.parse()?;
        images.push(Copied { name: name.to_owned(), image, tag: format!("{tag}-{name}") });
    }
    Ok(images)
}

/// The same, and others. Their tags begin with the release's, as those of components do.
pub(crate) fn images_with(
    release: &FetchedRelease,
    others: &[PullSpec],
) -> Result<Vec<Copied>, CarriedImageError> {
    let mut all = images(release)?;
    let tag = all[0].tag.clone();
    for image in others {
        let is_same = |known: &Copied| {
            known.image.name() == image.name() && image.digest.is_some() && known.image.digest == image.digest
        };
        let name = image.to_string();
        let id = Digest::of(name.as_bytes());
        let copied = Copied { tag: format!("{tag}-image-{}", &id.hex()[..12]), image: image.clone(), name };
        if !all.iter().any(|known| known.tag == copied.tag || is_same(known)) {
            all.push(copied);
        }
    }
    Ok(all)
}

/// Where sigstore's tools put the signatures of an image.
pub(crate) fn signature_tag(digest: &Digest) -> String {
    format!("sha256-{}.sig", digest.hex())
}
