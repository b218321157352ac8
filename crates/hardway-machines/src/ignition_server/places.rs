//! The connections that are open: whose they are, what moves on them, and which one goes when another has to come in.
//!
//! A bound for each source does not keep a few sources together from taking every place. So nobody is kept out because all places
//! are taken: whoever has most of them gives one back, the one on which nothing has moved for longest. Last of all somebody at an address of a
//! host that is expected: machines that boot together are often one network, and would be those who have most.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

use super::limits::network;

/// Connections that one machine may need at a time. Whoever has no more is not the one who takes every place.
const FEW: usize = 4;

/// All places of a server.
#[derive(Debug)]
pub(super) struct Places {
    most: usize,
    most_of_one_source: usize,
    open: Mutex<Open>,
    freed: Notify,
}

#[derive(Debug, Default)]
struct Open {
    next: u64,
    taken: BTreeMap<u64, Taken>,
    /// How many each network has, and each address.
    networks: BTreeMap<IpAddr, usize>,
    addresses: BTreeMap<IpAddr, usize>,
    /// One that was told to leave and has not yet.
    leaving: Option<u64>,
}

#[derive(Debug)]
struct Taken {
    source: IpAddr,
    is_known: bool,
    activity: Arc<Activity>,
}

/// One of them; free again when dropped.
#[derive(Debug)]
pub(super) struct Place {
    places: Arc<Places>,
    number: u64,
    pub(super) activity: Arc<Activity>,
}

/// What moves on a connection.
#[derive(Debug)]
pub(crate) struct Activity {
    opened: Instant,
    /// Milliseconds after that.
    last: AtomicU64,
    has_asked: AtomicBool,
    leave: Notify,
}

impl Places {
    pub(super) fn new(most: usize, most_of_one_source: usize) -> Arc<Self> {
        Arc::new(Self { most, most_of_one_source, open: Mutex::default(), freed: Notify::new() })
    }

    /// A place for one more, and whether another had to leave for it: one of its own network where that has as many as it may, else one of
    /// anybody's.
    pub(super) async fn enter(self: &Arc<Self>, source: IpAddr, is_known: bool) -> (Place, bool) {
        let mut has_made_room = false;
        loop {
            let mut freed = std::pin::pin!(self.freed.notified());
            freed.as_mut().enable();
            {
                let mut open = self.open();
                let of_network = open.networks.get(&network(source)).copied().unwrap_or_default();
                if of_network >= self.most_of_one_source {
                    open.make_room(|taken| network(taken.source) == network(source));
                } else if open.taken.len() >= self.most {
                    open.make_room(|_| true);
                } else {
                    return (self.take(&mut open, source, is_known), has_made_room);
                }
                has_made_room = true;
            }
            freed.await;
        }
    }

