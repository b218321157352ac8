//! Blobs into the cache: resumed where they stopped, checked while they come.

use std::path::PathBuf;

use futures_util::StreamExt as _;
use oci_client::client::BlobResponse;

use super::translation::io_error;
use super::{Descriptor, RegistryError, Repository, reference};
use crate::blob_cache::{BlobCache, Claim, Partial};
use crate::progress::DownloadProgress;

impl Repository {
    /// The path of a blob in the cache; fetched if it is not there whole.
    pub(crate) async fn blob(
        &self,
        blob: &Descriptor,
        cache: &BlobCache,
        progress: &dyn DownloadProgress,
    ) -> Result<PathBuf, RegistryError> {
        match cache.claim(&blob.digest, Some(blob.size)).await? {
            Claim::Whole(path) => {
                progress.kept(&blob.digest.to_string(), blob.size);
                Ok(path)
            }
            Claim::ToFetch(reserved, mut partial) => {
                self.complete(blob, &mut partial, progress).await?;
                Ok(reserved.kept(partial).await?)
            }
        }
    }

    /// Fetches until all bytes are there and right. A beginning left by an earlier run may be damaged, so a wrong
    /// digest is told only of bytes that all came now.
    async fn complete(
        &self,
        blob: &Descriptor,
        partial: &mut Partial,
        progress: &dyn DownloadProgress,
    ) -> Result<(), RegistryError> {
        let mut is_old = partial.length() > 0;
        loop {
            if partial.length() > blob.size {
                partial.clear()?;
                is_old = false;
            }
            self.fill(blob, partial, progress).await?;
            let found = partial.digest();
            if found == blob.digest {
                return Ok(());
            }
            partial.clear()?;
            if !is_old {
                let what = format!("blob {} of {}", blob.digest, self.name());
                let (expected, found) = (blob.digest.clone(), found.to_string());
                return Err(RegistryError::DigestMismatch { what, expected, found });
            }
            is_old = false;
        }
    }

    /// Fetches until there are as many bytes as the manifest says, again after each break.
    async fn fill(
        &self,
        blob: &Descriptor,
        partial: &mut Partial,
        progress: &dyn DownloadProgress,
    ) -> Result<(), RegistryError> {
        let mut failed = 0;
        while partial.length() < blob.size {
            let before = partial.length();
            let error = match self.stream(blob, partial, progress).await {
                Ok(()) if partial.length() >= blob.size => return Ok(()),
                Ok(()) => RegistryError::Truncated {
                    what: format!("blob {} of {}", blob.digest, self.name()),
                    expected: blob.size,
                    found: partial.length(),
                },
                Err(error) => error,
            };
            failed = if partial.length() > before { 1 } else { failed + 1 };
            self.connection.retry.wait_after(failed, error).await?;
        }
        Ok(())
    }

    /// One request. Ends without an error also where the answer is short by its own account.
    async fn stream(
        &self,
        blob: &Descriptor,
        partial: &mut Partial,
        progress: &dyn DownloadProgress,
    ) -> Result<(), RegistryError> {
        let image = self.place.at(&blob.digest);
        let reference = reference(&image);
        let name = blob.digest.to_string();
        let from = partial.length();
        // The client does not store credentials of its own accord for blobs.
        self.client.store_auth_if_needed(reference.resolve_registry(), &self.auth).await;
        let ask = || self.client.pull_blob_stream_partial(&reference, name.as_str(), from, None);
        let answer = self.identified(self.asked(&image, Some(&blob.digest)), ask).await;
        let mut stream = match answer {
            Ok(BlobResponse::Partial(stream)) => stream,
            // A server that knows no ranges sends all.
            Ok(BlobResponse::Full(stream)) => {
                partial.clear()?;
                stream
            }
            Err(RegistryError::Server { status: 416, .. }) => return Ok(()),
            // The blob ends where we would go on. Debian's registry then says how much it wanted to send, and does not.
            Err(RegistryError::BrokeOff { .. }) if from > 0 => return Ok(()),
            Err(error) => return Err(error),
        };
        while let Some(chunk) = stream.next().await {
            let chunk = match chunk {
                Ok(chunk) => chunk,
                // The client checks digests too; its word comes after the last byte.
                Err(_) if partial.length() == blob.size => return Ok(()),
                Err(error) => return Err(io_error(&self.place.registry(), &error)),
            };
            if partial.length() + chunk.len() as u64 > blob.size {
                let (what, detail) = (
                    format!("blob {} of {}", blob.digest, self.name()),
                    "it is longer than its manifest says",
                );
                partial.clear()?;
                return Err(RegistryError::Malformed { what, detail: detail.to_owned() });
            }
            partial.append(&chunk)?;
            progress.bytes(&name, partial.length(), blob.size);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::Digest;
    use crate::progress::Silent;
    use crate::registry::Connection;
    use crate::runtime::works_aside;

    #[test]
    fn hashes_of_one_blob_do_not_hold_up_another() {
        let dir = tempfile::tempdir().unwrap();
        let cache = BlobCache::at(dir.path());
        let blob = Descriptor { digest: Digest::of(b"content"), size: 7 };
        cache.put(&blob.digest, b"content").unwrap();
        let place = "quay.example/a/b:c".parse().unwrap();
        let repository = Repository::to_pull(&place, &Connection::default()).unwrap();
        assert!(works_aside(repository.blob(&blob, &cache, &Silent)));
    }
}
