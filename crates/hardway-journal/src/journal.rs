//! The file, open for appending.

use std::io::{ErrorKind, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use fs_err::os::unix::fs::OpenOptionsExt as _;
use fs_err::{File, OpenOptions};
use hardway_base::files;

use crate::record::LONGEST_LINE;
use crate::{Entry, Follower, JournalError, Record};

/// A journal that can be written. Several threads and several processes may do so at once.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    open: Mutex<Open>,
}

#[derive(Debug)]
struct Open {
    file: File,
    /// Knows where the last whole line ends, so that an append need not read the file again.
    follower: Follower,
    /// Whether lines that this process has written, or read, are gone from there: the next one says so.
    continues: bool,
}

impl Journal {
    /// Opens the journal, or begins one that only its owner can read.
    ///
    /// # Errors
    /// When the file cannot be opened, or a line in it does not check.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        Ok(Self::open_following(path)?.0)
    }

    /// Opens the journal, and gives what is in it and a follower of what comes: it is read once for all three.
    ///
    /// # Errors
    /// When the file cannot be opened, or a line in it does not check.
    pub fn open_following(path: &Path) -> Result<(Self, Vec<Record>, Follower), JournalError> {
        let (open, records) = Open::at(path)?;
        let follower = open.follower.clone();
        Ok((Self { path: path.to_owned(), open: Mutex::new(open) }, records, follower))
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the entries, in order and one behind the other, and returns their numbers once they are on the disk.
    ///
    /// # Errors
    /// When they could not be written; then none of them counts.
    pub fn append(&self, entries: &[Entry]) -> Result<Vec<u64>, JournalError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if !open.is_at(&self.path)? {
            // Somebody moved it away. What is written there would be lost; another begins here.
            *open = Open { continues: true, ..Open::at(&self.path)?.0 };
        }
        open.file.file().lock()?;
        let result = open.append(entries);
        let unlocked = open.file.file().unlock();
        let numbers = result?;
        unlocked?;
        Ok(numbers)
    }
}

impl Open {
    /// With what is in it.
    fn at(path: &Path) -> Result<(Self, Vec<Record>), JournalError> {
        let begun = !path.exists();
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)?;
        if begun {
            // The name of a new file is on the disk only once its folder is.
            files::sync_folder(files::folder_of(path))?;
        }
        let mut open = Self { file, follower: Follower::new(path), continues: false };
        // Another writer may be at work, and take back what it has written.
        open.file.file().lock_shared()?;
        let records = open.follower.news_of(&mut open.file);
        open.file.file().unlock()?;
        Ok((open, records?.records))
    }

    /// Whether the open file is still the one of that name.
    fn is_at(&self, path: &Path) -> Result<bool, JournalError> {
        match fs_err::metadata(path) {
            Ok(found) => Ok(found.ino() == self.file.metadata()?.ino()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// The lock is held.
    fn append(&mut self, entries: &[Entry]) -> Result<Vec<u64>, JournalError> {
        self.continues |= self.follower.news_of(&mut self.file)?.began_anew;
        let end = self.follower.end;
        let mut text = String::new();
        for (entry, seq) in entries.iter().zip(end.seq + 1..) {
            let mut record = Record::numbered(seq, entry);
            record.continues = self.continues && seq == end.seq + 1;
            let line = record.to_line();
            if line.len() > LONGEST_LINE {
                return Err(JournalError::TooLong { kind: entry.kind.clone(), bytes: line.len() });
            }
            text.push_str(&line);
        }
        // What stands behind the last line end was promised to nobody: its writer was killed before `append` returned.
        self.file.set_len(end.offset)?;
        self.file.seek(SeekFrom::Start(end.offset))?;
        if let Err(error) = self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_data()) {
            let _ = self.file.set_len(end.offset);
            return Err(error.into());
        }
        self.continues &= entries.is_empty();
        text.split_inclusive('\n').for_each(|line| self.follower.end.pass(line.as_bytes()));
        Ok((end.seq + 1..=self.follower.end.seq).collect())
    }
}
