//! A bundle that is there.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest as _, Sha256};
use tar::Header;

use super::contents::{BundleContents, CONTENTS, LARGEST, Part, SUM};
use super::error::BundleError;
use super::member::{self, BLOCK};
use crate::digest::Digest;
use crate::progress::DownloadProgress;

/// The file, with every part where it should be. Whether a part's bytes are right is another question: [`Bundle::check`].
#[derive(Debug)]
pub struct Bundle {
    path: PathBuf,
    file: Arc<File>,
    /// The list of parts, as a part.
    head: Part,
    contents: BundleContents,
    /// Where the data of each part begins.
    offsets: Vec<u64>,
    length: u64,
}

/// Some bytes of an open file.
#[derive(Clone, Debug)]
pub(crate) struct Extent {
    pub(crate) file: Arc<File>,
    pub(crate) path: PathBuf,
    pub(crate) offset: u64,
    pub(crate) size: u64,
}

/// How much is read at once.
const PIECE: usize = 1 << 20;

impl Bundle {
    /// Opens a file that [`write`](super::write) made. Refused by the name of the first part that is not there whole.
    ///
    /// # Errors
    /// When the file is none, is cut off, or has anything else than its list of parts says.
    pub fn open(path: &Path) -> Result<Self, BundleError> {
        let file = fs_err::File::open(path)?.into_parts().0;
        let length = file.metadata()?.len();
        let not_bundle =
            |detail: &str| BundleError::NotBundle { path: path.to_owned(), detail: detail.to_owned() };
        let mut block = [0; BLOCK as usize];
        if length < BLOCK {
            return Err(not_bundle("it is shorter than anything in a bundle"));
        }
        file.read_exact_at(&mut block, 0)?;
        let first = Header::from_byte_slice(&block);
        let is_contents = first.path().is_ok_and(|name| name == Path::new(CONTENTS));
        let size = first.size().ok().filter(|size| is_contents && *size <= LARGEST);
        let size = size
            .ok_or_else(|| not_bundle("it does not begin with hardway-bundle.json, the list of its parts"))?;
        if member::length(size) > length {
            let part = format!("{CONTENTS} (the list of parts)");
            return Err(BundleError::Cut {
                path: path.to_owned(),
                part,
                found: (length - BLOCK).min(size),
                expected: size,
            });
        }
        let mut json = vec![0; usize::try_from(size).map_err(io::Error::other)?];
        file.read_exact_at(&mut json, BLOCK)?;
        let part = Part::of_bytes(CONTENTS, &json, "the list of parts");
        let damaged =
            |detail: String| BundleError::Damaged { path: path.to_owned(), part: part.shown(), detail };
        let contents = BundleContents::read(&json).map_err(damaged)?;
        if first.as_bytes() != member::header(&part).as_bytes() {
            return Err(damaged("its header in the archive differs".to_owned()));
        }
        let mut bundle = Self {
            path: path.to_owned(),
            file: Arc::new(file),
            head: part,
            contents,
            offsets: Vec::new(),
            length,
        };
        bundle.find_parts(member::length(size))?;
        Ok(bundle)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it says about itself.
    pub fn contents(&self) -> &BundleContents {
        &self.contents
    }

    /// The digest of its list of parts, and so of everything in it.
    pub fn id(&self) -> &Digest {
        &self.head.digest
    }

    /// Of the file, in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Reads all of it and compares every part with its digest. Takes as long as reading the file takes.
    ///
    /// # Errors
    /// At the first part that is not what the list says.
    pub fn check(&self, progress: &dyn DownloadProgress) -> Result<(), BundleError> {
        let name = format!("checking {}", self.path.display());
        let mut buffer = vec![0; PIECE];
        self.ends_in_zeros(&self.head, BLOCK)?;
        for (part, offset) in self.contents.parts.iter().zip(&self.offsets) {
            let found = digest_within(&self.file, *offset, part.size, &mut buffer)?;
            if found != part.digest {
                let detail = format!("its bytes have the digest {found}, not {}", part.digest);
                return Err(self.damaged(part, detail));
            }
            self.ends_in_zeros(part, *offset)?;
            progress.bytes(&name, offset + part.size, self.length);
        }
        progress.bytes(&name, self.length, self.length);
        Ok(())
    }

    /// Where a part's bytes are.
    pub(crate) fn extent(&self, index: usize) -> Extent {
        Extent {
            file: self.file.clone(),
            path: self.path.clone(),
            offset: self.offsets[index],
            size: self.contents.parts[index].size,
        }
    }

    /// The bytes of a small part, compared with its digest.
    pub(crate) fn bytes(&self, index: usize) -> Result<Vec<u8>, BundleError> {
        let part = &self.contents.parts[index];
        if part.size > LARGEST {
            return Err(self.damaged(part, "it is larger than it can be".to_owned()));
        }
        let mut bytes = vec![0; usize::try_from(part.size).map_err(io::Error::other)?];
        self.file.read_exact_at(&mut bytes, self.offsets[index])?;
        match Digest::of(&bytes) {
            found if found == part.digest => Ok(bytes),
            found => {
                Err(self.damaged(part, format!("its bytes have the digest {found}, not {}", part.digest)))
            }
        }
    }

    /// Every header must be the one that the list leads to, and nothing may be left over.
    fn find_parts(&mut self, mut at: u64) -> Result<(), BundleError> {
        let mut found = [0; BLOCK as usize];
        for part in &self.contents.parts {
            let end = at.saturating_add(member::length(part.size));
            if end > self.length {
                self.list_is_right()?;
                let found = self.length.saturating_sub(at.saturating_add(BLOCK)).min(part.size);
                return Err(BundleError::Cut {
                    path: self.path.clone(),
                    part: part.shown(),
                    found,
                    expected: part.size,
                });
            }
            self.file.read_exact_at(&mut found, at)?;
            if &found != member::header(part).as_bytes() {
                self.list_is_right()?;
                let detail = "its header in the archive differs".to_owned();
                return Err(self.damaged(part, detail));
            }
            self.offsets.push(at + BLOCK);
            at = end;
        }
        let closing = member::closing(&self.head.digest);
        let (end, part) = (at + closing.len() as u64, format!("{SUM} (sum of the list of parts)"));
        if self.length < end {
            let (path, expected) = (self.path.clone(), closing.len() as u64);
            return Err(BundleError::Cut { path, part, found: self.length - at, expected });
        }
        let mut found = vec![0; closing.len()];
        self.file.read_exact_at(&mut found, at)?;
        let detail = match found == closing {
            true if self.length == end => return Ok(()),
            true => "there is more after it than a bundle has".to_owned(),
            false => format!("{CONTENTS} or it was changed: it should be the sum {}", self.head.digest.hex()),
        };
        Err(BundleError::Damaged { path: self.path.clone(), part, detail })
    }

    /// Where list and parts do not agree, the file may end with the sum of another list: then it is the list that was changed.
    fn list_is_right(&self) -> Result<(), BundleError> {
        let closing = member::closing(&self.head.digest);
        let mut found = vec![0; closing.len()];
        let Some(at) = self.length.checked_sub(closing.len() as u64) else { return Ok(()) };
        self.file.read_exact_at(&mut found, at)?;
        let header = ..BLOCK as usize;
        match found[header] == closing[header] && found != closing {
            true => {
                let detail = "its digest is not the one that the file ends with".to_owned();
                Err(self.damaged(&self.head, detail))
            }
            false => Ok(()),
        }
    }

    fn ends_in_zeros(&self, part: &Part, offset: u64) -> Result<(), BundleError> {
        let mut zeros = vec![0; usize::try_from(member::padding(part.size)).unwrap_or_default()];
        self.file.read_exact_at(&mut zeros, offset + part.size)?;
        match zeros.iter().all(|byte| *byte == 0) {
            true => Ok(()),
            false => Err(self.damaged(part, "there is something between it and the next part".to_owned())),
        }
    }

    fn damaged(&self, part: &Part, detail: String) -> BundleError {
        BundleError::Damaged { path: self.path.clone(), part: part.shown(), detail }
    }
}

/// The digest of some bytes of a file. Whoever else reads the file does not notice.
pub(super) fn digest_within(file: &File, offset: u64, size: u64, buffer: &mut [u8]) -> io::Result<Digest> {
    let mut hash = Sha256::new();
    let mut done = 0;
    while done < size {
        let most = buffer.len().min(usize::try_from(size - done).unwrap_or(usize::MAX));
        match file.read_at(&mut buffer[..most], offset + done)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            n => {
                hash.update(&buffer[..n]);
                done += n as u64;
            }
        }
    }
    Ok(Digest::from_hash(hash))
}
