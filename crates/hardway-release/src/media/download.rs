//! Boot images onto this host: resumed where they stopped, checked while they come, kept for the next cluster.

use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use hardway_base::files::Replacement;
use hardway_base::redaction::without_password;

use super::MediaFile;
use super::sums::{sha256_inside, verify};
use crate::aside::aside;
use crate::blob_cache::{BlobCache, Claim, Partial, hash};
use crate::digest::{Digest, DigestError};
use crate::progress::DownloadProgress;
use crate::registry::{Connection, RegistryError, asked_wait, transport};

/// Why a boot image is not there.
#[derive(Debug, thiserror::Error)]
pub enum DownloadError {
    /// The metadata's sum is not a checksum.
    #[error("the sum of {location}: {error}")]
    Sum {
        /// The URL.
        location: String,
        /// Why.
        error: DigestError,
    },
    /// The URL ends in no name that a file could have.
    #[error("{0:?} does not end in the name of a file")]
    Name(String),
    /// None of the places has it.
    #[error("{name} was not found:{}", listed(.tried))]
    Nowhere {
        /// Of the file.
        name: String,
        /// Each place and why not.
        tried: Vec<(String, RegistryError)>,
    },
    /// Its content is not what the metadata says.
    #[error("{location} has the wrong content: its unpacked sha256 is {found}, expected {expected}")]
    Content {
        /// The URL.
        location: String,
        /// By the metadata.
        expected: String,
        /// As computed.
        found: String,
    },
    /// A file or folder here.
    #[error("{0}")]
    File(#[from] io::Error),
}

/// The metadata has no sizes. Boot images are of one or two GiB, and of sixteen where they are not packed.
const LARGEST: u64 = 32 << 30;

/// Puts a boot image into a folder and returns its path. It is looked for below each mirror (a URL) by its name, then
/// at its location. Whatever comes counts only with the right sum. One that is there already is not fetched again,
/// and one that any cluster fetched is taken from the cache.
///
/// It is a copy, not a link, of what is in the cache: `coreos-installer` changes media in place.
pub async fn download(
    file: &MediaFile,
    to: &Path,
    mirrors: &[String],
    connection: &Connection,
    cache: &BlobCache,
    progress: &dyn DownloadProgress,
) -> Result<PathBuf, DownloadError> {
    let medium = Medium::new(file, connection, progress)?;
    fs_err::create_dir_all(to)?;
    let path = to.join(medium.name);
    if is_there(&path, &file.sha256).await? {
        return Ok(path);
    }
    for _ in 0..2 {
        let cached = medium.cached(mirrors, cache).await?;
        let (from, to, digest) = (cached.clone(), path.clone(), medium.digest.clone());
        if aside(move || copy(&from, &to, &digest)).await? {
            return Ok(path);
        }
        // Damaged since it was put there.
        fs_err::remove_file(&cached)?;
    }
    Err(io::Error::other(format!(
        "{}: reading it back gave different content: the disk is failing",
        cache.path(&medium.digest).display()
    ))
    .into())
}

/// The name of a boot image, and where it is in the cache once it is there.
pub(crate) async fn fetch_to_cache(
    file: &MediaFile,
    mirrors: &[String],
    connection: &Connection,
    cache: &BlobCache,
    progress: &dyn DownloadProgress,
) -> Result<(String, PathBuf), DownloadError> {
    let medium = Medium::new(file, connection, progress)?;
    Ok((medium.name.to_owned(), medium.cached(mirrors, cache).await?))
}

/// A file to fetch.
struct Medium<'m> {
    file: &'m MediaFile,
    name: &'m str,
    digest: Digest,
    connection: &'m Connection,
    progress: &'m dyn DownloadProgress,
    most: u64,
}

impl<'m> Medium<'m> {
    fn new(
        file: &'m MediaFile,
        connection: &'m Connection,
        progress: &'m dyn DownloadProgress,
    ) -> Result<Self, DownloadError> {
        let name = name(&file.location)?;
        let digest: Digest = format!("sha256:{}", file.sha256.to_lowercase())
            .parse()
            .map_err(|error| DownloadError::Sum { location: without_password(&file.location), error })?;
        Ok(Self { file, name, digest, connection, progress, most: LARGEST })
    }
}