    fn take(self: &Arc<Self>, open: &mut Open, source: IpAddr, is_known: bool) -> Place {
        let (number, activity) = (open.next, Activity::new());
        open.next += 1;
        *open.networks.entry(network(source)).or_default() += 1;
        *open.addresses.entry(source).or_default() += 1;
        open.taken.insert(number, Taken { source, is_known, activity: activity.clone() });
        Place { places: self.clone(), number, activity }
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    /// Has one of these leave: of an address that has more than a few before all others, and of one that is known after all others; then of
    /// the network with most, and there of the address with most; rather one that has not asked for anything, and of these the one that was
    /// silent for longest.
    fn make_room(&mut self, of: impl Fn(&Taken) -> bool) {
        if self.leaving.is_some() {
            return;
        }
        let rank = |taken: &Taken| {
            let of_network = self.networks.get(&network(taken.source)).copied();
            let of_address = self.addresses.get(&taken.source).copied().unwrap_or_default();
            let (has_few, activity) = (of_address <= FEW, &taken.activity);
            let guilt = (taken.is_known && has_few, has_few, Reverse(of_network), Reverse(of_address));
            (guilt, activity.has_asked(), activity.last())
        };
        let found = self.taken.iter().filter(|(_, taken)| of(taken)).min_by_key(|(_, taken)| rank(taken));
        if let Some((number, taken)) = found {
            taken.activity.leave.notify_one();
            self.leaving = Some(*number);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.places.open();
        if let Some(taken) = open.taken.remove(&self.number) {
            one_less(&mut open.networks, network(taken.source));
            one_less(&mut open.addresses, taken.source);
        }
        if open.leaving == Some(self.number) {
            open.leaving = None;
        }
        drop(open);
        self.places.freed.notify_waiters();
    }
}

fn one_less(counts: &mut BTreeMap<IpAddr, usize>, of: IpAddr) {
    if let Entry::Occupied(mut count) = counts.entry(of) {
        *count.get_mut() -= 1;
        if *count.get() == 0 {
            count.remove();
        }
    }
}

impl Activity {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            opened: Instant::now(),
            last: AtomicU64::new(0),
            has_asked: AtomicBool::new(false),
            leave: Notify::new(),
        })
    }

    /// Something came or went.
    pub(crate) fn moved(&self, now: Instant) {
        let since = now.saturating_duration_since(self.opened).as_millis();
        self.last.store(u64::try_from(since).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// A whole request came.
    pub(crate) fn asked(&self) {
        self.has_asked.store(true, Ordering::Relaxed);
    }

    /// Done when the connection has to end: for another, or because no request came in this time.
    pub(super) async fn is_over(&self, first_request: Duration) {
        tokio::select! {
            () = self.leave.notified() => return,
            () = sleep(first_request) => {}
        }
        if self.has_asked() {
            self.leave.notified().await;
        }
    }

    fn has_asked(&self) -> bool {
        self.has_asked.load(Ordering::Relaxed)
    }

    fn last(&self) -> Instant {
        self.opened + Duration::from_millis(self.last.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(number: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, number])
    }

    async fn is_told(place: &Place) -> bool {
        let over = place.activity.is_over(Duration::from_secs(3600));
        tokio::time::timeout(Duration::from_millis(1), over).await.is_ok()
    }

    /// Somebody waits to come in from there.
    async fn waits(places: &Arc<Places>, source: IpAddr) -> tokio::task::JoinHandle<(Place, bool)> {
        let places = places.clone();
        let waiting = tokio::spawn(async move { places.enter(source, false).await });
        tokio::task::yield_now().await;
        waiting
    }

    #[tokio::test(start_paused = true)]
    async fn the_busiest_source_gives_back_what_was_silent_for_longest() {
        let places = Places::new(4, 4);
        let good = places.enter(source(1), false).await.0;
        let mut bad = Vec::new();
        for _ in 0..3 {
            tokio::time::advance(Duration::from_secs(1)).await;
            bad.push(places.enter(source(2), false).await.0);
        }
        tokio::time::advance(Duration::from_secs(1)).await;
        bad[0].activity.moved(Instant::now());
        bad[1].activity.asked();
        let waiting = waits(&places, source(3)).await;
        assert!(is_told(&bad[2]).await, "it has not asked, and was silent");
        for place in [&good, &bad[0], &bad[1]] {
            assert!(!is_told(place).await);
        }
        bad.remove(2);
        let (last, has_made_room) = waiting.await.unwrap();
        assert!(has_made_room);
        drop((good, bad, last));
        let open = places.open();
        assert!(open.taken.is_empty() && open.networks.is_empty() && open.addresses.is_empty());
    }

    /// A machine network of IPv6 is one network: the one address in it that has most gives back.
    #[tokio::test(start_paused = true)]
    async fn a_network_that_has_enough_gives_back_one_of_its_own() {
        let places = Places::new(100, 3);
        let of = |text: &str| text.parse::<IpAddr>().unwrap();
        let elsewhere = places.enter(source(1), false).await.0;
        let good = places.enter(of("fd00::1"), false).await.0;
        let bad =
            [places.enter(of("fd00::bad"), false).await.0, places.enter(of("fd00::bad"), false).await.0];
        tokio::time::advance(Duration::from_secs(1)).await;
        bad.iter().for_each(|place| place.activity.moved(Instant::now()));
        let waiting = waits(&places, of("fd00::2")).await;
        assert!(is_told(&bad[0]).await && !is_told(&good).await && !is_told(&elsewhere).await);
        drop(bad);
        assert!(waiting.await.unwrap().1);
    }

    /// The machines of one network have most together, and everybody else few each. Machines that are known stay, whoever else is there;
    /// and where none is known, those go that have more than one machine needs.
    #[tokio::test(start_paused = true)]
    async fn machines_that_boot_together_are_not_who_takes_every_place() {
        for (is_known, strangers) in [(true, 1), (false, FEW + 1)] {
            let places = Places::new(30, 30);
            let mut good = Vec::new();
            for n in 1..=15_u16 {
                let source = IpAddr::from([0xfd00, 0, 0, 0, 0, 0, 0, n]);
                good.push(places.enter(source, is_known).await.0);
            }
            let mut bad = Vec::new();
            for n in 0..15 {
                tokio::time::advance(Duration::from_secs(1)).await;
                let place = places.enter(source(u8::try_from(n / strangers).unwrap()), false).await.0;
                place.activity.asked();
                bad.push(place);
            }
            let waiting = waits(&places, source(100)).await;
            for place in &good {
                assert!(!is_told(place).await, "{is_known}");
            }
            bad.clear();
            assert!(waiting.await.unwrap().1);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn who_asks_nothing_is_not_waited_for() {
        let (silent, asks) = (Activity::new(), Activity::new());
        asks.asked();
        let over = |activity: Arc<Activity>| async move {
            let over = activity.is_over(Duration::from_secs(10));
            tokio::time::timeout(Duration::from_secs(60), over).await.is_ok()
        };
        assert!(over(silent).await && !over(asks).await);
    }
}
