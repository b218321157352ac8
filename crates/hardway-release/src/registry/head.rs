//! Asking whether something is there without fetching it.

use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use serde_json::Value;

use super::get::{SMALL, body};
use super::image_manifest::{ACCEPTED, MANIFEST_LIMIT};
use super::translation::Asked;
use super::{Descriptor, Manifest, RegistryError, Repository, asked_wait, transport};
use crate::pull_spec::PullSpec;

/// What a registry says of a manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Head {
    /// One image.
    Image,
    /// A list of images, or something that only its content tells.
    ToBeRead,
}

impl Repository {
    /// Whether the registry answers at all. Who asks is not told.
    pub(crate) async fn greet(&self) -> Result<(), RegistryError> {
        let ask = || async {
            let answer = self.http.get(self.url("")).send().await;
            answer.map(drop).map_err(|error| transport(&self.place.registry(), &error))
        };
        self.connection.retry.run(ask).await
    }

    /// Whether a manifest is there. A digest that the registry names must be the one asked for.
    pub(crate) async fn head_manifest(&self, image: &PullSpec) -> Result<Head, RegistryError> {
        let accept = ACCEPTED.join(", ");
        let path = format!("manifests/{}", image.reference());
        let headers = match self.head(self.asked(image, None), &path, Some(&accept)).await {
            Ok(headers) => headers,
            // A registry, or a proxy before it, that knows no HEAD.
            Err(RegistryError::Server { status: 405 | 501, .. }) => return Ok(Head::ToBeRead),
            Err(error) => return Err(error),
        };
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        if let (Some(expected), said) = (&image.digest, text("docker-content-digest"))
            && !said.is_empty()
            && said != expected.to_string()
        {
            let (what, found) = (format!("the manifest of {image}"), said.to_owned());
            return Err(RegistryError::DigestMismatch { what, expected: expected.clone(), found });
        }
        let kind = text("content-type").split(';').next().unwrap_or_default().trim().to_owned();
        Ok(if kind == ACCEPTED[2] || kind == ACCEPTED[3] { Head::Image } else { Head::ToBeRead })
    }

    /// Whether a blob of an image is there.
    pub(crate) async fn head_blob(&self, image: &PullSpec, blob: &Descriptor) -> Result<(), RegistryError> {
        self.head(self.asked(image, Some(&blob.digest)), &format!("blobs/{}", blob.digest), None)
            .await
            .map(drop)
    }

    /// A manifest as it is there now, past everything that is kept; its bytes must have the digest asked for.
    pub(crate) async fn manifest_there(&self, image: &PullSpec) -> Result<Manifest, RegistryError> {
        let bytes = self.connection.retry.run(|| self.ask_for_manifest(image)).await?;
        let manifest = Manifest::read(image, bytes)?;
        match image.digest.as_ref().filter(|digest| **digest != manifest.digest) {
            None => Ok(manifest),
            Some(expected) => {
                let (what, found) = (format!("the manifest of {image}"), manifest.digest.to_string());
                Err(RegistryError::DigestMismatch { what, expected: expected.clone(), found })
            }
        }
    }

    /// `linux/amd64`, as the config of an image says.
    pub(crate) async fn platform(
        &self,
        image: &PullSpec,
        config: &Descriptor,
    ) -> Result<String, RegistryError> {
        let what = || format!("the config of {image}");
        let ask = || async {
            let path = format!("blobs/{}", config.digest);
            let answer = self.get(self.asked(image, Some(&config.digest)), &path, |get| get).await?;
            body(answer, (MANIFEST_LIMIT as u64).max(SMALL), &self.place.registry(), what).await
        };
        let bytes = self.connection.retry.run(ask).await?;
        let json: Value = serde_json::from_slice(&bytes)
            .map_err(|error| RegistryError::Malformed { what: what(), detail: error.to_string() })?;
        let text =
            |key: &str| json[key].as_str().filter(|text| !text.is_empty()).unwrap_or("unknown").to_owned();
        Ok(format!("{}/{}", text("os"), text("architecture")))
    }

    async fn head(
        &self,
        asked: Asked<'_>,
        path: &str,
        accept: Option<&str>,
    ) -> Result<HeaderMap, RegistryError> {
        let url = self.url(&format!("{}/{path}", self.place.repository));
        let request = || match accept {
            Some(accept) => self.http.head(&url).header("accept", accept),
            None => self.http.head(&url),
        };
        let ask = || async {
            let had_token = self.is_identified.initialized();
            self.is_identified.get_or_try_init(|| self.identify(asked)).await?;
            let mut answer = self.send(request()).await?;
            if answer.status() == StatusCode::UNAUTHORIZED && had_token {
                self.identify(asked).await?;
                answer = self.send(request()).await?;
            }
            match answer.status().is_success() {
                true => Ok(answer.headers().clone()),
                // There is no body that would say more.
                false => Err(asked.status(answer.status().as_u16(), "").waiting(asked_wait(&answer))),
            }
        };
        self.connection.retry.run(ask).await
    }
}
