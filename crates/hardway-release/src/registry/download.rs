//! Blobs into the cache: resumed where they stopped, checked while they come.

use std::path::PathBuf;

use reqwest::StatusCode;

use super::{Descriptor, RegistryError, Repository, transport};
use crate::blob_cache::{BlobCache, Claim, Partial};
use crate::progress::DownloadProgress;

/// No blob of a release comes near this; the largest, layers of node images, are of some GiB.
const LARGEST: u64 = 16 << 30;

impl Repository {
    /// The path of a blob in the cache; fetched if it is not there whole.
    pub(crate) async fn blob(
        &self,
        blob: &Descriptor,
        cache: &BlobCache,
        progress: &dyn DownloadProgress,
    ) -> Result<PathBuf, RegistryError> {
        if blob.size > LARGEST {
            let what = format!("blob {} of {}", blob.digest, self.name());
            return Err(RegistryError::TooLarge { what, most: LARGEST });
        }
        match cache.claim(&blob.digest, Some(blob.size)).await? {
            Claim::Whole(path) => {
                progress.kept(&blob.digest.to_string(), blob.size);
                Ok(path)
            }
            Claim::ToFetch(reserved, mut partial) => {
                if let Err(error) = self.complete(blob, &mut partial, progress).await {
                    reserved.left(&partial)?;
                    return Err(error);
                }
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
        let name = blob.digest.to_string();
        let from = partial.length();
        let asked = self.asked(&image, Some(&blob.digest));
        let path = format!("blobs/{name}");
        let answer = self.get(asked, &path, |get| match from {
            0 => get,
            from => get.header("range", format!("bytes={from}-")),
        });
        let mut answer = match answer.await {
            Err(RegistryError::Server { status: 416, .. }) => return Ok(()),
            answer => answer?,
        };
        // A server that knows no ranges sends all.
        if answer.status() != StatusCode::PARTIAL_CONTENT {
            partial.clear()?;
        }
        let error = |error: reqwest::Error| transport(&self.place.registry(), &error);
        while let Some(chunk) = answer.chunk().await.map_err(error)? {
            if partial.length() + chunk.len() as u64 > blob.size {
                let what = format!("blob {name} of {}, by its manifest,", self.name());
                partial.clear()?;
                return Err(RegistryError::TooLarge { what, most: blob.size });
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
    use crate::aside::works_aside;
    use crate::digest::Digest;
    use crate::progress::Silent;
    use crate::registry::Connection;

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
