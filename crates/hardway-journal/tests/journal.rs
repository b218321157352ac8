//! The journal as its users see it: several writers, killed writers, damaged files.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test stops at the first surprise")]

use std::path::Path;
use std::thread;

use hardway_journal::{Appended, Entry, Follower, Journal, JournalError, NodeJoined, read};
use proptest::prelude::*;

fn joined(host: &str) -> Entry {
    Entry::of("2026-11-15T06:00:00Z".parse().unwrap(), &NodeJoined { host: host.to_owned() })
}

fn hosts(path: &Path) -> Vec<String> {
    let records = read(path).unwrap();
    assert!(records.iter().zip(1..).all(|(record, seq)| record.seq == seq));
    records.iter().map(|record| record.fact::<NodeJoined>().unwrap().unwrap().host).collect()
}

#[test]
fn what_was_appended_is_read_in_order_and_only_by_its_owner() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl");
    assert_eq!(read(&path).unwrap(), []);
    let mut follower = Follower::new(&path);
    assert_eq!(follower.news().unwrap(), Appended::default());
    let journal = Journal::open(&path).unwrap();
    assert_eq!(journal.append(&[joined("a"), joined("b")]).unwrap(), [1, 2]);
    assert_eq!(follower.news().unwrap().records.len(), 2);
    assert_eq!(journal.append(&[]).unwrap(), [] as [u64; 0]);
    assert_eq!(journal.append(&[joined("c")]).unwrap(), [3]);
    assert_eq!(follower.news().unwrap().records[0].seq, 3);
    assert_eq!(hosts(&path), ["a", "b", "c"]);
    assert_eq!(fs_err::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_journal_that_was_moved_away_begins_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl");
    let (journal, mut follower) = (Journal::open(&path).unwrap(), Follower::new(&path));
    journal.append(&[joined("a"), joined("b")]).unwrap();
    assert_eq!(follower.news().unwrap().records.len(), 2);
    fs_err::rename(&path, folder.path().join("old")).unwrap();
    assert_eq!(follower.news().unwrap(), Appended::default());
    assert_eq!(journal.append(&[joined("c")]).unwrap(), [1]);
    assert_eq!(hosts(&path), ["c"]);
    assert_eq!(hosts(&folder.path().join("old")), ["a", "b"]);
    let Appended { began_anew, records } = follower.news().unwrap();
    assert_eq!((began_anew, records.len()), (true, 1));
}

/// Two journals open on one file have a lock each, as two processes have.
#[test]
fn writers_do_not_disturb_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl");
    thread::scope(|threads| {
        for writer in 0..4 {
            let journal = Journal::open(&path).unwrap();
            threads.spawn(move || {
                for turn in 0..25 {
                    let numbers =
                        journal.append(&[joined(&format!("{writer}/{turn}")), joined("pair")]).unwrap();
                    assert_eq!(numbers[0] + 1, numbers[1]);
                }
            });
        }
    });
    let hosts = hosts(&path);
    assert_eq!(hosts.len(), 200);
    for writer in 0..4 {
        let own: Vec<_> = hosts.iter().filter(|host| host.starts_with(&format!("{writer}/"))).collect();
        assert_eq!(own.len(), 25);
        assert!(own.iter().zip(0..).all(|(host, turn)| **host == format!("{writer}/{turn}")));
    }
    assert!(hosts.chunks(2).all(|pair| pair[1] == "pair"), "a batch was torn apart");
}

#[test]
fn damage_is_refused_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl");
    Journal::open(&path).unwrap().append(&[joined("a"), joined("b"), joined("c")]).unwrap();
    let good = fs_err::read_to_string(&path).unwrap();
    let lines: Vec<&str> = good.split_inclusive('\n').collect();
    for (bad, line, says) in [
        (good.replace("\"b\"", "\"x\""), 2, "does not match its checksum"),
        ([lines[0], lines[2]].concat(), 2, "has number 3, expected 2"),
        ([lines[0], "hello\n", lines[1]].concat(), 2, "has no checksum"),
        ([lines[0], "\n"].concat(), 2, "has no checksum"),
    ] {
        fs_err::write(&path, &bad).unwrap();
        for error in [read(&path).unwrap_err(), Journal::open(&path).unwrap_err()] {
            assert!(matches!(error, JournalError::Damaged { line: found, .. } if found == line), "{error}");
            assert!(error.to_string().contains(says), "{error}");
        }
        assert_eq!(fs_err::read_to_string(&path).unwrap(), bad, "reading changed the file");
    }
}

proptest! {
    /// A writer killed at any byte: what was promised stays, what was not goes, and the next append goes on.
    #[test]
    fn a_torn_end_is_cut_off(kept in 0usize..4, torn in 1usize..400) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let journal = Journal::open(&path).unwrap();
        let names = ["a", "b", "c", "d", "e"];
        journal.append(&names.map(joined)).unwrap();
        let good = fs_err::read_to_string(&path).unwrap();
        let lines: Vec<&str> = good.split_inclusive('\n').collect();
        let line = lines[kept];
        let torn = &line[..torn.min(line.len() - 1)];
        fs_err::write(&path, lines[..kept].concat() + torn).unwrap();
        prop_assert_eq!(hosts(&path), &names[..kept]);
        Journal::open(&path).unwrap().append(&[joined("next")]).unwrap();
        let mut expected = names[..kept].to_vec();
        expected.push("next");
        prop_assert_eq!(hosts(&path), expected);
    }
}
