//! What the journal and the approver tell about workers.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::Path;

use hardway_cluster::csr_policy::{CLIENT_SIGNER, SharedRedemption};
use hardway_journal::{CsrDecided, Follower, JournalError, Record};
use jiff::Timestamp;

use crate::reconcile::WorkerNews;
use crate::worker::Worker;

/// Folded from two journals: the ignition server writes into the folder's who fetched what, the approver its decisions into its own.
pub(super) struct JournalNews {
    served: Follower,
    decided: Follower,
    /// By pool and address: a token of one pool says nothing about workers of another.
    fetched: BTreeMap<(String, IpAddr), Timestamp>,
    asked: BTreeMap<String, (Timestamp, String)>,
}

impl JournalNews {
    /// Of a working folder, and of the approver's in it.
    pub(super) fn new(folder: &Path, approver: &Path) -> Self {
        let follower = |folder: &Path| Follower::new(&folder.join(hardway_journal::FILE_NAME));
        let (served, decided) = (follower(folder), follower(approver));
        Self { served, decided, fetched: BTreeMap::new(), asked: BTreeMap::new() }
    }

    /// Takes in what is new. Whether anything that matters was.
    pub(super) fn read(&mut self) -> Result<bool, JournalError> {
        let (served, decided) = (self.served.news()?, self.decided.news()?);
        if served.began_anew {
            self.fetched.clear();
        }
        if decided.began_anew {
            self.asked.clear();
        }
        let fetched = served.records.iter().filter(|record| self.note_fetch(record)).count();
        let asked = decided.records.iter().filter(|record| self.note_decision(record)).count();
        Ok(served.began_anew || decided.began_anew || fetched + asked > 0)
    }

    fn note_fetch(&mut self, record: &Record) -> bool {
        let Some(SharedRedemption { pool, source, at }) = SharedRedemption::of(record) else { return false };
        self.fetched.insert((pool, source), at);
        true
    }

    fn note_decision(&mut self, record: &Record) -> bool {
        match record.fact::<CsrDecided>() {
            Some(Ok(decided)) if decided.signer == CLIENT_SIGNER => {
                self.asked.insert(decided.node, (record.time, decided.reason.word().to_owned()));
                true
            }
            _ => false,
        }
    }

    /// About these workers, of pools in this namespace.
    pub(super) fn of(&self, workers: &[Worker], namespace: &str) -> BTreeMap<String, WorkerNews> {
        let fetched = |worker: &Worker, address: &IpAddr| {
            self.fetched.get(&(format!("{namespace}/{}", worker.node_pool), *address)).copied()
        };
        let news = |worker: &Worker| WorkerNews {
            fetched: worker.addresses.iter().filter_map(|address| fetched(worker, address)).max(),
            asked: self.asked.get(&worker.name).cloned(),
        };
        workers.iter().map(|worker| (worker.name.clone(), news(worker))).collect()
    }
}

#[cfg(test)]
mod tests {
    use hardway_journal::{CsrVerdict, Entry, Face, IgnitionRedeemed, Journal, Reason};

    use super::*;

    #[test]
    fn a_journal_that_began_anew_says_nothing_of_the_one_before() {
        let dir = tempfile::tempdir().unwrap();
        let folders = ["folder", "approver"].map(|name| dir.path().join(name));
        folders.iter().for_each(|folder| fs_err::create_dir(folder).unwrap());
        let paths = folders.each_ref().map(|folder| folder.join(hardway_journal::FILE_NAME));
        let fetched = |last| IgnitionRedeemed {
            host: "clusters/demo".to_owned(),
            digest: "1".to_owned(),
            source: [10, 0, 0, last].into(),
            face: Face::Hosted,
        };
        let decided = |node: &str| CsrDecided {
            request: "csr".to_owned(),
            uid: node.to_owned(),
            node: node.to_owned(),
            signer: CLIENT_SIGNER.to_owned(),
            key_id: String::new(),
            username: String::new(),
            verdict: CsrVerdict::Hold,
            reason: Reason::new("ignition-not-redeemed"),
            evidence: Vec::new(),
            more: 0,
        };
        let at = Timestamp::UNIX_EPOCH;
        let write = |last, node: &str| {
            Journal::open(&paths[0]).unwrap().append(&[Entry::of(at, &fetched(last))]).unwrap();
            Journal::open(&paths[1]).unwrap().append(&[Entry::of(at, &decided(node))]).unwrap();
        };
        let mut news = JournalNews::new(&folders[0], &folders[1]);
        write(1, "a");
        assert!(news.read().unwrap());
        assert!(!news.read().unwrap());
        paths.iter().for_each(|path| fs_err::remove_file(path).unwrap());
        assert!(!news.read().unwrap());
        write(2, "b");
        assert!(news.read().unwrap());
        let fetched: Vec<String> = news.fetched.keys().map(|(_, source)| source.to_string()).collect();
        assert_eq!(fetched, ["10.0.0.2"]);
        assert_eq!(news.asked.keys().collect::<Vec<_>>(), ["b"]);
    }
}
