//! Whether the config of a pool has come to rest.
//!
//! HyperShift writes two or three hashes in quick succession at an upgrade, when the API's port changes, or when node tuning
//! arrives (openshift/hypershift `hypershift-operator/controllers/nodepool/config.go`). Machines booted in between come up with
//! a config that is retired minutes later.

use jiff::{SignedDuration, Timestamp};

/// How long a hash must have stood before machines are booted with it.
pub const REST: SignedDuration = SignedDuration::from_secs(120);

/// The hash of a pool's config, and since when it is that.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigWatch {
    seen: Option<(String, Timestamp)>,
}

impl ConfigWatch {
    /// Takes note of the hash as it is now. A pool that was there before hardway looked has had its rest: `made` is when its
    /// user-data was written.
    pub fn see(&mut self, hash: Option<&str>, made: Option<Timestamp>, now: Timestamp) {
        match (hash, &self.seen) {
            (None, _) => self.seen = None,
            (Some(hash), Some((seen, _))) if seen == hash => {}
            (Some(hash), _) => self.seen = Some((hash.to_owned(), made.map_or(now, |made| made.min(now)))),
        }
    }

    /// Since when it is what it is.
    pub fn since(&self) -> Option<Timestamp> {
        self.seen.as_ref().map(|(_, since)| *since)
    }

    /// Whether it has been the same for long enough.
    pub fn is_at_rest(&self, now: Timestamp, rest: SignedDuration) -> bool {
        self.since().is_some_and(|since| now.duration_since(since) >= rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_wait_for_the_last_of_several() {
        let at = |second: i64| Timestamp::from_second(second).unwrap();
        let mut watch = ConfigWatch::default();
        assert!(!watch.is_at_rest(at(1000), REST));
        watch.see(Some("a"), None, at(1000));
        watch.see(Some("a"), None, at(1100));
        watch.see(Some("b"), None, at(1110));
        assert!(!watch.is_at_rest(at(1229), REST) && watch.is_at_rest(at(1230), REST));
        watch.see(None, None, at(1240));
        assert_eq!(watch.since(), None);
        watch.see(Some("b"), Some(at(500)), at(1241));
        assert!(watch.is_at_rest(at(1241), REST), "it was there long before anybody looked");
        watch.see(Some("c"), Some(at(9999)), at(1242));
        assert!(!watch.is_at_rest(at(1243), REST), "a time to come is no rest");
    }
}
