//! The archive inside a layer: its members one by one, within limits.
//!
//! Layers come from elsewhere, so nothing in one is believed. Members are read raw because the archive reader would
//! otherwise hold a long name, of whatever length it claims, in memory.

use std::io::{self, BufRead, Read};

use tar::{Archive, Entry, EntryType, PaxExtensions};

/// How much of a layer is read. The defaults are ten times what releases have.
#[derive(Clone, Copy, Debug)]
pub struct LayerLimits {
    /// Bytes of one kept file.
    pub file: u64,
    /// Bytes of all kept files.
    pub total: u64,
    /// Entries of the archive.
    pub entries: u64,
    /// Bytes of the archive once decompressed, kept or not.
    pub archive: u64,
}

impl Default for LayerLimits {
    fn default() -> Self {
        Self { file: 16 << 20, total: 256 << 20, entries: 1_000_000, archive: 16 << 30 }
    }
}

/// A layer that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LayerError {
    /// Broken compression or archive.
    #[error("the layer cannot be read: {0}")]
    Unreadable(#[source] io::Error),
    /// Writing a file out failed.
    #[error("cannot write: {0}")]
    Write(#[source] io::Error),
    /// A path that leaves the root.
    #[error("the layer has the path {0:?}, which leads out of the image")]
    PathOutside(String),
    /// A link where only files may be.
    #[error("the layer has {path:?} as a link to {target:?}; only plain files are taken from there")]
    Link {
        /// Of the link.
        path: String,
        /// Of what it names.
        target: String,
    },
    /// A device, a sparse file or something as odd.
    #[error("the layer has {0:?} as something that is no plain file")]
    NotAFile(String),
    /// A header that other readers would understand differently.
    #[error("the layer gives {0:?} two sizes")]
    TwoSizes(String),
    /// More than a release has by far.
    #[error("the layer has more than {limit} {what}; no release comes near that")]
    TooMuch {
        /// Such as `bytes in release-manifests/x.yaml`.
        what: String,
        /// The limit.
        limit: u64,
    },
}

/// One member of the archive with its true name.
pub(crate) struct Member<'a> {
    pub(crate) kind: EntryType,
    pub(crate) size: u64,
    /// Of a link.
    pub(crate) target: String,
    pub(crate) data: &'a mut dyn Read,
}

impl Member<'_> {
    /// The error for a member that is not what it should be.
    pub(crate) fn refused(&self, path: &str) -> LayerError {
        if self.kind.is_symlink() || self.kind.is_hard_link() {
            return LayerError::Link { path: path.to_owned(), target: self.target.clone() };
        }
        LayerError::NotAFile(path.to_owned())
    }

    /// The bytes of a plain file.
    pub(crate) fn read_file(&mut self, path: &str, limit: u64) -> Result<Vec<u8>, LayerError> {
        if !is_plain(self.kind) {
            return Err(self.refused(path));
        }
        if self.size > limit {
            return Err(LayerError::TooMuch { what: format!("bytes in {path}"), limit });
        }
        let mut bytes = Vec::new();
        self.data.read_to_end(&mut bytes).map_err(LayerError::Unreadable)?;
        Ok(bytes)
    }
}

