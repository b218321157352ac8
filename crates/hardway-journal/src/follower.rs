//! Reading, once or again and again.

use std::fs::TryLockError;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use fs_err::File;

use crate::record::LINE_END;
use crate::{Flaw, JournalError, Record};

/// Every record. A file that is not there has none.
///
/// # Errors
/// When the file cannot be read, or a line does not check.
pub fn read(path: &Path) -> Result<Vec<Record>, JournalError> {
    Ok(Follower::new(path).news()?.records)
}

/// What was appended since the last look.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Appended {
    /// Another journal is in the place of the one that was read, or its lines were cut off or replaced: nothing that was read before holds any
    /// more, and these are all the records there are.
    pub began_anew: bool,
    /// In order.
    pub records: Vec<Record>,
}

/// Reads what others append.
#[derive(Clone, Debug)]
pub struct Follower {
    path: PathBuf,
    pub(crate) end: End,
    /// Which file that is the end of: somebody may move the journal away, and another begins in its place.
    inode: Option<u64>,
    /// It began anew, and nobody was told yet: the lines of the new one did not check so far.
    is_anew: bool,
}

/// Behind the last whole line that was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) offset: u64,
    pub(crate) seq: u64,
    /// The last bytes of that line, which hold its checksum.
    line_end: Option<[u8; LINE_END]>,
}

/// Of a writer that is not done: appends take milliseconds, but a writer may have been stopped, or its disk may hang.
const PATIENCE: u32 = 100;
const PAUSE: Duration = Duration::from_millis(10);

impl Follower {
    /// From the first record on. The file need not be there yet.
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), end: End::default(), inode: None, is_anew: false }
    }

    /// The records since the last call; of a journal that began anew meanwhile, all of them. A line without its end is not there yet: it
    /// is still being written, or its writer was killed. While there is no file, what was read holds.
    ///
    /// A writer is waited for, because it takes back what it cannot bring to the disk. One that is not done after a second is
    /// waited for no longer; should it take back what was read here, the next call finds that out.
    ///
    /// # Errors
    /// When the file cannot be read, or a line does not check.
    pub fn news(&mut self) -> Result<Appended, JournalError> {
        self.news_after(PATIENCE)
    }

    fn news_after(&mut self, patience: u32) -> Result<Appended, JournalError> {
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Appended::default()),
            Err(error) => return Err(error.into()),
        };
        // This lock is of the file opened here: it goes with it, and is another than that of a writer in this process.
        wait_for_writer(&file, patience)?;
        self.news_of(&mut file)
    }

    /// No writer is at work, or it is the caller.
    pub(crate) fn news_of(&mut self, file: &mut File) -> Result<Appended, JournalError> {
        let inode = file.metadata()?.ino();
        let is_known = self.inode.replace(inode).is_none_or(|known| known == inode);
        if !is_known || !self.end.is_in(file)? {
            self.is_anew |= self.end != End::default();
            self.end = End::default();
        }
        file.seek(SeekFrom::Start(self.end.offset))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        let (mut end, mut records) = (self.end, Vec::new());
        for line in bytes[..whole].split_inclusive(|byte| *byte == b'\n') {
            let seq = end.seq + 1;
            let record =
                Record::from_line(&line[..line.len() - 1], seq).map_err(|flaw| self.refused(seq, flaw))?;
            end.pass(line);
            records.push(record);
        }
        // Only now: what was not handed out is news the next time.
        self.end = end;
        Ok(Appended { began_anew: std::mem::take(&mut self.is_anew), records })
    }

    fn refused(&self, line: u64, flaw: Flaw) -> JournalError {
        let path = self.path.clone();
        match flaw {
            Flaw::Newer(version) => JournalError::Newer { path, line, version },
            flaw => JournalError::Damaged { path, line, flaw },
        }
    }
}

impl End {
    /// Goes behind one more line.
    pub(crate) fn pass(&mut self, line: &[u8]) {
        self.offset += line.len() as u64;
        self.seq += 1;
        self.line_end = line.last_chunk().copied();
    }

