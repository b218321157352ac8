//! A log bundle: a compressed tar archive, read once from front to back and never unpacked. It may come from anywhere, so
//! everything in it is bounded: bytes, entries, names.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::{self, Read};

use flate2::read::GzDecoder;
use tar::{Archive, Entry, EntryType};

/// What is taken out of a bundle.
#[derive(Clone, Debug, Default)]
pub struct Bundle {
    /// By path, without the folder that everything lies in.
    pub files: BTreeMap<String, Vec<u8>>,
}

/// How much of a bundle is read.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
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
    #[error("it unpacks to more than {0} bytes: no bundle does")]
    TooLarge(u64),
    /// More than is held in memory.
    #[error("it has more than {0} bytes of logs and resources that are looked at: no bundle does")]
    TooMuch(u64),
    /// More than a bundle has.
    #[error("it has more than {0} files: no bundle does")]
    TooMany(usize),
    /// A name that leads out of it.
    #[error("it names {0:?}, which is outside of it: somebody made it to do harm")]
    Outside(String),
    /// Nothing of what a bundle has.
    #[error("it is an archive, but has nothing of a log bundle in it")]
    NotABundle,
}

/// Longer than any path of a bundle.
const LONGEST_NAME: u64 = 16 << 10;

impl Default for Limits {
    fn default() -> Self {
        Self { total: 8 << 30, kept: 512 << 20, file: 128 << 20, tail: 256 << 10, entries: 200_000 }
    }
}

impl Bundle {
    /// Takes what `wanted` names: the whole of a file, or the end of a log.
    pub fn read(
        compressed: impl Read,
        limits: Limits,
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
/// to look at. The archive's long names are read here and not by the library, which would take any length.
pub(crate) fn walk(
    compressed: impl Read,
    limits: Limits,
    mut see: impl FnMut(&str, &mut dyn Read) -> Result<(), BundleError>,
) -> Result<(), BundleError> {
    let left = Cell::new(limits.total);
    let result = walk_bounded(Bounded { inner: GzDecoder::new(compressed), left: &left }, limits, &mut see);
    if left.get() == 0 { Err(BundleError::TooLarge(limits.total)) } else { result }
}

fn walk_bounded(
    reader: impl Read,
    limits: Limits,
    see: &mut impl FnMut(&str, &mut dyn Read) -> Result<(), BundleError>,
) -> Result<(), BundleError> {
    let mut archive = Archive::new(reader);
    let mut long_name: Option<String> = None;
    for (count, entry) in archive.entries()?.raw(true).enumerate() {
        if count >= limits.entries {
            return Err(BundleError::TooMany(limits.entries));
        }
        let mut entry = entry?;
        match entry.header().entry_type() {
            EntryType::GNULongName => {
                let text = short_text(&mut entry)?;
                long_name = Some(text.trim_end_matches('\0').to_owned());
            }
            EntryType::XHeader => long_name = extended_path(&short_text(&mut entry)?).or(long_name),
            EntryType::Regular | EntryType::Continuous => {
                let short = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
                let name = long_name.take().unwrap_or(short);
                see(&inside(&name)?, &mut entry)?;
            }
            _ => {
                let short = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
                inside(&long_name.take().unwrap_or(short))?;
            }
        }
    }
    Ok(())
}

/// The path without `./` and without its first folder.
fn inside(name: &str) -> Result<String, BundleError> {
    let leads_out = name.starts_with('/') || name.split('/').any(|part| part == "..") || name.contains('\0');
    if leads_out {
        return Err(BundleError::Outside(name.chars().take(200).collect()));
    }
    let parts: Vec<&str> = name.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    Ok(parts.get(1..).unwrap_or_default().join("/"))
}

fn short_text(entry: &mut Entry<'_, impl Read>) -> Result<String, BundleError> {
    let mut bytes = Vec::new();
    entry.take(LONGEST_NAME + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LONGEST_NAME {
        return Err(BundleError::TooLarge(LONGEST_NAME));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// `path` of a pax header: lines of `LENGTH KEY=VALUE`.
fn extended_path(header: &str) -> Option<String> {
    header.lines().find_map(|line| line.split_once(' ')?.1.strip_prefix("path=").map(str::to_owned))
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

/// Ends with an error once so many bytes were read.
struct Bounded<'c, R> {
    inner: R,
    left: &'c Cell<u64>,
}

impl<R: Read> Read for Bounded<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        let left = self.left.get().saturating_sub(count as u64);
        self.left.set(left);
        if left == 0 { Err(io::Error::other("too much")) } else { Ok(count) }
    }
}
