//! Whether an image can be had, from each of the places it may be in. Nothing is kept, and nothing kept is believed.

use hardway_base::files::private_folder;

use crate::blob_cache::BlobCache;
use crate::digest::Digest;
use crate::pull_spec::PullSpec;
use crate::registry::{Connection, RegistryError, Repository};
use crate::release_image::FetchOptions;

/// One place, asked.
#[derive(Debug)]
pub struct ImagePlace {
    /// The mirror, or what the image itself names.
    pub place: PullSpec,
    /// Whether it is a mirror.
    pub is_mirror: bool,
    /// The digest of the manifest there.
    pub found: Result<Digest, RegistryError>,
}

/// Asks every place for the image's manifest. Mirrors of an image by tag are asked for what the tag points at; where that
/// cannot be told, they are not asked, as nobody will ask them.
///
/// # Errors
/// When the mirrors cannot be understood.
pub async fn look_for(image: &PullSpec, options: &FetchOptions) -> Result<Vec<ImagePlace>, RegistryError> {
    let mut seen = Vec::new();
    let mut image = image.clone();
    if image.digest.is_none() {
        let own = ask(&image, &image.name(), &options.connection).await;
        if let Ok(digest) = &own.found {
            image = image.at(digest);
        }
        seen.push(own);
    }
    if image.digest.is_some() {
        for place in options.mirrors.candidates(&image)? {
            if !seen.iter().any(|other: &ImagePlace| other.place.name() == place.name()) {
                seen.push(ask(&place, &image.name(), &options.connection).await);
            }
        }
    }
    Ok(seen)
}

/// The time that a registry's answer is dated with, as it stands there.
pub async fn date_of(place: &PullSpec, connection: &Connection) -> Option<String> {
    let registry = place.registry();
    let url = format!("{}://{registry}/v2/", connection.scheme(&registry));
    let answer = connection.http_client().ok()?.head(url).send().await.ok()?;
    Some(answer.headers().get("date")?.to_str().ok()?.to_owned())
}

async fn ask(place: &PullSpec, own: &str, connection: &Connection) -> ImagePlace {
    let found = async {
        // A manifest that was fetched before, from here or elsewhere, says nothing about this place today.
        let nothing = private_folder("hardway-image-")?;
        let repository = Repository::to_pull(place, connection)?;
        Ok(repository.manifest(place, &BlobCache::at(nothing.path())).await?.digest)
    };
    ImagePlace { place: place.clone(), is_mirror: place.name() != own, found: found.await }
}
