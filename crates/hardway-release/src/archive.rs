//! The archive inside a layer: what is refused, and how much is read.

use std::io::{self, BufRead, Read};

use hardway_base::archive::{self, ArchiveError, ArchiveLimits, ArchiveMember};

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
    #[error("the layer has the path {0:?}, which leads outside the image")]
    PathOutside(String),
    /// A link where only files may be.
    #[error("in the layer, {path:?} is a link to {target:?}; only regular files are accepted there")]
    Link {
        /// Of the link.
        path: String,
        /// Of what it names.
        target: String,
    },
    /// A device, a sparse file or something as odd.
    #[error("in the layer, {0:?} is not a regular file")]
    NotAFile(String),
    /// A header that other readers would understand differently.
    #[error("the layer gives {0:?} two sizes")]
    TwoSizes(String),
    /// More than a release has by far.
    #[error("the layer has more than {limit} {what}, which no release has")]
    TooMuch {
        /// Such as `bytes in release-manifests/x.yaml`.
        what: String,
        /// The limit.
        limit: u64,
    },
}

impl LayerError {
    /// A member that is not what it should be.
    pub(crate) fn refused(path: &str, member: &ArchiveMember<'_>) -> Self {
        if member.kind.is_symlink() || member.kind.is_hard_link() {
            return Self::Link { path: path.to_owned(), target: member.target.clone() };
        }
        Self::NotAFile(path.to_owned())
    }

    fn of(error: ArchiveError, limits: LayerLimits) -> Self {
        let too_much = |what: &str, limit| Self::TooMuch { what: what.to_owned(), limit };
        match error {
            ArchiveError::Unreadable(error) => Self::Unreadable(error),
            ArchiveError::TooManyBytes => too_much("bytes", limits.archive),
            ArchiveError::TooManyMembers => too_much("entries", limits.entries),
            ArchiveError::LongName => too_much("bytes in a name", LONGEST_NAME),
            ArchiveError::Outside(path) => Self::PathOutside(path),
            ArchiveError::TwoSizes(path) => Self::TwoSizes(path),
        }
    }
}

/// Longer than any path a system allows.
const LONGEST_NAME: u64 = 64 << 10;

/// Calls `visit` for each member until it answers false.
pub(crate) fn walk(
    layer: impl BufRead,
    limits: LayerLimits,
    mut visit: impl FnMut(&str, &mut ArchiveMember<'_>) -> Result<bool, LayerError>,
) -> Result<(), LayerError> {
    let bounds = ArchiveLimits { bytes: limits.archive, members: limits.entries, name: LONGEST_NAME };
    let seen = archive::walk(decompressed(layer)?, bounds, |path, member| {
        visit(path, member).map_err(Stopped::Refused)
    });
    seen.map_err(|stopped| match stopped {
        Stopped::Archive(error) => LayerError::of(error, limits),
        Stopped::Refused(error) => error,
    })
}

/// The bytes of a plain file.
pub(crate) fn read_file(
    path: &str,
    member: &mut ArchiveMember<'_>,
    limit: u64,
) -> Result<Vec<u8>, LayerError> {
    if !member.is_plain() {
        return Err(LayerError::refused(path, member));
    }
    if member.size > limit {
        return Err(LayerError::TooMuch { what: format!("bytes in {path}"), limit });
    }
    let mut bytes = Vec::new();
    member.data.read_to_end(&mut bytes).map_err(LayerError::Unreadable)?;
    Ok(bytes)
}

/// Why a layer was not read to its end.
enum Stopped {
    Archive(ArchiveError),
    Refused(LayerError),
}

impl From<ArchiveError> for Stopped {
    fn from(error: ArchiveError) -> Self {
        Self::Archive(error)
    }
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
