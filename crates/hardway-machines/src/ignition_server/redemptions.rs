//! Who got what, on disk before the first byte of it leaves.

use std::sync::Arc;

use hardway_base::error_sentence;
use hardway_journal::{Entry, IgnitionRedeemed, Journal, JournalError, PoolServed};
use jiff::Timestamp;
use tokio::sync::{mpsc, oneshot};

use super::Redemption;
use crate::tally::Tally;

/// Writes redemptions down. Cloning shares it.
#[derive(Clone, Debug)]
pub struct Recorder {
    sender: Option<mpsc::Sender<Waiting>>,
    /// Configs of pools, which anybody may have.
    pools: Arc<Tally<String>>,
}

type Waiting = (Entry, oneshot::Sender<Result<(), Unrecorded>>);

/// Why it is not on disk.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Unrecorded {
    /// The journal cannot be written.
    #[error("{}", error_sentence(.0))]
    Journal(Arc<JournalError>),
    /// More wait than the disk keeps up with.
    #[error("the disk is too slow")]
    TooSlow,
    /// Nobody writes any more.
    #[error("its writer has ended")]
    WriterEnded,
}

/// Waiting for the disk, all together. More than connections can wait at once.
const MOST_WAITING: usize = 4096;
/// Redemptions of one pool that are all written down. More than a cluster has nodes that boot so; of more, see [`Tally`].
const POOL_REDEMPTIONS: u64 = 256;
/// Written in one go.
const MOST_AT_ONCE: usize = 1024;

impl Recorder {
    /// Into a journal. All who wait while the disk is busy are written together: the disk is asked once for all of them.
    pub fn into_journal(journal: Arc<Journal>) -> std::io::Result<Self> {
        let (sender, receiver) = mpsc::channel(MOST_WAITING);
        std::thread::Builder::new().name("journal".to_owned()).spawn(move || write(&journal, receiver))?;
        Ok(Self { sender: Some(sender), pools: Arc::new(Tally::new(POOL_REDEMPTIONS)) })
    }

    /// Nowhere: for a server without a disk of its own, whose log is what remains.
    pub fn nowhere() -> Self {
        Self { sender: None, pools: Arc::new(Tally::new(0)) }
    }

    /// Returns once it is on disk, or with the reason why it cannot be; then nothing may be given out.
    pub async fn record(&self, redemption: &Redemption, time: Timestamp) -> Result<(), Unrecorded> {
        let Some(sender) = &self.sender else { return Ok(()) };
        let more = match redemption {
            Redemption::Pool { pool, .. } => match self.pools.count(pool.clone()) {
                Some(more) => more,
                None => return Ok(()),
            },
            Redemption::Host { .. } | Redemption::Hosted { .. } => 0,
        };
        let (done, is_done) = oneshot::channel();
        match sender.try_send((entry(redemption, time, more), done)) {
            Ok(()) => is_done.await.unwrap_or(Err(Unrecorded::WriterEnded)),
            Err(mpsc::error::TrySendError::Full(_)) => Err(Unrecorded::TooSlow),
            Err(mpsc::error::TrySendError::Closed(_)) => Err(Unrecorded::WriterEnded),
        }
    }
}

fn entry(redemption: &Redemption, time: Timestamp, more: u64) -> Entry {
    let (generation, source) = (redemption.generation().to_owned(), redemption.source());
    match redemption {
        Redemption::Pool { pool, .. } => {
            Entry::of(time, &PoolServed { pool: pool.clone(), generation, source, more })
        }
        Redemption::Host { .. } | Redemption::Hosted { .. } => {
            let (host, face) = (redemption.who().to_owned(), redemption.face());
            Entry::of(time, &IgnitionRedeemed { host, generation, source, face })
        }
    }
}

/// A thread of its own: the disk makes it wait, and nobody else should.
fn write(journal: &Journal, mut receiver: mpsc::Receiver<Waiting>) {
    let mut waiting = Vec::new();
    while receiver.blocking_recv_many(&mut waiting, MOST_AT_ONCE) > 0 {
        let (entries, done): (Vec<Entry>, Vec<_>) = waiting.drain(..).unzip();
        let written =
            journal.append(&entries).map(drop).map_err(|error| Unrecorded::Journal(Arc::new(error)));
        done.into_iter().for_each(|done| {
            // Who went away meanwhile does not mind.
            let _ = done.send(written.clone());
        });
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use hardway_journal::Face;

    use super::*;

    #[tokio::test]
    async fn all_are_on_disk_in_few_writes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.jsonl");
        let recorder = Recorder::into_journal(Arc::new(Journal::open(&path).unwrap())).unwrap();
        let one = |i: usize| Redemption::Host {
            host: format!("host-{i}"),
            generation: "0123456789ab".to_owned(),
            source: IpAddr::from([10, 0, 0, 1]),
        };
        let all: Vec<Redemption> = (0..500).map(one).collect();
        let waits = all.iter().map(|redemption| recorder.record(redemption, Timestamp::UNIX_EPOCH));
        assert!(futures_util::future::join_all(waits).await.into_iter().all(|recorded| recorded.is_ok()));
        let facts: Vec<IgnitionRedeemed> = hardway_journal::read(&path)
            .unwrap()
            .iter()
            .map(|record| record.fact::<IgnitionRedeemed>().unwrap().unwrap())
            .collect();
        assert_eq!(facts.len(), 500);
        assert!(facts.iter().all(|fact| fact.face == Face::Host));
    }
}
