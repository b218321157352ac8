//! A log bundle: a compressed tar archive, read once from front to back and never unpacked. It may come from anywhere, so
//! everything in it is bounded: bytes, entries, names.

use std::collections::BTreeMap;
use std::io::{self, Read};

use flate2::read::GzDecoder;
use hardway_base::archive::{self, ArchiveError, ArchiveLimits};

/// What is taken out of a bundle.
#[derive(Clone, Debug, Default)]
pub struct Bundle {
    /// By path, without the folder that everything lies in.
    pub files: BTreeMap<String, Vec<u8>>,
}

/// How much of a bundle is read.
#[derive(Clone, Copy, Debug)]
pub struct BundleLimits {
    /// Bytes of the whole archive, uncompressed.
    pub total: u64,
    /// Bytes of all that is taken out of it, names included: that is held in memory.
    pub kept: u64,
    /// Bytes of one file that is taken whole.
    pub file: u64,
    /// Bytes of the end of a log.
    pub tail: usize,
    /// Files and folders.
    pub entries: usize,
}

/// It cannot be read, or should not be.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// Not a tar archive, not compressed, cut off.
    #[error("it cannot be read as a tar.gz archive")]
    Unreadable(#[from] io::Error),
    /// More than a bundle has.
    #[error("it unpacks to more than {0} bytes, which no log bundle does")]
    TooLarge(u64),
    /// More than is held in memory.
    #[error("it has more than {0} bytes of logs and resources, which no log bundle has")]
    TooMuch(u64),
    /// More than a bundle has.
    #[error("it has more than {0} files, which no log bundle has")]
    TooMany(usize),
    /// A name that leads out of it.
    #[error("it contains the path {0:?}, which leads outside the archive: the file is malicious")]
    Outside(String),
    /// Nothing of what a bundle has.
    #[error("it is an archive, but not a log bundle")]
    NotABundle,
}

/// Longer than any path of a bundle.
const LONGEST_NAME: u64 = 16 << 10;

impl Default for BundleLimits {
    fn default() -> Self {
        Self { total: 8 << 30, kept: 512 << 20, file: 128 << 20, tail: 256 << 10, entries: 200_000 }
    }
}

impl Bundle {
    /// Takes what `wanted` names: the whole of a file, or the end of a log.
    pub fn read(
        compressed: impl Read,
        limits: BundleLimits,
        wanted: impl Fn(&str) -> Option<Take>,
    ) -> Result<Self, BundleError> {
        let mut bundle = Self::default();
        let mut kept = 0;
        walk(compressed, limits, |path, entry| {
            let bytes = match wanted(path) {
                None => return Ok(()),
                Some(Take::Tail) => tail(entry, limits.tail)?,
                Some(Take::Whole) => whole(entry, limits.file)?,
            };
            kept += (path.len() + bytes.len()) as u64;
            if kept > limits.kept {
                return Err(BundleError::TooMuch(limits.kept));
            }
            bundle.files.insert(path.to_owned(), bytes);
            Ok(())
        })?;
        if bundle.files.is_empty() { Err(BundleError::NotABundle) } else { Ok(bundle) }
    }
}

/// How much of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Take {
    /// The last lines.
    Tail,
    /// All of it.
    Whole,
}

/// Shows every ordinary file with its path, without the folder that everything lies in. Links, devices and folders are nothing
/// to look at.
pub(crate) fn walk(
    compressed: impl Read,
    limits: BundleLimits,
    mut see: impl FnMut(&str, &mut dyn Read) -> Result<(), BundleError>,
) -> Result<(), BundleError> {
    let members = limits.entries as u64;
    let bounds = ArchiveLimits { bytes: limits.total, members, name: LONGEST_NAME };
    let seen = archive::walk(GzDecoder::new(compressed), bounds, |path, member| {
        if member.is_plain() {
            let (_, path) = path.split_once('/').unwrap_or_default();
            see(path, member.data).map_err(Stopped::Refused)?;
        }
        Ok(true)
    });
    seen.map_err(|stopped| match stopped {
        Stopped::Archive(error) => BundleError::of(error, limits),
        Stopped::Refused(error) => error,
    })
}

/// Why a bundle was not read to its end.
enum Stopped {
    Archive(ArchiveError),
    Refused(BundleError),
}

impl From<ArchiveError> for Stopped {
    fn from(error: ArchiveError) -> Self {
        Self::Archive(error)
    }
}

impl BundleError {
    fn of(error: ArchiveError, limits: BundleLimits) -> Self {
        match error {
            ArchiveError::Unreadable(error) => Self::Unreadable(error),
            ArchiveError::TooManyBytes => Self::TooLarge(limits.total),
            ArchiveError::TooManyMembers => Self::TooMany(limits.entries),
            ArchiveError::LongName => Self::TooLarge(LONGEST_NAME),
            ArchiveError::Outside(name) => Self::Outside(name.chars().take(200).collect()),
            ArchiveError::TwoSizes(_) => Self::Unreadable(io::ErrorKind::InvalidData.into()),
        }
    }
}

/// All bytes of a stream, which are not to be many.
fn whole(reader: &mut dyn Read, limit: u64) -> Result<Vec<u8>, BundleError> {
    let mut bytes = Vec::new();
    reader.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(BundleError::TooLarge(limit)) } else { Ok(bytes) }
}

/// The last bytes of a stream, from the beginning of a line.
fn tail(reader: &mut dyn Read, size: usize) -> Result<Vec<u8>, BundleError> {
    let mut kept: Vec<u8> = Vec::new();
    let mut buffer = vec![0; 64 << 10];
    let mut is_cut = false;
    loop {
        let count = reader.read(&mut buffer)?;
        if count == 0 {
            break;
        }
        kept.extend_from_slice(&buffer[..count]);
        if kept.len() > 2 * size {
            kept.drain(..kept.len() - size);
            is_cut = true;
        }
    }
    if is_cut && let Some(end) = kept.iter().position(|byte| *byte == b'\n') {
        kept.drain(..=end);
    }
    Ok(kept)
}
