//! Any bytes as a journal: the reader comes back, and whatever it takes can be written on and read again.
//!
//! No fuzzer finds a checksum, so the input is also written as the body of a good line, and put behind one as a killed writer may.
#![no_main]

use std::path::Path;

use hardway_journal::{Entry, Journal, read};
use jiff::Timestamp;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|bytes: &[u8]| {
    let folder = tempfile::tempdir_in("/dev/shm").expect("memory");
    let path = folder.path().join("journal.jsonl");
    std::fs::write(&path, bytes).expect("memory");
    go_on(&path);
    // What a killed writer left behind a good line.
    std::fs::remove_file(&path).expect("it is there");
    let body = serde_json::from_slice(bytes).ok().filter(|body| !has_fraction(body));
    let good = entry(body.unwrap_or_else(|| String::from_utf8_lossy(bytes).into()));
    Journal::open(&path).and_then(|journal| journal.append(&[good.clone()])).expect("a new journal takes it");
    let mut whole = std::fs::read(&path).expect("it is there");
    assert_eq!(read(&path).expect("it is whole")[0].body, good.body);
    whole.extend(bytes);
    std::fs::write(&path, whole).expect("memory");
    go_on(&path);
});

fn go_on(path: &Path) {
    let Ok(before) = read(path) else {
        assert!(Journal::open(path).is_err(), "damage stays damage");
        return;
    };
    let journal = Journal::open(path).expect("what can be read can be opened");
    journal.append(&[entry("more".into())]).expect("what can be opened can be written");
    let after = read(path).expect("what was written can be read");
    assert_eq!(after[..before.len()], before);
    assert_eq!(after.len(), before.len() + 1);
}

/// Events have none, and the reader of JSON takes the last digit of one as it likes.
fn has_fraction(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(has_fraction),
        Value::Number(number) => number.is_f64(),
        Value::Object(fields) => fields.values().any(has_fraction),
        Value::Bool(_) | Value::Null | Value::String(_) => false,
    }
}

fn entry(body: Value) -> Entry {
    Entry { time: Timestamp::UNIX_EPOCH, kind: "fuzzed".to_owned(), body }
}
