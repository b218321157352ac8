//! The file, begun or gone on with.
//!
//! It grows from its beginning to its end as `FILE.partial`, and is given its name once it is whole and on the disk. So its
//! length says how far it is, on any file system, whatever ended the run before. Layers come ahead of their turn, a few at a time, into
//! the cache, and leave it when they are in the file.

use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use futures_util::{StreamExt as _, stream};
use hardway_base::files::{folder_of, sync_folder};
use sha2::{Digest as _, Sha256};

use super::contents::Part;
use super::error::BundleError;
use super::member::{self, BLOCK};
use super::plan::{BundlePlan, PartSource};
use super::read::{Bundle, digest_within};
use crate::aside::aside;
use crate::blob_cache::BlobCache;
use crate::carried_images::CarriedImageError;
use crate::digest::Digest;
use crate::progress::{DownloadProgress, OfImage};
use crate::release_image::FetchOptions;

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Parts in the file.
    pub parts: usize,
    /// Parts that an earlier run had written.
    pub kept: usize,
    /// Of the file, in bytes.
    pub bytes: u64,
    /// The digest of its list of parts.
    pub id: Digest,
}

const PIECE: usize = 1 << 20;

/// Writes a bundle, or what is left of one that was begun. A file that is there already and is the same is only checked.
///
/// # Errors
/// When a blob cannot be fetched, the disk is full, or the file is another already. What was written stays for the next run.
pub async fn write(
    plan: &BundlePlan,
    to: &Path,
    options: &FetchOptions,
    progress: &dyn DownloadProgress,
) -> Result<Written, BundleError> {
    let (head, json) = plan.head();
    let parts = plan.contents.parts.len();
    let written = |kept| Written { parts, kept, bytes: plan.length(), id: head.digest.clone() };
    if to.exists() {
        same(to, &head.digest, progress)?;
        return Ok(written(parts));
    }
    let mut unfinished = Unfinished::open(to)?;
    unfinished.begin(&head, &json)?;
    let kept = unfinished.keep(&plan.contents.parts, progress)?;
    let passing = &options.cache.passing();
    let rest = plan.contents.parts.iter().zip(&plan.sources).skip(kept);
    let mut ready = stream::iter(rest)
        .map(|(part, source)| async move {
            let fetched = fetched(part, source, options, passing, progress).await;
            (part, source, fetched)
        })
        .buffered(options.connection.parallel.max(1));
    while let Some((part, source, fetched)) = ready.next().await {
        let mut fetched = fetched?;
        for is_last in [false, true] {
            let (file, from, part) = (unfinished.file.try_clone()?, fetched.clone(), part.clone());
            let at = unfinished.length;
            let name = part.clone();
            let length = member::length(part.size);
            if aside(move || append(file, at, &part, &from)).await? {
                unfinished.length += length;
                break;
            }
            // Damaged since it was put there, or gone: another run that writes a bundle may have had it, too.
            if is_last {
                let (path, part) = (to.to_owned(), name.shown());
                let detail = "reading it back gave other bytes than were fetched".to_owned();
                return Err(BundleError::Damaged { path, part, detail });
            }
            fetched = self::fetched(&name, source, options, passing, progress).await?;
        }
        if let FetchedPart::Passing(path) = fetched {
            forget(&path)?;
        }
    }
    unfinished.finish(to, &head.digest)?;
    Ok(written(kept))
}

/// A part that can be copied into the file.
#[derive(Clone)]
enum FetchedPart {
    Bytes(std::sync::Arc<Vec<u8>>),
    File(PathBuf),
    /// In the cache for this alone.
    Passing(PathBuf),
}

async fn fetched(
    part: &Part,
    source: &PartSource,
    options: &FetchOptions,
    passing: &BlobCache,
    progress: &dyn DownloadProgress,
) -> Result<FetchedPart, BundleError> {
    let (repository, blob) = match source {
        PartSource::Bytes(bytes) => return Ok(FetchedPart::Bytes(bytes.clone())),
        PartSource::File(path) => return Ok(FetchedPart::File(path.clone())),
        PartSource::Blob(repository, blob) => (repository, blob),
    };
    let (cache, digest, size) = (options.cache.clone(), blob.digest.clone(), blob.size);
    if let Some(path) = aside(move || cache.get(&digest, Some(size))).await? {
        progress.kept(&blob.digest.to_string(), blob.size);
        return Ok(FetchedPart::File(path));
    }
    let named = |error| CarriedImageError::of(&part.of, error);
    let of = OfImage { image: &part.of, progress };
    Ok(FetchedPart::Passing(repository.blob(blob, passing, &of).await.map_err(named)?))
}

