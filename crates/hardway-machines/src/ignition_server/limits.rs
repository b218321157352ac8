//! How much one client may take.

use std::hash::{BuildHasher as _, RandomState};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The bounds of a server.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections at one time. For the next one, the source with most of them gives one back.
    pub connections: usize,
    /// Connections at one time from one source. For the next one, another of that source is closed.
    pub connections_per_source: usize,
    /// From the first byte to the end of the TLS handshake.
    pub handshake: Duration,
    /// From the beginning to the end of the first request's headers.
    pub first_request: Duration,
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
    /// Configs of pools, which nobody shows a token for, to one address, each second and at once. Not to a network: machines that boot
    /// together are in one, and so may somebody be who asks without end.
    pub pool_requests: (f64, f64),
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 2048,
            connections_per_source: 1536,
            handshake: Duration::from_secs(10),
            first_request: Duration::from_secs(15),
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

    /// Whether one more is within bounds; if so, it counts. Whether a source is an address or its [`network`] is the caller's to say.
    pub fn take(&self, source: IpAddr, now: Instant) -> bool {
        let row = usize::try_from(self.hasher.hash_one(source)).unwrap_or_default() % ROWS;
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
pub(super) fn network(source: IpAddr) -> IpAddr {
    match source.to_canonical() {
        IpAddr::V6(address) => {
            let s = address.segments();
            IpAddr::V6(Ipv6Addr::new(s[0], s[1], s[2], s[3], 0, 0, 0, 0))
        }
        v4 => v4,
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
    fn addresses_of_one_network_are_one() {
        assert_eq!(network("2001:db8::1".parse().unwrap()), network("2001:db8::2".parse().unwrap()));
        assert_eq!(network("::ffff:10.0.0.1".parse().unwrap()), IpAddr::from([10, 0, 0, 1]));
    }
}