impl Medium<'_> {
    async fn cached(&self, mirrors: &[String], cache: &BlobCache) -> Result<PathBuf, DownloadError> {
        match cache.claim(&self.digest, None).await? {
            Claim::Whole(path) => {
                self.progress.kept(self.name, fs_err::metadata(&path)?.len());
                Ok(path)
            }
            Claim::ToFetch(reserved, mut partial) => {
                if let Err(error) = self.fetch(mirrors, &mut partial).await {
                    reserved.left(&partial)?;
                    return Err(error);
                }
                let partial = self.check_inside(partial).await?;
                Ok(reserved.kept(partial).await?)
            }
        }
    }

    async fn fetch(&self, mirrors: &[String], partial: &mut Partial) -> Result<(), DownloadError> {
        let mut tried = Vec::new();
        let below = |mirror: &String| format!("{}/{}", mirror.trim_end_matches('/'), self.name);
        for url in mirrors.iter().map(below).chain([self.file.location.clone()]) {
            match self.complete(&url, partial).await {
                Ok(()) => return Ok(()),
                Err(error @ RegistryError::File(_)) => return Err(io::Error::other(error).into()),
                Err(error) => tried.push((without_password(&url), error)),
            }
        }
        Err(DownloadError::Nowhere { name: self.name.to_owned(), tried })
    }

    /// Fetches until the sum is right. What was put together from pieces is fetched once more as a whole before the
    /// server is blamed.
    async fn complete(&self, url: &str, partial: &mut Partial) -> Result<(), RegistryError> {
        let mut is_pieced = partial.length() > 0;
        loop {
            let mut failed = 0;
            loop {
                let before = partial.length();
                let Err(error) = self.stream(url, partial).await else { break };
                is_pieced |= partial.length() > 0;
                failed = if partial.length() > before { 1 } else { failed + 1 };
                self.connection.retry.wait_after(failed, error).await?;
            }
            let found = partial.digest();
            if found == self.digest {
                return Ok(());
            }
            partial.clear()?;
            if !is_pieced {
                let (what, expected) = (without_password(url), self.digest.clone());
                return Err(RegistryError::DigestMismatch { what, expected, found: found.to_string() });
            }
            is_pieced = false;
        }
    }

    /// One request, from where the bytes end to the end of the file.
    async fn stream(&self, url: &str, partial: &mut Partial) -> Result<(), RegistryError> {
        let from = partial.length();
        let error = |error: reqwest::Error| transport(&host(url), &error);
        let mut request = self.connection.http_client()?.get(url);
        if from > 0 {
            request = request.header("range", format!("bytes={from}-"));
        }
        let mut answer = request.send().await.map_err(error)?;
        let wait = asked_wait(&answer);
        match answer.status().as_u16() {
            // A server that knows no ranges sends all.
            200 => partial.clear()?,
            206 if begins_at(&answer, from) => {}
            206 => {
                partial.clear()?;
                let (what, detail) =
                    (without_password(url), "the server sent a different range than requested".to_owned());
                return Err(RegistryError::Malformed { what, detail });
            }
            // Nothing is left to send.
            416 if from > 0 => return Ok(()),
            429 => return Err(RegistryError::TooManyRequests { registry: host(url), wait }),
            status => {
                return Err(RegistryError::Server {
                    registry: without_password(url),
                    status,
                    detail: String::new(),
                    wait,
                });
            }
        }
        let is_too_large = |partial: &Partial, more: u64| partial.length().saturating_add(more) > self.most;
        let more = answer.content_length().unwrap_or_default();
        if is_too_large(partial, more) {
            return self.too_large(url, partial);
        }
        let total = partial.length() + more;
        while let Some(chunk) = answer.chunk().await.map_err(error)? {
            if is_too_large(partial, chunk.len() as u64) {
                return self.too_large(url, partial);
            }
            partial.append(&chunk)?;
            self.progress.bytes(self.name, partial.length(), total.max(partial.length()));
        }
        Ok(())
    }

    fn too_large(&self, url: &str, partial: &mut Partial) -> Result<(), RegistryError> {
        partial.clear()?;
        Err(RegistryError::TooLarge { what: without_password(url), most: self.most })
    }

    /// The sum of the content, where the metadata has one.
    async fn check_inside(&self, mut partial: Partial) -> Result<Partial, DownloadError> {
        let Some(expected) = &self.file.uncompressed_sha256 else { return Ok(partial) };
        let (mut partial, found) = aside(move || {
            let found = sha256_inside(partial.file())?;
            Ok((partial, found))
        })
        .await?;
        match found {
            Some(found) if !found.eq_ignore_ascii_case(expected) => {
                partial.clear()?;
                let (location, expected) = (without_password(&self.file.location), expected.clone());
                Err(DownloadError::Content { location, expected, found })
            }
            _ => Ok(partial),
        }
    }
}

async fn is_there(path: &Path, sha256: &str) -> io::Result<bool> {
    let (path, sha256) = (path.to_owned(), sha256.to_owned());
    aside(move || Ok(path.exists() && verify(&path, &sha256).is_ok())).await
}