/// Header, data and padding; false where the data is not that of the part.
fn append(mut file: File, at: u64, part: &Part, from: &FetchedPart) -> io::Result<bool> {
    file.seek(SeekFrom::Start(at))?;
    file.write_all(member::header(part).as_bytes())?;
    let found = match from {
        FetchedPart::Bytes(bytes) => {
            file.write_all(bytes)?;
            Digest::of(bytes)
        }
        FetchedPart::File(path) | FetchedPart::Passing(path) => match copy(path, &mut file, part.size) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            copied => copied?,
        },
    };
    if found != part.digest {
        return Ok(false);
    }
    let zeros = [0; BLOCK as usize];
    file.write_all(&zeros[..usize::try_from(member::padding(part.size)).unwrap_or_default()])?;
    Ok(true)
}

/// No more than so much of a file; the digest of what was copied.
fn copy(from: &Path, to: &mut File, most: u64) -> io::Result<Digest> {
    let mut from = fs_err::File::open(from)?.take(most);
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; PIECE]);
    loop {
        match from.read(&mut buffer)? {
            0 => return Ok(Digest::from_hash(hash)),
            n => {
                hash.update(&buffer[..n]);
                to.write_all(&buffer[..n])?;
            }
        }
    }
}

fn forget(path: &Path) -> io::Result<()> {
    match fs_err::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// A file of that name is there: it must be this bundle, and whole.
fn same(path: &Path, id: &Digest, progress: &dyn DownloadProgress) -> Result<(), BundleError> {
    let occupied = |other: String| BundleError::Occupied { path: path.to_owned(), other };
    let bundle = match Bundle::open(path) {
        Err(BundleError::NotBundle { .. }) => return Err(occupied("no bundle".to_owned())),
        bundle => bundle?,
    };
    if bundle.id() != id {
        let other = bundle.contents();
        return Err(occupied(format!("another bundle of release {} ({})", other.version, bundle.id())));
    }
    bundle.check(progress)
}

/// The file before it has its name. Nobody else writes it meanwhile.
struct Unfinished {
    path: PathBuf,
    file: File,
    /// Up to here it is as planned.
    length: u64,
}

impl Unfinished {
    fn open(to: &Path) -> Result<Self, BundleError> {
        let mut name = to.as_os_str().to_owned();
        name.push(".partial");
        let path = PathBuf::from(name);
        let mut options = fs_err::OpenOptions::new();
        let file = options.create(true).truncate(false).read(true).write(true).open(&path)?.into_parts().0;
        match file.try_lock() {
            Ok(()) => Ok(Self { path, file, length: 0 }),
            Err(TryLockError::WouldBlock) => Err(BundleError::Locked(path)),
            Err(TryLockError::Error(error)) => Err(error.into()),
        }
    }

    /// The list of parts, which says whether what is there is of this bundle.
    fn begin(&mut self, head: &Part, json: &[u8]) -> Result<(), BundleError> {
        let mut wanted = member::header(head).as_bytes().to_vec();
        wanted.extend_from_slice(json);
        wanted.resize(usize::try_from(member::length(head.size)).map_err(io::Error::other)?, 0);
        let there = usize::try_from(self.file.metadata()?.len()).unwrap_or(usize::MAX).min(wanted.len());
        let mut found = vec![0; there];
        self.file.read_exact_at(&mut found, 0)?;
        if found != wanted[..there] {
            let other = "what was begun of another bundle".to_owned();
            return Err(BundleError::Occupied { path: self.path.clone(), other });
        }
        self.file.write_all_at(&wanted[there..], there as u64)?;
        self.length = wanted.len() as u64;
        Ok(())
    }

    /// How many parts are there and right. What comes after them is cut off.
    fn keep(&mut self, parts: &[Part], progress: &dyn DownloadProgress) -> Result<usize, BundleError> {
        let there = self.file.metadata()?.len();
        let mut header = [0; BLOCK as usize];
        let mut buffer = vec![0; PIECE];
        let mut kept = 0;
        for part in parts {
            let end = self.length + member::length(part.size);
            if end > there {
                break;
            }
            self.file.read_exact_at(&mut header, self.length)?;
            let is_right = &header == member::header(part).as_bytes()
                && digest_within(&self.file, self.length + BLOCK, part.size, &mut buffer)? == part.digest;
            if !is_right {
                break;
            }
            progress.kept(&part.name, part.size);
            self.length = end;
            kept += 1;
        }
        self.file.set_len(self.length)?;
        Ok(kept)
    }

    fn finish(self, to: &Path, id: &Digest) -> Result<(), BundleError> {
        self.file.write_all_at(&member::closing(id), self.length)?;
        self.file.sync_all()?;
        fs_err::rename(&self.path, to)?;
        Ok(sync_folder(folder_of(to))?)
    }
}