/// Calls `visit` for each member until it answers false.
pub(crate) fn walk(
    layer: impl BufRead,
    limits: LayerLimits,
    mut visit: impl FnMut(&str, &mut Member<'_>) -> Result<bool, LayerError>,
) -> Result<(), LayerError> {
    let plain = Capped { inner: decompressed(layer)?, left: limits.archive };
    let mut archive = Archive::new(plain);
    let mut names = LongNames::default();
    let entries = archive.entries().map_err(LayerError::Unreadable)?.raw(true);
    for (i, entry) in (0_u64..).zip(entries) {
        if i >= limits.entries {
            return Err(LayerError::TooMuch { what: "entries".to_owned(), limit: limits.entries });
        }
        let mut entry = entry.map_err(|error| unreadable(error, limits))?;
        if names.take(&mut entry)? {
            continue;
        }
        let names = std::mem::take(&mut names);
        let size = entry.header().entry_size().map_err(LayerError::Unreadable)?;
        let path = names.path.unwrap_or_else(|| lossy(&entry.path_bytes()));
        if names.size.is_some_and(|other| other != size) {
            return Err(LayerError::TwoSizes(path));
        }
        let target = names
            .target
            .unwrap_or_else(|| entry.link_name_bytes().map(|name| lossy(&name)).unwrap_or_default());
        let path = inside(&path)?;
        let kind = entry.header().entry_type();
        if !visit(&path, &mut Member { kind, size, target, data: &mut entry })? {
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

/// Longer than any path a system allows.
const NAME_LIMIT: u64 = 64 << 10;

impl LongNames {
    /// Reads such a member; false for all others.
    fn take(&mut self, entry: &mut Entry<'_, impl Read>) -> Result<bool, LayerError> {
        let kind = entry.header().entry_type();
        if kind.is_pax_global_extensions() {
            return Ok(true);
        }
        if !(kind.is_gnu_longname() || kind.is_gnu_longlink() || kind.is_pax_local_extensions()) {
            return Ok(false);
        }
        if entry.size() > NAME_LIMIT {
            return Err(LayerError::TooMuch { what: "bytes in a name".to_owned(), limit: NAME_LIMIT });
        }
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).map_err(LayerError::Unreadable)?;
        if kind.is_pax_local_extensions() {
            self.read_pax(&bytes)?;
        } else {
            let name = lossy(bytes.split(|b| *b == 0).next().unwrap_or_default());
            *(if kind.is_gnu_longname() { &mut self.path } else { &mut self.target }) = Some(name);
        }
        Ok(true)
    }

    fn read_pax(&mut self, bytes: &[u8]) -> Result<(), LayerError> {
        for record in PaxExtensions::new(bytes) {
            let record = record.map_err(LayerError::Unreadable)?;
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

/// The path below the root, without `./` before and `/` after it.
fn inside(path: &str) -> Result<String, LayerError> {
    if path.starts_with('/') || path.contains('\0') || path.split('/').any(|part| part == "..") {
        return Err(LayerError::PathOutside(path.to_owned()));
    }
    Ok(path.split('/').filter(|part| !part.is_empty() && *part != ".").collect::<Vec<_>>().join("/"))
}

/// A file with content; some writers call it contiguous.
pub(crate) fn is_plain(kind: EntryType) -> bool {
    kind.is_file() || kind.is_contiguous()
}

/// By their first bytes: the media type of a layer may be wrong, and mirrors recompress.
fn decompressed<'r>(mut layer: impl BufRead + 'r) -> Result<Box<dyn Read + 'r>, LayerError> {
    let start = layer.fill_buf().map_err(LayerError::Unreadable)?;
    if start.starts_with(&[0x1f, 0x8b]) {
        return Ok(Box::new(flate2::bufread::MultiGzDecoder::new(layer)));
    }
    if start.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        let decoder = zstd::Decoder::with_buffer(layer).map_err(LayerError::Unreadable)?;
        return Ok(Box::new(decoder));
    }
    Ok(Box::new(layer))
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Ends with an error instead of reading without end.
struct Capped<R> {
    inner: R,
    left: u64,
}

impl<R: Read> Read for Capped<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.left =
            self.left.checked_sub(n as u64).ok_or_else(|| io::Error::from(io::ErrorKind::FileTooLarge))?;
        Ok(n)
    }
}

fn unreadable(error: io::Error, limits: LayerLimits) -> LayerError {
    if error.kind() == io::ErrorKind::FileTooLarge {
        return LayerError::TooMuch { what: "bytes".to_owned(), limit: limits.archive };
    }
    LayerError::Unreadable(error)
}
