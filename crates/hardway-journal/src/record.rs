//! A line of the journal: numbered, and with a checksum a person can compute again.
//!
//! ```text
//! {"v":1,"seq":7,"time":"2026-11-15T06:00:00Z","kind":"node-joined","body":{"host":"master-0"},"sum":"4a25ff819fe40fea"}
//! ```
//!
//! `sum` is the first 16 digits of the SHA-256 of the line without it: `{"v":1,"seq":7,…,"body":{…}}`. `v` is the version of
//! the format; lines without one were written before there were versions. Every line has its own, because an older and a
//! newer hardway may write into one journal.

use hardway_base::hex;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// The version that is written, and the newest that is read.
pub const VERSION: u32 = 1;

/// Far more than any event needs.
pub(crate) const LONGEST_LINE: usize = 1 << 20;

const SUM_DIGITS: usize = 16;
const BEFORE_SUM: &str = ",\"sum\":\"";
const AFTER_SUM: &str = "\"}";

/// The bytes of a line from its checksum on.
pub(crate) const LINE_END: usize = SUM_DIGITS + AFTER_SUM.len() + 1;

/// An event as it stands in the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Of the format: 0 for lines that were written before there were versions.
    #[serde(rename = "v", default, skip_serializing_if = "is_unversioned")]
    pub version: u32,
    /// Its writer had written into a journal that is gone from here: what it ends may have begun there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub continues: bool,
    /// Counted from one, without gaps.
    pub seq: u64,
    /// When it happened.
    pub time: Timestamp,
    /// What kind of event.
    pub kind: String,
    /// The event itself.
    pub body: Value,
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// No checksum where one belongs.
    #[error("has no checksum")]
    NoSum,
    /// Its bytes are not those that were written.
    #[error("does not match its checksum")]
    WrongSum,
    /// The checksum is right, but the content is no record: another program wrote it.
    #[error("is not a record: {0}")]
    NotARecord(String),
    /// A newer hardway wrote it.
    #[error("is of version {0}")]
    Newer(u32),
    /// A line is missing, or stands twice.
    #[error("has number {found}, expected {expected}")]
    OutOfOrder {
        /// One more than the line before.
        expected: u64,
        /// What it says.
        found: u64,
    },
}

impl Record {
    /// An event as it stands in the file once it has its number.
    pub fn numbered(seq: u64, entry: &Entry) -> Self {
        let Entry { time, kind, body } = entry.clone();
        Self { version: VERSION, continues: false, seq, time, kind, body }
    }

    /// Its line, with the line end.
    pub(crate) fn to_line(&self) -> String {
        let mut line = serde_json::to_string(self).expect("keys of a JSON value are text");
        let sum = sum_of(&line);
        line.truncate(line.len() - 1);
        line + BEFORE_SUM + &sum + AFTER_SUM + "\n"
    }

    /// From a line without its end; `expected` is its number.
    pub(crate) fn from_line(line: &[u8], expected: u64) -> Result<Self, Flaw> {
        let tail = BEFORE_SUM.len() + SUM_DIGITS + AFTER_SUM.len();
        let (start, end) = line.split_at_checked(line.len().saturating_sub(tail)).ok_or(Flaw::NoSum)?;
        let sum = end
            .strip_prefix(BEFORE_SUM.as_bytes())
            .and_then(|rest| rest.strip_suffix(AFTER_SUM.as_bytes()))
            .ok_or(Flaw::NoSum)?;
        let text = std::str::from_utf8(start).map_err(|_| Flaw::WrongSum)?.to_owned() + "}";
        if sum_of(&text).as_bytes() != sum {
            return Err(Flaw::WrongSum);
        }
        let record: Self = serde_json::from_str(&text).map_err(|error| flaw_of(&text, &error))?;
        if record.version > VERSION {
            return Err(Flaw::Newer(record.version));
        }
        if record.seq != expected {
            return Err(Flaw::OutOfOrder { expected, found: record.seq });
        }
        Ok(record)
    }
}

/// Of what is not a record as this hardway knows them.
fn flaw_of(text: &str, error: &serde_json::Error) -> Flaw {
    #[derive(Deserialize)]
    struct Versioned {
        v: u32,
    }
    match serde_json::from_str::<Versioned>(text) {
        Ok(Versioned { v }) if v > VERSION => Flaw::Newer(v),
        _ => Flaw::NotARecord(error.to_string()),
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks like this")]
fn is_unversioned(version: &u32) -> bool {
    *version == 0
}

fn sum_of(text: &str) -> String {
    hex::encode(&Sha256::digest(text.as_bytes())[..SUM_DIGITS / 2])
}

/// An event that has no number yet.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// When it happened, by the clock of whoever saw it.
    pub time: Timestamp,
    /// What kind of event; the reader picks by it.
    pub kind: String,
    /// The event itself. Never a secret: the journal is shown on pages and goes into bundles. Times, text and whole numbers:
    /// what has a fraction need not be read back to the last digit.
    pub body: Value,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        let body = serde_json::json!({"host": "master-0", "text": "a \"sum\" and a } and a\nline"});
        let time = "2026-11-15T06:00:00.5Z".parse().unwrap();
        Record::numbered(7, &Entry { time, kind: "node-joined".into(), body })
    }

    #[test]
    fn a_line_is_read_as_it_was_written() {
        let line = record().to_line();
        assert_eq!(line.matches('\n').count(), 1);
        assert_eq!(Record::from_line(line.trim_end().as_bytes(), 7), Ok(record()));
        let value: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(value["sum"].as_str().unwrap().len(), SUM_DIGITS);
    }

    #[test]
    fn any_changed_byte_is_noticed() {
        let line = record().to_line().trim_end().as_bytes().to_vec();
        for place in 0..line.len() {
            let mut changed = line.clone();
            changed[place] ^= 1;
            assert!(Record::from_line(&changed, 7).is_err(), "byte {place}");
            assert!(Record::from_line(&line[..place], 7).is_err(), "cut at {place}");
        }
        assert_eq!(Record::from_line(&line, 8), Err(Flaw::OutOfOrder { expected: 8, found: 7 }));
    }
}
