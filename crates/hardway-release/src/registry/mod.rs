//! Asking a registry for manifests and blobs.
//!
//! ```text
//! Repository         manifests and blobs of one repository            mod.rs, get.rs, head.rs, download.rs, upload.rs
//! RealmFault         who asks, and whom that is told                  identification.rs, token_server.rs, realm.rs
//! Connection         credentials, trust, proxy, patience              connection.rs, retry.rs
//! RegistryError      everything that goes wrong, with its fix         error.rs, translation.rs
//! Manifest           images and lists of images                       image_manifest.rs
//! ```
//!
//! All that is known of the crate `oci-client` is in this folder. It uploads. What it does not do as needed: telling authentication
//! errors (it goes on without credentials), asking whether a token server may have a password, credentials by namespace (it keeps one
//! per registry), identity tokens, bodies that have no end, retries, and checking what was resumed.

mod connection;
mod download;
mod error;
mod get;
mod head;
mod identification;
mod image_manifest;
mod realm;
mod retry;
mod token_server;
mod translation;
mod upload;

pub use connection::{Connection, Proxy, Roots};
pub use error::{RegistryError, RegistryUser};
pub(crate) use get::body;
pub(crate) use head::Head;
pub use image_manifest::Descriptor;
pub(crate) use image_manifest::{DOCKER_IMAGE, DOCKER_LIST, Manifest, ManifestContent, OCI_INDEX, choose};
pub use realm::RealmFault;
pub(crate) use retry::asked_wait;
pub use retry::{RealSleeper, Retry, Sleeper, Tell};
use translation::Asked;
pub(crate) use translation::transport;
pub(crate) use upload::BlobFile;

use oci_client::errors::OciDistributionError;
use oci_client::{Client, Reference, RegistryOperation};
use serde_json::Value;
use tokio::sync::{OnceCell, RwLock};

use hardway_base::Secret;
use hardway_base::redaction::without_passwords;

use crate::blob_cache::BlobCache;
use crate::credentials::Credential;
use crate::digest::Digest;
use crate::pull_spec::PullSpec;
use image_manifest::{ACCEPTED, MANIFEST_LIMIT};

/// One repository of one registry. Has its own client because credentials may differ by repository.
pub(crate) struct Repository {
    /// Tag and digest of it mean nothing.
    place: PullSpec,
    connection: Connection,
    client: Client,
    http: reqwest::Client,
    /// Follows no redirects.
    careful: reqwest::Client,
    identity: RegistryUser,
    credential: Option<Credential>,
    is_identified: OnceCell<()>,
    /// The header that requests go with.
    authorization: RwLock<Option<Secret>>,
    operation: RegistryOperation,
}

impl Repository {
    /// Prepares to pull; nothing is asked yet.
    pub(crate) fn to_pull(place: &PullSpec, connection: &Connection) -> Result<Self, RegistryError> {
        Self::new(place, connection, RegistryOperation::Pull)
    }

    /// Prepares to push.
    pub(crate) fn to_push(place: &PullSpec, connection: &Connection) -> Result<Self, RegistryError> {
        Self::new(place, connection, RegistryOperation::Push)
    }

    fn new(
        place: &PullSpec,
        connection: &Connection,
        operation: RegistryOperation,
    ) -> Result<Self, RegistryError> {
        let client = Client::try_from(connection.client_config()?)
            .map_err(|error| RegistryError::Setting(without_passwords(&error.to_string())))?;
        let found = connection.credentials.find(place);
        let identity = match found {
            None => RegistryUser::Nobody,
            Some((key, credential)) => {
                let user = match credential {
                    Credential::Password { user, .. } => user.clone(),
                    Credential::IdentityToken(_) => "<token>".to_owned(),
                };
                RegistryUser::Entry { key: key.to_owned(), user }
            }
        };
        Ok(Self {
            place: place.clone(),
            connection: connection.clone(),
            client,
            http: connection.http_client()?,
            careful: connection.http_client_without_redirects()?,
            identity,
            credential: found.map(|(_, credential)| credential.clone()),
            is_identified: OnceCell::new(),
            authorization: RwLock::new(None),
            operation,
        })
    }

    /// `registry/repository`.
    pub(crate) fn name(&self) -> String {
        self.place.name()
    }

    /// A manifest by tag or digest. What is asked for by digest may come from the cache, and goes there.
    pub(crate) async fn manifest(
        &self,
        image: &PullSpec,
        cache: &BlobCache,
    ) -> Result<Manifest, RegistryError> {
        if let Some(digest) = &image.digest
            && let Some(bytes) = cache.bytes(digest)?
        {
            return Manifest::read(image, bytes);
        }
        let bytes = self.connection.retry.run(|| self.ask_for_manifest(image)).await;
        let bytes = match bytes {
            Err(RegistryError::NoSuchTag { image, .. }) => return Err(self.no_such_tag(&image).await),
            bytes => bytes?,
        };
        let manifest = Manifest::read(image, bytes)?;
        if let Some(expected) = image.digest.as_ref().filter(|digest| **digest != manifest.digest) {
            let (what, found) = (format!("the manifest of {image}"), manifest.digest.to_string());
            return Err(RegistryError::DigestMismatch { what, expected: expected.clone(), found });
        }
        cache.put(&manifest.digest, &manifest.bytes)?;
        Ok(manifest)
    }

