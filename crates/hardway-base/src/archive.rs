//! The members of a tar archive, one by one, within limits; nothing is unpacked.
//!
//! Archives come from elsewhere, so nothing in one is believed. Members are read raw because the library would otherwise hold
//! a long name, of whatever length it claims, in memory.

use std::cell::Cell;
use std::io::{self, Read};

pub use tar::EntryType;
use tar::{Archive, Entry, PaxExtensions};

/// How much of an archive is read.
#[derive(Clone, Copy, Debug)]
pub struct ArchiveLimits {
    /// Bytes of all of it.
    pub bytes: u64,
    /// Its members.
    pub members: u64,
    /// Bytes of a name that does not fit into a member's header.
    pub name: u64,
}

/// An archive that cannot be read, or should not be. Whoever reads it has the words.
#[derive(Debug)]
pub enum ArchiveError {
    /// Not an archive, or cut off.
    Unreadable(io::Error),
    /// More than its bytes may be.
    TooManyBytes,
    /// More than its members may be.
    TooManyMembers,
    /// A name is longer than names may be.
    LongName,
    /// A path that leads out of it.
    Outside(String),
    /// A member whose size other readers would understand differently.
    TwoSizes(String),
}

/// One member of the archive.
pub struct ArchiveMember<'a> {
    /// File, folder, link, …
    pub kind: EntryType,
    /// Of its data, in bytes.
    pub size: u64,
    /// Of a link.
    pub target: String,
    /// What is in it.
    pub data: &'a mut dyn Read,
}

impl ArchiveMember<'_> {
    /// A file with content; some writers call it contiguous.
    pub fn is_plain(&self) -> bool {
        self.kind.is_file() || self.kind.is_contiguous()
    }
}

/// Calls `visit` for each member, with its path below the root and without `./` before and `/` after it, until it answers
/// false.
pub fn walk<E: From<ArchiveError>>(
    archive: impl Read,
    limits: ArchiveLimits,
    visit: impl FnMut(&str, &mut ArchiveMember<'_>) -> Result<bool, E>,
) -> Result<(), E> {
    let left = Cell::new(Some(limits.bytes));
    let result = walk_capped(Archive::new(Capped { inner: archive, left: &left }), limits, visit);
    // Whoever reads the data of a member only sees an error like any other.
    if left.get().is_none() { Err(ArchiveError::TooManyBytes.into()) } else { result }
}

fn walk_capped<E: From<ArchiveError>>(
    mut archive: Archive<impl Read>,
    limits: ArchiveLimits,
    mut visit: impl FnMut(&str, &mut ArchiveMember<'_>) -> Result<bool, E>,
) -> Result<(), E> {
    let mut names = LongNames::default();
    let entries = archive.entries().map_err(ArchiveError::Unreadable)?.raw(true);
    for (count, entry) in (0..).zip(entries) {
        if count >= limits.members {
            return Err(ArchiveError::TooManyMembers.into());
        }
        let mut entry = entry.map_err(ArchiveError::Unreadable)?;
        if names.take(&mut entry, limits.name)? {
            continue;
        }
        let names = std::mem::take(&mut names);
        let size = entry.header().entry_size().map_err(ArchiveError::Unreadable)?;
        let path = names.path.unwrap_or_else(|| lossy(&entry.path_bytes()));
        if names.size.is_some_and(|other| other != size) {
            return Err(ArchiveError::TwoSizes(path).into());
        }
        let target = names
            .target
            .unwrap_or_else(|| entry.link_name_bytes().map(|name| lossy(&name)).unwrap_or_default());
        let path = inside(&path)?;
        let kind = entry.header().entry_type();
        if !visit(&path, &mut ArchiveMember { kind, size, target, data: &mut entry })? {
            return Ok(());
        }
    }
    Ok(())
}

/// Names too long for a header stand in members of their own before it.
#[derive(Default)]
struct LongNames {
    path: Option<String>,
    target: Option<String>,
    size: Option<u64>,
}

impl LongNames {
    /// Reads such a member; false for all others.
    fn take(&mut self, entry: &mut Entry<'_, impl Read>, limit: u64) -> Result<bool, ArchiveError> {
        let kind = entry.header().entry_type();
        if kind.is_pax_global_extensions() {
            return Ok(true);
        }
        if !(kind.is_gnu_longname() || kind.is_gnu_longlink() || kind.is_pax_local_extensions()) {
            return Ok(false);
        }
        if entry.size() > limit {
            return Err(ArchiveError::LongName);
        }
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).map_err(ArchiveError::Unreadable)?;
        if kind.is_pax_local_extensions() {
            self.read_pax(&bytes)?;
        } else {
            let name = lossy(bytes.split(|b| *b == 0).next().unwrap_or_default());
            *(if kind.is_gnu_longname() { &mut self.path } else { &mut self.target }) = Some(name);
        }
        Ok(true)
    }

    fn read_pax(&mut self, bytes: &[u8]) -> Result<(), ArchiveError> {
        for record in PaxExtensions::new(bytes) {
            let record = record.map_err(ArchiveError::Unreadable)?;
            match record.key_bytes() {
                b"path" => self.path = Some(lossy(record.value_bytes())),
                b"linkpath" => self.target = Some(lossy(record.value_bytes())),
                b"size" => self.size = record.value().ok().and_then(|size| size.parse().ok()),
                _ => {}
            }
        }
        Ok(())
    }
}

fn inside(path: &str) -> Result<String, ArchiveError> {
    if path.starts_with('/') || path.contains('\0') || path.split('/').any(|part| part == "..") {
        return Err(ArchiveError::Outside(path.to_owned()));
    }
    Ok(path.split('/').filter(|part| !part.is_empty() && *part != ".").collect::<Vec<_>>().join("/"))
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Ends with an error instead of reading without end. Nothing is left then.
struct Capped<'c, R> {
    inner: R,
    left: &'c Cell<Option<u64>>,
}

impl<R: Read> Read for Capped<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.left.set(self.left.get().and_then(|left| left.checked_sub(count as u64)));
        self.left.get().map(|_| count).ok_or_else(|| io::Error::from(io::ErrorKind::FileTooLarge))
    }
}
