//! Who got what, on disk before the first byte of it leaves.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use hardway_base::{Tally, error_sentence};
use hardway_journal::{Entry, Face, IgnitionRedeemed, Journal, JournalError, PoolServed};
use jiff::{SignedDuration, Timestamp};
use tokio::sync::{mpsc, oneshot};

use super::Redemption;
use super::limits::network;

/// Writes redemptions down. Cloning shares it.
#[derive(Clone, Debug)]
pub struct Recorder {
    sender: Option<mpsc::Sender<Waiting>>,
    /// Where the journal lies.
    path: PathBuf,
    /// Configs of pools, which anybody may have.
    pools: Arc<Tally<String>>,
    /// Configs that were fetched with a token.
    tokens: Arc<Mutex<Fetches>>,
    /// Whose last line is on disk. Of anybody else, the next fetch is written down however often they came: no record, no config.
    on_disk: Arc<Mutex<BTreeSet<Fetcher>>>,
}

/// Who is counted together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fetcher {
    Pool(String),
    Token(Token, Option<IpAddr>),
}

/// Who fetched with a token, and when that was last written down. A machine fetches its config a few times; whoever has its token and its
/// address can do so without end, and whoever has the token of a pool from any address. When it was fetched last is evidence, so it is
/// written down now and again; and a machine that is expected is never counted together with others.
#[derive(Debug, Default)]
struct Fetches {
    known: BTreeMap<(Token, IpAddr), Fetched>,
    strangers: BTreeMap<Token, BTreeMap<Option<IpAddr>, Fetched>>,
}

/// Whose token, and for which config.
type Token = (Face, String, String);

/// How often, and when that was last written down.
#[derive(Clone, Copy, Debug)]
struct Fetched {
    times: u64,
    written: Timestamp,
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
    #[error("its writer has stopped")]
    WriterEnded,
}

/// Waiting for the disk, all together. More than connections can wait at once.
const MOST_WAITING: usize = 4096;
/// Redemptions of one pool that are all written down. More than a cluster has nodes that boot so; of more, see [`Tally`].
const POOL_REDEMPTIONS: u64 = 256;
/// Fetches with one token from one address that are all written down; of more, see [`Tally`].
const TOKEN_REDEMPTIONS: u64 = 8;
/// And one each time so much has passed.
const STALE: SignedDuration = SignedDuration::from_mins(5);
/// The same from an address where no machine is expected.
const STRANGERS_STALE: SignedDuration = SignedDuration::from_hours(1);
/// Such addresses that are told apart for one token. More are counted together: by network, as long as these are no more than that
/// again, and then all.
const STRANGERS: usize = 256;
/// Fetchers whose line is known to be on disk. Who is forgotten gets one more line.
const MOST_REMEMBERED: usize = 1 << 16;
/// Written in one go.
const MOST_AT_ONCE: usize = 1024;

impl Recorder {
    /// Into a journal. All who wait while the disk is busy are written together: the disk is asked once for all of them.
    pub fn into_journal(journal: Arc<Journal>) -> std::io::Result<Self> {
        let (sender, receiver) = mpsc::channel(MOST_WAITING);
        let path = journal.path().to_owned();
        std::thread::Builder::new().name("journal".to_owned()).spawn(move || write(&journal, receiver))?;
        let (pools, tokens) = (Arc::new(Tally::new(POOL_REDEMPTIONS)), Fetches::new());
        Ok(Self { sender: Some(sender), path, pools, tokens, on_disk: Arc::default() })
    }