/// The part of a URL after its last slash.
fn name(url: &str) -> Result<&str, DownloadError> {
    let path =
        url.split_once("://").map_or(url, |(_, rest)| rest).split(['?', '#']).next().unwrap_or_default();
    let name = path.rsplit_once('/').map_or("", |(_, name)| name);
    if name.is_empty() || name.starts_with('.') || name.contains('\0') {
        return Err(DownloadError::Name(without_password(url)));
    }
    Ok(name)
}

/// Host and port, as errors name them.
fn host(url: &str) -> String {
    // First without its password, which may hold a slash that should have been escaped.
    let url = without_password(url);
    let rest = url.split_once("://").map_or(&*url, |(_, rest)| rest);
    rest.split('/').next().unwrap_or_default().rsplit('@').next().unwrap_or_default().to_owned()
}

/// `Content-Range: bytes 5-9/10`.
fn begins_at(answer: &reqwest::Response, from: u64) -> bool {
    let range = answer.headers().get("content-range").and_then(|value| value.to_str().ok());
    range.is_some_and(|range| range.trim().starts_with(&format!("bytes {from}-")))
}

/// Copies by way of a file that gets its name when it is whole; false where the bytes are not those of the digest.
fn copy(from: &Path, to: &Path, digest: &Digest) -> io::Result<bool> {
    let mut file = Replacement::begin(to, 0o644)?;
    let mut source = fs_err::File::open(from)?;
    let mut buffer = vec![0; 1 << 20];
    loop {
        match source.read(&mut buffer)? {
            0 => break,
            n => file.write_all(&buffer[..n])?,
        }
    }
    if hash(file.unfinished_path())? != *digest {
        return Ok(false);
    }
    file.commit()?;
    Ok(true)
}

fn listed(tried: &[(String, RegistryError)]) -> String {
    tried.iter().map(|(place, error)| format!("\n  {place}: {error}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aside::works_aside;
    use crate::progress::Silent;
    use crate::registry::Proxy;

    #[test]
    fn hashes_of_one_file_do_not_hold_up_another() {
        let dir = tempfile::tempdir().unwrap();
        fs_err::write(dir.path().join("a.iso"), b"content").unwrap();
        let file = MediaFile {
            part: "disk".to_owned(),
            location: "https://a.example/a.iso".to_owned(),
            sha256: Digest::of(b"content").hex().to_owned(),
            uncompressed_sha256: None,
        };
        let (connection, cache) = (Connection::default(), BlobCache::at(dir.path().join("cache")));
        assert!(works_aside(download(&file, dir.path(), &[], &connection, &cache, &Silent)));
    }

    /// Told beforehand, or found out while it comes.
    #[test]
    fn what_is_larger_than_any_image_is_not_kept() {
        let answers = [
            "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999\r\n\r\n".to_owned(),
            format!("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{}", "x".repeat(101)),
        ];
        for answer in answers {
            let dir = tempfile::tempdir().unwrap();
            let file = MediaFile {
                part: "disk".to_owned(),
                location: format!("http://{}/a.iso", answering(answer)),
                sha256: Digest::of(b"content").hex().to_owned(),
                uncompressed_sha256: None,
            };
            let connection = Connection { proxy: Proxy::Direct, ..Connection::default() };
            let (digest, progress) = (Digest::of(b"content"), &Silent);
            let medium =
                Medium { file: &file, name: "a.iso", digest, connection: &connection, progress, most: 100 };
            let cache = BlobCache::at(dir.path());
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let error = runtime.block_on(medium.cached(&[], &cache)).unwrap_err().to_string();
            let told = format!("{} is larger than 100 bytes and was discarded", file.location);
            assert!(error.contains(&told), "{error}");
            let left = fs_err::read_dir(cache.path(&medium.digest).parent().unwrap()).unwrap();
            assert_eq!(left.count(), 0, "nothing half-written");
        }
    }

    /// A server that says this to the first who asks.
    fn answering(answer: String) -> std::net::SocketAddr {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            let (mut client, _) = listener.accept().unwrap();
            let _ = client.read(&mut [0; 4096]);
            let _ = client.write_all(answer.as_bytes());
            // Until the client has heard enough.
            let _ = client.read(&mut [0; 1]);
        });
        address
    }

    #[test]
    fn files_are_named_as_their_urls_end() {
        assert_eq!(name("https://a.example/b/rhcos-418.iso?x=/y").unwrap(), "rhcos-418.iso");
        for url in
            ["https://a.example", "https://a.example/", "https://a.example/b/..", "https://a.example/.x"]
        {
            assert!(name(url).is_err(), "{url}");
        }
        assert_eq!(host("http://me:pw@a.example:80/b"), "a.example:80");
        assert_eq!(host("http://me:p/w@a.example:80/b"), "a.example:80");
    }
}
