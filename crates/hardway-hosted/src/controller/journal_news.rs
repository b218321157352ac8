//! What the journal and the approver tell about workers.

use std::collections::BTreeMap;
use std::net::IpAddr;

use hardway_cluster::csr_policy::{CLIENT_SIGNER, SharedRedemption};
use hardway_journal::{CsrDecided, Follower, JournalError, Record};
use jiff::Timestamp;

use crate::reconcile::WorkerNews;
use crate::worker::Worker;

/// Folded from the journal; the approver writes its decisions there, and the ignition server who fetched what.
pub(super) struct JournalNews {
    follower: Follower,
    /// By pool and address: a token of one pool says nothing about workers of another.
    fetched: BTreeMap<(String, IpAddr), Timestamp>,
    asked: BTreeMap<String, (Timestamp, String)>,
}

impl JournalNews {
    /// Of a working folder.
    pub(super) fn new(folder: &std::path::Path) -> Self {
        let follower = Follower::new(&folder.join(hardway_journal::FILE_NAME));
        Self { follower, fetched: BTreeMap::new(), asked: BTreeMap::new() }
    }

    /// Takes in what is new. Whether anything that matters was.
    pub(super) fn read(&mut self) -> Result<bool, JournalError> {
        let records = self.follower.news()?;
        Ok(records.iter().filter(|record| self.note(record)).count() > 0)
    }

    fn note(&mut self, record: &Record) -> bool {
        if let Some(SharedRedemption { pool, source, at }) = SharedRedemption::of(record) {
            self.fetched.insert((pool, source), at);
            return true;
        }
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
