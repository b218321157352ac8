//! A copy of an image with some bytes changed.

use std::fs::File;
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use hardway_base::files::{self, Replacement};

use super::error::MediaError;

/// Bytes to put somewhere.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Patch {
    /// From the beginning of the image.
    pub(super) offset: u64,
    /// What goes there.
    pub(super) bytes: Vec<u8>,
}

// By hand: configs hold keys.
impl std::fmt::Debug for Patch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes at {}", self.bytes.len(), self.offset)
    }
}

/// Writes `to`, for the owner alone, in place of whatever is there; it has its name once it is complete. The image
/// itself is never written to.
///
/// `std::io::copy` between files is `copy_file_range` on Linux: where the file system can share blocks between files
/// (XFS, Btrfs), nothing is copied but the patches.
pub(super) fn copy(image: &Path, patches: &[Patch], to: &Path) -> Result<(), MediaError> {
    let mut medium = Replacement::begin(to, 0o600)
        .map_err(MediaError::io(files::folder_of(to), "make a temporary file"))?;
    let mut from = File::open(image).map_err(MediaError::io(image, "read"))?;
    let out = medium.file();
    io::copy(&mut from, out).and_then(|_| apply(patches, out)).map_err(MediaError::io(to, "write"))?;
    medium.commit().map_err(MediaError::io(to, "rename"))
}

fn apply(patches: &[Patch], out: &mut File) -> io::Result<()> {
    for patch in patches {
        out.seek(SeekFrom::Start(patch.offset))?;
        out.write_all(&patch.bytes)?;
    }
    Ok(())
}
