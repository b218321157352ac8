//! Checksums of boot images: of a file, and of what is packed into it.

use std::io::{self, BufReader, Read, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use hardway_base::hex;
use sha2::{Digest as _, Sha256};

/// A file that is not what its sum says.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// It cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Damaged, cut short, or another file.
    #[error("{} has sha256 {found}, expected {expected}: remove it and download it again", .path.display())]
    Differs {
        /// The file.
        path: PathBuf,
        /// What the metadata says.
        expected: String,
        /// What the file has.
        found: String,
    },
}

/// Compares a file with its sum, in constant memory.
pub fn verify(path: &Path, sha256: &str) -> Result<(), VerifyError> {
    let found = sum(fs_err::File::open(path)?)?;
    if found.eq_ignore_ascii_case(sha256) {
        return Ok(());
    }
    Err(VerifyError::Differs { path: path.to_owned(), expected: sha256.to_owned(), found })
}

/// The sum of what is inside a gzip or zstd file; nothing for other packings. Releases from 4.18 on have no others.
pub(super) fn sha256_inside(file: &mut std::fs::File) -> io::Result<Option<String>> {
    let mut magic = [0; 4];
    file.seek(SeekFrom::Start(0))?;
    let length = file.read(&mut magic)?;
    file.seek(SeekFrom::Start(0))?;
    let packed = BufReader::with_capacity(1 << 18, file);
    match &magic[..length] {
        [0x1f, 0x8b, ..] => sum(flate2::bufread::MultiGzDecoder::new(packed)).map(Some),
        [0x28, 0xb5, 0x2f, 0xfd] => sum(zstd::stream::read::Decoder::with_buffer(packed)?).map(Some),
        _ => Ok(None),
    }
}

fn sum(mut content: impl Read) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 18];
    loop {
        match content.read(&mut buffer)? {
            0 => return Ok(hex::encode(hash.finalize())),
            n => hash.update(&buffer[..n]),
        }
    }
}
