//! Reading, once or again and again.

use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use fs_err::File;

use crate::{JournalError, Record};

/// Every record. A file that is not there has none.
///
/// # Errors
/// When the file cannot be read, or a line does not check.
pub fn read(path: &Path) -> Result<Vec<Record>, JournalError> {
    Follower::new(path).news()
}

/// Reads what others append.
#[derive(Clone, Debug)]
pub struct Follower {
    path: PathBuf,
    pub(crate) end: End,
    /// Which file that is the end of: somebody may move the journal away, and another begins in its place.
    inode: Option<u64>,
}

/// Behind the last whole line that was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) offset: u64,
    pub(crate) seq: u64,
}

impl Follower {
    /// From the first record on. The file need not be there yet.
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), end: End::default(), inode: None }
    }

    /// The records since the last call; of a journal that began anew meanwhile, all of them. A line without its end is not there yet: it is still being written, or its
    /// writer was killed.
    ///
    /// # Errors
    /// When the file cannot be read, a line does not check, or the file has become shorter.
    pub fn news(&mut self) -> Result<Vec<Record>, JournalError> {
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error.into()),
        };
        self.news_of(&mut file)
    }

    pub(crate) fn news_of(&mut self, file: &mut File) -> Result<Vec<Record>, JournalError> {
        let metadata = file.metadata()?;
        if self.inode.replace(metadata.ino()).is_some_and(|known| known != metadata.ino()) {
            self.end = End::default();
        }
        if metadata.len() < self.end.offset {
            let text = format!("{} has become shorter while it was read", self.path.display());
            return Err(io::Error::other(text).into());
        }
        file.seek(SeekFrom::Start(self.end.offset))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        let mut records = Vec::new();
        for line in bytes[..whole].split_inclusive(|byte| *byte == b'\n') {
            let seq = self.end.seq + 1;
            let record = Record::from_line(&line[..line.len() - 1], seq)
                .map_err(|flaw| JournalError::Damaged { path: self.path.clone(), line: seq, flaw })?;
            self.end = End { offset: self.end.offset + line.len() as u64, seq };
            records.push(record);
        }
        Ok(records)
    }
}