    /// Whether the last line still stands where it was read. Numbers of files are used again, and files are cut and written
    /// over in place.
    fn is_in(&self, file: &mut File) -> io::Result<bool> {
        let Some(expected) = self.line_end else { return Ok(true) };
        file.seek(SeekFrom::Start(self.offset - LINE_END as u64))?;
        let mut found = [0; LINE_END];
        match file.read_exact(&mut found) {
            Ok(()) => Ok(found == expected),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
            Err(error) => Err(error),
        }
    }
}

fn wait_for_writer(file: &File, patience: u32) -> io::Result<()> {
    for _ in 0..patience {
        match file.file().try_lock_shared() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Entry, Journal, NodeJoined};

    fn entry(host: &str) -> Entry {
        Entry::of("2026-11-15T06:00:00Z".parse().unwrap(), &NodeJoined { host: host.to_owned() })
    }

    fn lines(hosts: &[&str]) -> String {
        hosts.iter().zip(1..).map(|(host, seq)| Record::numbered(seq, &entry(host)).to_line()).collect()
    }

    fn hosts(records: &[Record]) -> Vec<String> {
        records.iter().map(|record| record.fact::<NodeJoined>().unwrap().unwrap().host).collect()
    }

    #[test]
    fn what_a_writer_takes_back_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        fs_err::write(&path, lines(&["a"])).unwrap();
        let mut follower = Follower::new(&path);
        assert_eq!(hosts(&follower.news().unwrap().records), ["a"]);
        // A writer whose disk refuses the sync, step by step.
        let writer = File::options().write(true).open(&path).unwrap();
        writer.file().lock().unwrap();
        fs_err::write(&path, lines(&["a", "b"])).unwrap();
        let reader = thread::spawn(move || (follower.news_after(u32::MAX).unwrap(), follower));
        // Time for a reader that does not wait to go wrong.
        thread::sleep(Duration::from_millis(50));
        writer.set_len(lines(&["a"]).len() as u64).unwrap();
        writer.file().unlock().unwrap();
        let (news, mut follower) = reader.join().unwrap();
        assert_eq!(news, Appended::default());
        Journal::open(&path).unwrap().append(&[entry("c")]).unwrap();
        assert_eq!(hosts(&follower.news().unwrap().records), ["c"]);
    }

    #[test]
    fn a_writer_that_is_not_done_holds_nobody_up_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        fs_err::write(&path, lines(&["a"])).unwrap();
        let writer = File::open(&path).unwrap();
        writer.file().lock().unwrap();
        let mut follower = Follower::new(&path);
        assert_eq!(hosts(&follower.news_after(1).unwrap().records), ["a"]);
        assert_eq!(follower.news().unwrap(), Appended::default());
    }

    #[test]
    fn a_journal_of_the_same_number_that_has_other_lines_is_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let mut follower = Follower::new(&path);
        for (there, news, is_anew) in [
            (&["a", "b"][..], &["a", "b"][..], false),
            (&["a"], &["a"], true),
            (&["a", "c"], &["c"], false),
            // As long as before, and longer.
            (&["d", "e"], &["d", "e"], true),
            (&["f", "g", "h"], &["f", "g", "h"], true),
            (&[], &[], true),
            (&["i"], &["i"], false),
        ] {
            fs_err::write(&path, lines(there)).unwrap();
            let Appended { began_anew, records } = follower.news().unwrap();
            assert_eq!(
                (began_anew, hosts(&records)),
                (is_anew, news.iter().map(ToString::to_string).collect())
            );
        }
        // Told with the first lines that check, however often it was looked before.
        fs_err::write(&path, "{}\n").unwrap();
        assert!(follower.news().is_err() && follower.news().is_err());
        fs_err::write(&path, lines(&["j"])).unwrap();
        assert!(follower.news().unwrap().began_anew);
        assert!(!follower.news().unwrap().began_anew);
    }
}
