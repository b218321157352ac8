//! Blobs by digest on disk, shared by all clusters and by processes that run at the same time.
//!
//! ```text
//! sha256/ab/ab12…            a whole blob, checked before it got this name
//! sha256/ab/ab12….partial    what a download has so far
//! sha256/ab/ab12….lock       held by whoever downloads
//! ```

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use fs_err as fs;
use hardway_base::files;
use sha2::{Digest as _, Sha256};

use crate::aside::aside;
use crate::digest::Digest;

/// The folder.
#[derive(Clone, Debug)]
pub struct BlobCache {
    root: PathBuf,
}

/// Blobs from this size on are on the disk before they get their names: one that a power failure leaves empty is found out when
/// it is used, but takes long to fetch again.
const SYNCED: u64 = 64 << 20;

impl BlobCache {
    /// A cache in a folder, which is made when needed.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The user's own: `$XDG_CACHE_HOME/hardway/blobs`, or `~/.cache/hardway/blobs`.
    pub fn of_user() -> io::Result<Self> {
        let absolute =
            |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let base = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")));
        let base = base.ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::NotFound,
                "no place for the cache: neither XDG_CACHE_HOME nor HOME is an absolute path",
            )
        })?;
        Ok(Self::at(base.join("hardway/blobs")))
    }

    /// A cache beside this one for blobs on their way elsewhere: a run that is broken off goes on with them, and they are not
    /// kept twice.
    pub(crate) fn passing(&self) -> Self {
        Self::at(self.root.join("passing"))
    }

    /// Where a blob is once it is there.
    pub fn path(&self, digest: &Digest) -> PathBuf {
        self.root.join("sha256").join(&digest.hex()[..2]).join(digest.hex())
    }

    /// The path of a whole blob. One that was damaged since is removed and counts as absent.
    pub(crate) fn get(&self, digest: &Digest, size: Option<u64>) -> io::Result<Option<PathBuf>> {
        let path = self.path(digest);
        let length = match fs::metadata(&path) {
            Ok(metadata) => metadata.len(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let is_size = size.is_none_or(|size| size == length);
        if is_size && hash(&path)? == *digest {
            return Ok(Some(path));
        }
        fs::remove_file(&path)?;
        Ok(None)
    }

    /// The bytes of a small blob.
    pub(crate) fn bytes(&self, digest: &Digest) -> io::Result<Option<Vec<u8>>> {
        self.get(digest, None)?.map(fs::read).transpose()
    }

    /// Keeps bytes that were checked already, such as a manifest.
    pub(crate) fn put(&self, digest: &Digest, bytes: &[u8]) -> io::Result<()> {
        let path = self.path(digest);
        fs::create_dir_all(files::folder_of(&path))?;
        files::replace(&path, 0o600, bytes)
    }

    /// A blob, or what is there of it. Waits while another process fetches it.
    pub(crate) async fn claim(&self, digest: &Digest, size: Option<u64>) -> io::Result<Claim> {
        let (cache, digest) = (self.clone(), digest.clone());
        aside(move || {
            if let Some(path) = cache.get(&digest, size)? {
                return Ok(Claim::Whole(path));
            }
            let reserved = cache.reserve(&digest)?;
            if let Some(path) = cache.get(&digest, size)? {
                return Ok(Claim::Whole(path));
            }
            let partial = reserved.partial()?;
            Ok(Claim::ToFetch(reserved, partial))
        })
        .await
    }

    /// The place of a blob to be fetched. Waits while another process fetches it.
    fn reserve(&self, digest: &Digest) -> io::Result<Reserved> {
        let path = self.path(digest);
        fs::create_dir_all(path.parent().unwrap_or(&self.root))?;
        let lock_path = path.with_extension("lock");
        let lock = File::create(&lock_path)?;
        lock.lock()?;
        Ok(Reserved { partial_path: path.with_extension("partial"), path, lock_path, _lock: lock })
    }
}

/// A blob as its reader finds it.
#[derive(Debug)]
pub(crate) enum Claim {
    /// There.
    Whole(PathBuf),
    /// To be fetched by the caller, from where it ends.
    ToFetch(Reserved, Partial),
}

/// A blob that this process alone fetches.
#[derive(Debug)]
pub(crate) struct Reserved {
    path: PathBuf,
    partial_path: PathBuf,
    lock_path: PathBuf,
    _lock: File,
}

impl Reserved {
    /// What is there of the blob, read and hashed, to go on from.
    fn partial(&self) -> io::Result<Partial> {
        let mut file = fs::OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(&self.partial_path)?
            .into_parts()
            .0;
        let (hash, length) = hash_of(&mut file)?;
        Ok(Partial { file, hash, length })
    }

    /// Gives the blob its name once it is on the disk.
    pub(crate) async fn kept(self, partial: Partial) -> io::Result<PathBuf> {
        aside(move || self.keep(&partial)).await
    }

    /// Leaves what came for the next time; where nothing did, no trace of it.
    pub(crate) fn left(self, partial: &Partial) -> io::Result<()> {
        if partial.length > 0 {
            return Ok(());
        }
        fs::remove_file(&self.partial_path)?;
        fs::remove_file(&self.lock_path)
    }

    fn keep(self, partial: &Partial) -> io::Result<PathBuf> {
        if partial.length > SYNCED {
            partial.file.sync_data()?;
        }
        fs::rename(&self.partial_path, &self.path)?;
        // Whoever waits for the lock looks for the blob first once it has it.
        fs::remove_file(&self.lock_path)?;
        Ok(self.path)
    }
}

/// A download so far.
#[derive(Debug)]
pub(crate) struct Partial {
    file: File,
    hash: Sha256,
    length: u64,
}

impl Partial {
    /// Bytes so far.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// The bytes, to be read from the start.
    pub(crate) fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Digest so far.
    pub(crate) fn digest(&self) -> Digest {
        Digest::from_hash(self.hash.clone())
    }

    /// Adds bytes at the end.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.hash.update(bytes);
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Begins again.
    pub(crate) fn clear(&mut self) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.seek(SeekFrom::Start(0))?;
        self.hash = Sha256::new();
        self.length = 0;
        Ok(())
    }
}