    /// Another journal began in place of the one that was written: nobody has a line in it.
    pub fn begin_anew(&self) {
        self.on_disk.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Nowhere: for a server without a disk of its own, whose log is what remains.
    pub fn nowhere() -> Self {
        let (pools, tokens) = (Arc::new(Tally::new(POOL_REDEMPTIONS)), Fetches::new());
        Self { sender: None, path: PathBuf::new(), pools, tokens, on_disk: Arc::default() }
    }

    /// Returns once it is on disk, or with the reason why it cannot be; then nothing may be given out. Gives whether it is worth a line, here
    /// and wherever else it is told.
    pub async fn record(
        &self,
        redemption: &Redemption,
        time: Timestamp,
        is_known: bool,
    ) -> Result<bool, Unrecorded> {
        let (fetcher, more) = self.count(redemption, time, is_known);
        let Some(sender) = &self.sender else { return Ok(more.is_some()) };
        let on_disk = || self.on_disk.lock().unwrap_or_else(PoisonError::into_inner);
        // A journal that was moved away has nobody's line any more.
        if more.is_none() && on_disk().contains(&fetcher) && self.path.exists() {
            return Ok(false);
        }
        let (done, is_done) = oneshot::channel();
        let written = match sender.try_send((entry(redemption, time, more.unwrap_or_default()), done)) {
            Ok(()) => is_done.await.unwrap_or(Err(Unrecorded::WriterEnded)),
            Err(mpsc::error::TrySendError::Full(_)) => Err(Unrecorded::TooSlow),
            Err(mpsc::error::TrySendError::Closed(_)) => Err(Unrecorded::WriterEnded),
        };
        let mut on_disk = on_disk();
        if on_disk.len() >= MOST_REMEMBERED {
            on_disk.clear();
        }
        match &written {
            Ok(()) => _ = on_disk.insert(fetcher),
            Err(_) => _ = on_disk.remove(&fetcher),
        }
        written.map(|()| true)
    }

    /// With whom it is counted; and if it is worth a line, how many had none since the last that was.
    fn count(&self, redemption: &Redemption, time: Timestamp, is_known: bool) -> (Fetcher, Option<u64>) {
        match redemption {
            Redemption::Pool { pool, .. } => (Fetcher::Pool(pool.clone()), self.pools.count(pool.clone())),
            Redemption::Host { .. } | Redemption::Hosted { .. } => {
                let (who, digest) = (redemption.who().to_owned(), redemption.digest().to_owned());
                let token = (redemption.face(), who, digest);
                let mut tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
                let (place, is_worth_it) = tokens.count(token.clone(), redemption.source(), is_known, time);
                (Fetcher::Token(token, place), is_worth_it.then_some(0))
            }
        }
    }
}

impl Fetches {
    fn new() -> Arc<Mutex<Self>> {
        Arc::default()
    }