    /// A manifest by tag that may be missing, as signatures may.
    pub(crate) async fn manifest_if_any(
        &self,
        image: &PullSpec,
        cache: &BlobCache,
    ) -> Result<Option<Manifest>, RegistryError> {
        match self.connection.retry.run(|| self.ask_for_manifest(image)).await {
            Ok(bytes) => {
                let manifest = Manifest::read(image, bytes)?;
                cache.put(&manifest.digest, &manifest.bytes)?;
                Ok(Some(manifest))
            }
            Err(RegistryError::NoSuchTag { .. } | RegistryError::NoSuchRepository { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn ask_for_manifest(&self, image: &PullSpec) -> Result<Vec<u8>, RegistryError> {
        let named = image.reference();
        let accept = ACCEPTED.join(", ");
        let answer = self
            .get(self.asked(image, None), &format!("manifests/{named}"), |get| get.header("accept", &accept))
            .await?;
        let what = || format!("the manifest of {image}");
        body(answer, MANIFEST_LIMIT as u64, &self.place.registry(), what).await
    }

    /// A registry says the same of a missing tag and of a missing repository; the list of tags tells them apart.
    async fn no_such_tag(&self, image: &PullSpec) -> RegistryError {
        match self.tags(image).await {
            Ok(tags) => RegistryError::NoSuchTag {
                image: Box::new(image.clone()),
                tags: near(image.tag.as_deref(), tags),
            },
            // A repository that was only pushed to by digest has no tags.
            Err(RegistryError::NoSuchRepository { image } | RegistryError::NoSuchTag { image, .. }) => {
                RegistryError::NoSuchRepository { image }
            }
            Err(_) => RegistryError::NoSuchTag { image: Box::new(image.clone()), tags: Vec::new() },
        }
    }

    /// All of them. A registry may give them in parts, each with the address of the next.
    pub(crate) async fn tags(&self, image: &PullSpec) -> Result<Vec<String>, RegistryError> {
        let mut path = "tags/list".to_owned();
        let mut tags = Vec::new();
        for _ in 0..MOST_PARTS {
            let answer = self.get(self.asked(image, None), &path, |get| get).await?;
            let next = answer.headers().get("link").and_then(|link| link.to_str().ok()).and_then(next_part);
            let what = || format!("the list of tags of {}", image.name());
            let bytes = body(answer, MANIFEST_LIMIT as u64, &self.place.registry(), what).await?;
            let list: Value = serde_json::from_slice(&bytes).unwrap_or_default();
            let part = list["tags"].as_array().into_iter().flatten();
            tags.extend(part.filter_map(|tag| tag.as_str().map(str::to_owned)));
            match next {
                Some(next) if tags.len() < MOST_TAGS => path = next,
                _ => break,
            }
        }
        Ok(tags)
    }

    /// Makes sure of a token first, so that a refused password is told as such; gets a new one where a registry says
    /// that the one before ran out.
    async fn identified<T, F>(&self, asked: Asked<'_>, mut ask: impl FnMut() -> F) -> Result<T, RegistryError>
    where
        F: Future<Output = Result<T, OciDistributionError>>,
    {
        let had_token = self.is_identified.initialized();
        self.is_identified.get_or_try_init(|| self.identify(asked)).await?;
        match ask().await {
            Err(OciDistributionError::UnauthorizedError { .. }) if had_token => {
                self.identify(asked).await?;
                ask().await.map_err(|error| asked.error(error))
            }
            Ok(value) => Ok(value),
            Err(error) => Err(self.with_wait(asked.error(error)).await),
        }
    }

    /// The client does not show the headers of an error, so a registry that has had enough is asked once more, for
    /// nothing but its `Retry-After`.
    async fn with_wait(&self, error: RegistryError) -> RegistryError {
        if !matches!(error, RegistryError::TooManyRequests { .. } | RegistryError::Server { status: 503, .. })
        {
            return error;
        }
        let wait = match self.http.head(self.url("")).send().await {
            Ok(answer) if matches!(answer.status().as_u16(), 429 | 503) => asked_wait(&answer),
            _ => None,
        };
        error.waiting(wait)
    }

    fn asked<'a>(&'a self, image: &'a PullSpec, blob: Option<&'a Digest>) -> Asked<'a> {
        Asked { image, identity: &self.identity, blob }
    }
}

/// As the client names images. A digest says more than a tag.
fn reference(image: &PullSpec) -> Reference {
    let (registry, repository) = (image.registry(), image.repository.clone());
    match (&image.digest, &image.tag) {
        (Some(digest), _) => Reference::with_digest(registry, repository, digest.to_string()),
        (None, tag) => {
            let tag = tag.clone().unwrap_or_else(|| "latest".to_owned());
            Reference::with_tag(registry, repository, tag)
        }
    }
}

/// Of a list of tags; a registry that never comes to an end is left there.
const MOST_PARTS: usize = 1000;
/// The same of one whose parts are large.
const MOST_TAGS: usize = 200_000;

/// `</v2/a/b/tags/list?last=1&n=50>; rel="next"`, as the path below the repository.
fn next_part(link: &str) -> Option<String> {
    let (url, rest) = link.trim().strip_prefix('<')?.split_once('>')?;
    let query = url.rsplit_once("/tags/list?").map(|(_, query)| query)?;
    rest.contains("next").then(|| format!("tags/list?{query}"))
}

/// Up to five tags that begin as the missing one does.
fn near(tag: Option<&str>, mut tags: Vec<String>) -> Vec<String> {
    let tag = tag.unwrap_or_default();
    let shared = |other: &str| tag.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    tags.retain(|other| shared(other) > 0);
    tags.sort_by_key(|other| std::cmp::Reverse(shared(other)));
    tags.truncate(5);
    tags
}