/// The digest of a file.
pub(crate) fn hash(path: &Path) -> io::Result<Digest> {
    let mut file = fs::File::open(path)?.into_parts().0;
    Ok(Digest::from_hash(hash_of(&mut file)?.0))
}

fn hash_of(file: &mut File) -> io::Result<(Sha256, u64)> {
    let mut hash = Sha256::new();
    let mut length = 0;
    let mut buffer = vec![0; 1 << 18];
    loop {
        let n = file.read(&mut buffer)?;
        if n == 0 {
            return Ok((hash, length));
        }
        hash.update(&buffer[..n]);
        length += n as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blob_is_whole_or_absent() {
        let dir = tempfile::tempdir().unwrap();
        let cache = BlobCache::at(dir.path());
        let digest = Digest::of(b"content");
        assert_eq!(cache.get(&digest, None).unwrap(), None);
        cache.put(&digest, b"content").unwrap();
        let path = cache.get(&digest, Some(7)).unwrap().unwrap();
        assert!(path.ends_with(format!("sha256/{}/{}", &digest.hex()[..2], digest.hex())));
        assert_eq!(cache.bytes(&digest).unwrap().unwrap(), b"content");
        fs::write(&path, b"CONTENT").unwrap();
        assert_eq!(cache.get(&digest, Some(7)).unwrap(), None, "same size, other bytes");
        assert!(!path.exists());
        cache.put(&digest, b"content").unwrap();
        assert_eq!(cache.get(&digest, Some(8)).unwrap(), None, "other size");
    }

    /// A cache is a folder of the user's, and size alone says nothing.
    #[test]
    fn a_large_blob_is_hashed_before_it_is_trusted() {
        let dir = tempfile::tempdir().unwrap();
        let cache = BlobCache::at(dir.path());
        let size = SYNCED + 1;
        let zeros = Digest::of(&vec![0; usize::try_from(size).unwrap()]);
        let path = cache.path(&zeros);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let file = File::create(&path).unwrap();
        file.set_len(size).unwrap();
        assert_eq!(cache.get(&zeros, Some(size)).unwrap().as_ref(), Some(&path));
        std::os::unix::fs::FileExt::write_all_at(&file, b"x", size / 2).unwrap();
        assert_eq!(cache.get(&zeros, Some(size)).unwrap(), None, "same size, one byte another");
        assert!(!path.exists());
    }

    #[test]
    fn a_download_goes_on_where_it_stopped() {
        let dir = tempfile::tempdir().unwrap();
        let cache = BlobCache::at(dir.path());
        let digest = Digest::of(b"content");
        let reserved = cache.reserve(&digest).unwrap();
        reserved.partial().unwrap().append(b"con").unwrap();
        drop(reserved);
        let reserved = cache.reserve(&digest).unwrap();
        let mut partial = reserved.partial().unwrap();
        assert_eq!(partial.length(), 3);
        partial.append(b"tent").unwrap();
        assert_eq!(partial.digest(), digest);
        let path = reserved.keep(&partial).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"content");
        let left: Vec<_> = fs::read_dir(path.parent().unwrap()).unwrap().collect();
        assert_eq!(left.len(), 1, "neither lock nor partial file is left: {left:?}");
    }

    #[test]
    fn a_bad_beginning_is_thrown_away() {
        let dir = tempfile::tempdir().unwrap();
        let reserved = BlobCache::at(dir.path()).reserve(&Digest::of(b"x")).unwrap();
        let mut partial = reserved.partial().unwrap();
        partial.append(b"wrong").unwrap();
        partial.clear().unwrap();
        partial.append(b"x").unwrap();
        assert_eq!((partial.length(), partial.digest()), (1, Digest::of(b"x")));
        assert_eq!(fs::read(&reserved.partial_path).unwrap(), b"x");
    }

    #[test]
    fn only_one_fetches_at_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let cache = BlobCache::at(dir.path());
        let digest = Digest::of(b"x");
        let reserved = cache.reserve(&digest).unwrap();
        let other = std::thread::spawn({
            let (cache, digest) = (cache.clone(), digest.clone());
            move || {
                let _reserved = cache.reserve(&digest).unwrap();
                cache.get(&digest, None).unwrap()
            }
        });
        std::thread::sleep(std::time::Duration::from_millis(50));
        assert!(!other.is_finished());
        let mut partial = reserved.partial().unwrap();
        partial.append(b"x").unwrap();
        let path = reserved.keep(&partial).unwrap();
        assert_eq!(other.join().unwrap(), Some(path));
    }
}