    /// One more. With whom it is counted, and whether it is to be written down.
    fn count(
        &mut self,
        token: Token,
        source: IpAddr,
        is_known: bool,
        now: Timestamp,
    ) -> (Option<IpAddr>, bool) {
        let first = Fetched { times: 0, written: now };
        if is_known {
            let fetched = self.known.entry((token, source)).or_insert(first);
            return (Some(source), fetched.once_more(now, STALE));
        }
        let strangers = self.strangers.entry(token).or_default();
        let place = place(strangers, source, now);
        (place, strangers.entry(place).or_insert(first).once_more(now, STRANGERS_STALE))
    }
}

impl Fetched {
    fn once_more(&mut self, now: Timestamp, stale: SignedDuration) -> bool {
        self.times += 1;
        let is_worth_it = self.times <= TOKEN_REDEMPTIONS
            || self.times.is_power_of_two()
            || now.duration_since(self.written) >= stale;
        if is_worth_it {
            self.written = now;
        }
        is_worth_it
    }
}

/// With whom a stranger is counted: alone, with its network, or with everybody. Whose next fetch would be written down anyhow is
/// forgotten where there is no room.
fn place(
    strangers: &mut BTreeMap<Option<IpAddr>, Fetched>,
    source: IpAddr,
    now: Timestamp,
) -> Option<IpAddr> {
    let network = network(source);
    if strangers.len() >= STRANGERS && !strangers.contains_key(&Some(source)) {
        strangers.retain(|_, fetched| now.duration_since(fetched.written) < STRANGERS_STALE);
    }
    let has_room =
        |most: usize, place: IpAddr| strangers.len() < most || strangers.contains_key(&Some(place));
    let is_alone = has_room(STRANGERS, source);
    let is_with_network = network != source && has_room(2 * STRANGERS, network);
    if is_alone { Some(source) } else { is_with_network.then_some(network) }
}

fn entry(redemption: &Redemption, time: Timestamp, more: u64) -> Entry {
    let (digest, source) = (redemption.digest().to_owned(), redemption.source());
    match redemption {
        Redemption::Pool { pool, .. } => {
            Entry::of(time, &PoolServed { pool: pool.clone(), digest, source, more })
        }
        Redemption::Host { .. } | Redemption::Hosted { .. } => {
            let (host, face) = (redemption.who().to_owned(), redemption.face());
            Entry::of(time, &IgnitionRedeemed { host, digest, source, face })
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
    use super::*;

    #[tokio::test]
    async fn all_are_on_disk_in_few_writes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.jsonl");
        let recorder = Recorder::into_journal(Arc::new(Journal::open(&path).unwrap())).unwrap();
        let one = |i: usize| Redemption::Host {
            host: format!("host-{i}"),
            digest: "0123456789ab".to_owned(),
            source: IpAddr::from([10, 0, 0, 1]),
        };
        let all: Vec<Redemption> = (0..500).map(one).collect();
        let waits = all.iter().map(|redemption| recorder.record(redemption, Timestamp::UNIX_EPOCH, true));
        assert!(futures_util::future::join_all(waits).await.into_iter().all(|recorded| recorded.is_ok()));
        let facts: Vec<IgnitionRedeemed> = hardway_journal::read(&path)
            .unwrap()
            .iter()
            .map(|record| record.fact::<IgnitionRedeemed>().unwrap().unwrap())
            .collect();
        assert_eq!(facts.len(), 500);
        assert!(facts.iter().all(|fact| fact.face == Face::Host));
    }

    /// Whoever has a token and an address: a host that fetches for ever, and somebody with a pool's token and many addresses.
    #[tokio::test]
    async fn who_has_a_token_leaves_few_lines_and_the_last_is_fresh() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.jsonl");
        let recorder = Recorder::into_journal(Arc::new(Journal::open(&path).unwrap())).unwrap();
        let (host, digest) = ("host-0".to_owned(), "0123456789ab".to_owned());
        let own = Redemption::Host { host, digest, source: [10, 0, 0, 1].into() };
        let second = |n: i64| Timestamp::from_second(n).unwrap();
        for n in 0..10_000 {
            recorder.record(&own, second(n), true).await.unwrap();
        }
        let records = hardway_journal::read(&path).unwrap();
        assert!((8..64).contains(&records.len()), "{}", records.len());
        let last = records.last().unwrap().time;
        assert!(second(10_000).duration_since(last) <= STALE, "{last}");
        // Another address is always seen: it speaks against the host.
        let elsewhere = Redemption::Host {
            host: "host-0".to_owned(),
            digest: "0123456789ab".to_owned(),
            source: [10, 9, 9, 9].into(),
        };
        assert!(recorder.record(&elsewhere, second(10_000), false).await.unwrap());
        assert_eq!(hardway_journal::read(&path).unwrap().len(), records.len() + 1);
    }

    /// Somebody with the token of a pool and as many addresses as they like, of IPv4 or of one network of IPv6, keeps no machine from being
    /// seen, and leaves few lines.
    #[test]
    fn a_machine_is_seen_among_a_hundred_thousand_strangers() {
        let token = |pool: &str| (Face::Hosted, pool.to_owned(), "1".to_owned());
        let second = |n: i64| Timestamp::from_second(n).unwrap();
        let v4 = |n: u32| IpAddr::from((0x0a00_0000 + n).to_be_bytes());
        let v6 = |n: u32| IpAddr::from((0xfd00_u128 << 112 | u128::from(n)).to_be_bytes());
        for of in [&v4 as &dyn Fn(u32) -> IpAddr, &v6] {
            let mut fetches = Fetches::default();
            let mut lines = 0;
            for n in 0..100_000 {
                let is_written =
                    fetches.count(token("clusters/pool"), of(n), false, second(i64::from(n) / 100)).1;
                lines += u32::from(is_written);
            }
            assert!((256..300).contains(&lines), "{lines}");
            assert!(fetches.strangers.values().all(|of| of.len() <= 2 * STRANGERS));
            let machine = of(200_000);
            assert!(fetches.count(token("clusters/pool"), machine, true, second(1_000)).1);
            assert!(
                fetches.count(token("clusters/other"), of(200_001), false, second(1_000)).1,
                "another pool"
            );
            // Those who are gone make room.
            assert!(fetches.count(token("clusters/pool"), of(200_002), false, second(9_000)).1);
            assert!(fetches.strangers.values().all(|of| of.len() <= 2));
        }
    }

    /// The lines of a journal that is gone are nobody's proof.
    #[tokio::test]
    async fn in_a_journal_that_began_anew_everybody_has_a_line_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.jsonl");
        let recorder = Recorder::into_journal(Arc::new(Journal::open(&path).unwrap())).unwrap();
        let digest = "0123456789ab".to_owned();
        let own = Redemption::Host { host: "host-0".to_owned(), digest, source: [10, 0, 0, 1].into() };
        let other = Redemption::Pool {
            pool: "worker".to_owned(),
            digest: "1".to_owned(),
            source: [10, 0, 0, 2].into(),
        };
        let fetch =
            async |redemption| recorder.record(redemption, Timestamp::UNIX_EPOCH, true).await.unwrap();
        for _ in 0..300 {
            fetch(&own).await;
            fetch(&other).await;
        }
        assert!(!fetch(&own).await && !fetch(&other).await, "they are counted");
        fs_err::rename(&path, dir.path().join("old.jsonl")).unwrap();
        assert!(fetch(&own).await, "there is no journal");
        // Whoever follows it tells that.
        recorder.begin_anew();
        assert!(fetch(&other).await, "there is one, and its line is in another");
        assert!(!fetch(&other).await);
        assert_eq!(hardway_journal::read(&path).unwrap().len(), 2);
    }

