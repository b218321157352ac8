//! How much one client may take.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, RandomState};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The bounds of a server.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections at one time. The next ones wait in the kernel's queue.
    pub connections: usize,
    /// Connections at one time from one source. The next ones are closed at once.
    pub connections_per_source: usize,
    /// From the first byte to the end of the TLS handshake.
    pub handshake: Duration,
    /// From the first byte to the end of a request's headers, and between two requests.
    pub header: Duration,
    /// Without a single byte in either direction.
    pub idle: Duration,
    /// Of a whole connection, however slowly it goes on.
    pub lifetime: Duration,
    /// For those that are being served when the server is told to end.
    pub drain: Duration,
    /// The largest request, headers included. Node configs go the other way.
    pub header_bytes: usize,
    /// Refusals to one source that are told to client and operator, each second and at once.
    pub refusals: (f64, f64),
    /// Configs of pools, which nobody shows a token for, to one source, each second and at once.
    pub pool_requests: (f64, f64),
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 2048,
            connections_per_source: 1536,
            handshake: Duration::from_secs(10),
            header: Duration::from_secs(10),
            idle: Duration::from_secs(60),
            lifetime: Duration::from_secs(30 * 60),
            drain: Duration::from_secs(30),
            header_bytes: 16 << 10,
            refusals: (10.0, 100.0),
            pool_requests: (100.0, 1000.0),
        }
    }
}

/// Token buckets for sources, in a table of fixed size: a million sources take no more memory than one. Two that meet in
/// one row share it; which two is different after every start, so nobody can arrange it.
#[derive(Debug)]
pub struct SourceBuckets {
    per_second: f64,
    burst: f64,
    hasher: RandomState,
    rows: Box<[Mutex<Bucket>]>,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    tokens: f64,
    filled: Instant,
}

const ROWS: usize = 4096;

impl SourceBuckets {
    /// So many each second, and so many at once.
    pub fn new((per_second, burst): (f64, f64)) -> Self {
        let full = Bucket { tokens: burst, filled: Instant::now() };
        let rows = (0..ROWS).map(|_| Mutex::new(full)).collect();
        Self { per_second, burst, hasher: RandomState::new(), rows }
    }

    /// Whether one more is within bounds; if so, it counts.
    pub fn take(&self, source: IpAddr, now: Instant) -> bool {
        let row = usize::try_from(self.hasher.hash_one(network(source))).unwrap_or_default() % ROWS;
        let mut bucket = self.rows[row].lock().unwrap_or_else(PoisonError::into_inner);
        let passed = now.saturating_duration_since(bucket.filled).as_secs_f64();
        bucket.tokens = (bucket.tokens + passed * self.per_second).min(self.burst);
        bucket.filled = now;
        let is_within = bucket.tokens >= 1.0;
        if is_within {
            bucket.tokens -= 1.0;
        }
        is_within
    }
}

/// Whoever has one IPv6 address has all of its /64.
fn network(source: IpAddr) -> IpAddr {
    match source.to_canonical() {
        IpAddr::V6(address) => {
            let s = address.segments();
            IpAddr::V6(Ipv6Addr::new(s[0], s[1], s[2], s[3], 0, 0, 0, 0))
        }
        v4 => v4,
    }
}

/// How many connections each source has. No larger than the number of connections.
#[derive(Clone, Debug, Default)]
pub(super) struct Sources(Arc<Mutex<BTreeMap<IpAddr, usize>>>);

/// One of them; gone when dropped.
#[derive(Debug)]
pub(super) struct SourceSlot {
    sources: Sources,
    network: IpAddr,
}

impl Sources {
    /// A slot for one more, if there is one.
    pub(super) fn enter(&self, source: IpAddr, most: usize) -> Option<SourceSlot> {
        let network = network(source);
        let mut sources = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = sources.entry(network).or_default();
        if *count >= most {
            return None;
        }
        *count += 1;
        Some(SourceSlot { sources: self.clone(), network })
    }
}

impl Drop for SourceSlot {
    fn drop(&mut self) {
        let mut sources = self.sources.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = sources.get_mut(&self.network) {
            *count -= 1;
            if *count == 0 {
                sources.remove(&self.network);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_empties_and_fills_again() {
        let buckets = SourceBuckets::new((1.0, 3.0));
        let (start, source) = (Instant::now(), IpAddr::from([10, 0, 0, 1]));
        let at = |seconds| start + Duration::from_secs(seconds);
        assert_eq!((0..5).filter(|_| buckets.take(source, at(0))).count(), 3);
        assert!(buckets.take(source, at(1)));
        assert!(!buckets.take(source, at(1)));
        assert_eq!((0..9).filter(|_| buckets.take(source, at(1000))).count(), 3);
    }

    #[test]
    fn addresses_of_one_network_share_a_bucket() {
        let buckets = SourceBuckets::new((0.0, 1.0));
        let now = Instant::now();
        assert!(buckets.take("2001:db8::1".parse().unwrap(), now));
        assert!(!buckets.take("2001:db8::2".parse().unwrap(), now));
        assert_eq!(network("::ffff:10.0.0.1".parse().unwrap()), IpAddr::from([10, 0, 0, 1]));
    }

    #[test]
    fn places_are_given_back() {
        let sources = Sources::default();
        let source = IpAddr::from([10, 0, 0, 1]);
        let first = sources.enter(source, 1);
        assert!(first.is_some() && sources.enter(source, 1).is_none());
        assert!(sources.enter(IpAddr::from([10, 0, 0, 2]), 1).is_some());
        drop(first);
        assert!(sources.0.lock().unwrap().is_empty());
        assert!(sources.enter(source, 1).is_some());
    }
}
