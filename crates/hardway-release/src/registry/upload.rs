//! Copying blobs and manifests to a registry.

use std::io::SeekFrom;
use std::path::PathBuf;

use futures_util::stream;
use oci_client::secrets::RegistryAuth;
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _};

use super::{Descriptor, Manifest, RegistryError, Repository, reference};
use crate::pull_spec::PullSpec;

/// How much of a file is read at a time.
const CHUNK: usize = 1 << 18;

/// Where the bytes of a blob are: a file, or a part of one.
#[derive(Clone, Debug)]
pub(crate) struct BlobFile {
    pub(crate) path: PathBuf,
    pub(crate) offset: u64,
}

impl BlobFile {
    /// All of a file.
    pub(crate) fn whole(path: PathBuf) -> Self {
        Self { path, offset: 0 }
    }
}

impl Repository {
    /// Whether the blob is there already.
    pub(crate) async fn has_blob(&self, blob: &Descriptor) -> Result<bool, RegistryError> {
        let image = self.place.at(&blob.digest);
        let (reference, digest) = (reference(&image), blob.digest.to_string());
        let asked = self.asked(&image, Some(&blob.digest));
        let ask = || self.identified(asked, || self.client.blob_exists(&reference, &digest));
        match self.connection.retry.run(ask).await {
            Err(RegistryError::NoSuchBlob { .. } | RegistryError::NoSuchRepository { .. }) => Ok(false),
            answer => answer,
        }
    }

    /// Uploads a blob from a file, unless it is there.
    pub(crate) async fn push_blob(&self, blob: &Descriptor, from: &BlobFile) -> Result<bool, RegistryError> {
        if self.has_blob(blob).await? {
            return Ok(false);
        }
        let image = self.place.at(&blob.digest);
        let (reference, digest) = (reference(&image), blob.digest.to_string());
        let upload = || async {
            let mut file = tokio::fs::File::open(&from.path).await?;
            file.seek(SeekFrom::Start(from.offset)).await?;
            let chunks = stream::unfold(file.take(blob.size), |mut file| async move {
                let mut chunk = vec![0; CHUNK];
                match file.read(&mut chunk).await {
                    Ok(0) => None,
                    Ok(n) => {
                        chunk.truncate(n);
                        Some((Ok(chunk.into()), file))
                    }
                    Err(error) => Some((Err(error.into()), file)),
                }
            });
            self.client.push_blob_stream(&reference, chunks, &digest, Some(blob.size)).await
        };
        let push = || self.identified(self.asked(&image, Some(&blob.digest)), upload);
        self.connection.retry.run(push).await?;
        Ok(true)
    }

    /// Uploads a manifest under a tag, or under its digest.
    pub(crate) async fn push_manifest(
        &self,
        manifest: &Manifest,
        tag: Option<&str>,
    ) -> Result<(), RegistryError> {
        let image = match tag {
            Some(tag) => PullSpec { tag: Some(tag.to_owned()), digest: None, ..self.place.clone() },
            None => self.place.at(&manifest.digest),
        };
        let reference = reference(&image);
        let media_type = reqwest::header::HeaderValue::from_str(&manifest.media_type)
            .map_err(|error| RegistryError::Setting(error.to_string()))?;
        let push = || {
            let ask =
                || self.client.push_manifest_raw(&reference, manifest.bytes.clone(), media_type.clone());
            self.identified(self.asked(&image, None), ask)
        };
        self.connection.retry.run(push).await?;
        Ok(())
    }

    /// Whether a manifest is there already.
    pub(crate) async fn has_manifest(
        &self,
        manifest: &Manifest,
        tag: Option<&str>,
    ) -> Result<bool, RegistryError> {
        let image = match tag {
            Some(tag) => PullSpec { tag: Some(tag.to_owned()), digest: None, ..self.place.clone() },
            None => self.place.at(&manifest.digest),
        };
        let reference = reference(&image);
        let ask = || {
            self.identified(self.asked(&image, None), || {
                self.client.fetch_manifest_digest(&reference, &RegistryAuth::Anonymous)
            })
        };
        match self.connection.retry.run(ask).await {
            Ok(digest) => Ok(digest == manifest.digest.to_string()),
            Err(
                RegistryError::NoSuchTag { .. }
                | RegistryError::NoSuchDigest { .. }
                | RegistryError::NoSuchRepository { .. },
            ) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
