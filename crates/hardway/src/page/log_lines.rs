//! What an install waited for, by its log: a sentence for people, which the journal does not keep.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;

use jiff::Timestamp;
use serde_json::{Value, json};

/// Reads what is appended to a log.
#[derive(Debug)]
pub(crate) struct LogLines {
    path: PathBuf,
    offset: u64,
}

/// A sentence of the log, and when it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LogLine {
    pub(crate) time: Timestamp,
    pub(crate) waits_for: String,
}

const WAITS: &str = "waits for ";

impl LogLines {
    /// From its beginning. It need not be there yet.
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, offset: 0 }
    }

    /// Whole lines since the last call. A log that cannot be read holds nothing up: the journal is what counts.
    pub(crate) fn news(&mut self) -> Vec<LogLine> {
        let Ok(mut file) = fs_err::File::open(&self.path) else { return Vec::new() };
        if file.metadata().is_ok_and(|metadata| metadata.len() < self.offset) {
            self.offset = 0;
        }
        let mut bytes = Vec::new();
        let read = file.seek(SeekFrom::Start(self.offset)).and_then(|_| file.read_to_end(&mut bytes));
        if read.is_err() {
            return Vec::new();
        }
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        self.offset += whole as u64;
        String::from_utf8_lossy(&bytes[..whole]).lines().filter_map(LogLine::of).collect()
    }
}

impl LogLine {
    fn of(line: &str) -> Option<Self> {
        let (time, text) = line.split_once(' ')?;
        let waits_for = text.strip_prefix(WAITS)?.to_owned();
        Some(Self { time: time.parse().ok()?, waits_for })
    }

    /// As a moment of the page.
    pub(crate) fn moment(&self) -> Value {
        let (time, text) = (self.time.to_string(), format!("waiting for {}", self.waits_for));
        let row = json!({"waitsFor": self.waits_for, "since": time});
        json!({"time": time, "kind": "waiting", "about": "", "text": text, "set": {"waiting": {"now": row}}})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_lines_that_say_what_is_waited_for_count() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("install.log");
        let mut lines = LogLines::new(path.clone());
        assert_eq!(lines.news(), []);
        let first = "2026-11-15T06:00:00.000Z waits for a node\n2026-11-15T06:00:01.000Z other\nnonsense\n";
        fs_err::write(&path, format!("{first}2026-11-15T06:00:02.000Z waits for ano")).unwrap();
        let told: Vec<String> = lines.news().into_iter().map(|line| line.waits_for).collect();
        assert_eq!(told, ["a node"]);
        fs_err::write(&path, format!("{first}2026-11-15T06:00:02.000Z waits for another\n")).unwrap();
        let told: Vec<String> = lines.news().into_iter().map(|line| line.waits_for).collect();
        assert_eq!(told, ["another"]);
    }
}