    /// A full disk: whoever comes again and again gets no config either, and the first that does has its line.
    #[tokio::test]
    async fn without_a_record_nothing_is_given_out() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.jsonl");
        let (sender, mut receiver) = mpsc::channel::<Waiting>(1);
        let recorder = Recorder { sender: Some(sender), path: path.clone(), ..Recorder::nowhere() };
        let full = tokio::spawn(async move {
            for _ in 0..300 {
                let (_, done) = receiver.recv().await.unwrap();
                done.send(Err(Unrecorded::TooSlow)).unwrap();
            }
            receiver
        });
        let source = IpAddr::from([10, 0, 0, 1]);
        let (host, pool) = ("host-0".to_owned(), "worker".to_owned());
        let digest = "0123456789ab".to_owned();
        let own = Redemption::Host { host, digest: digest.clone(), source };
        let of_pool = Redemption::Pool { pool, digest, source };
        for redemption in [&own, &own, &of_pool] {
            for _ in 0..100 {
                recorder.record(redemption, Timestamp::UNIX_EPOCH, true).await.unwrap_err();
            }
        }
        let receiver = full.await.unwrap();
        let journal = Journal::open(&path).unwrap();
        let writer = std::thread::spawn(move || write(&journal, receiver));
        assert!(recorder.record(&own, Timestamp::UNIX_EPOCH, true).await.unwrap());
        assert!(!recorder.record(&own, Timestamp::UNIX_EPOCH, true).await.unwrap(), "one line is enough");
        drop(recorder);
        writer.join().unwrap();
        assert_eq!(hardway_journal::read(&path).unwrap().len(), 1);
    }
}
