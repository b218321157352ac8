//! Lines about what anybody can cause: the first ones, and then fewer and fewer. However many ask, from however many addresses,
//! journals and logs end up with a number of lines that is known beforehand.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Counts by kind. Kinds must be of ours, so that there are only so many: nothing that a client can make up.
pub struct Tally<K> {
    first: u64,
    counts: Mutex<BTreeMap<K, Count>>,
}

#[derive(Default)]
struct Count {
    all: u64,
    untold: u64,
    /// In which hour the last was told.
    hour: Option<i64>,
}

impl<K: Ord> Tally<K> {
    /// The first so many of a kind are worth a line each, and later those at which their number has doubled: of `n`, at most
    /// `first` and the logarithm of `n`.
    pub const fn new(first: u64) -> Self {
        Self { first, counts: Mutex::new(BTreeMap::new()) }
    }

    /// One more. If it is worth a line: how many had none since the last that was.
    pub fn count(&self, kind: K) -> Option<u64> {
        self.count_in(None, kind)
    }

    /// The same, and the first in each hour is worth a line: after a flood the next would be so only when as many have come again, and the
    /// one that matters may be among them.
    pub fn count_in_hour(&self, hour: i64, kind: K) -> Option<u64> {
        self.count_in(Some(hour), kind)
    }

    fn count_in(&self, hour: Option<i64>, kind: K) -> Option<u64> {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(kind).or_default();
        count.all += 1;
        if count.all <= self.first || count.all.is_power_of_two() || count.hour != hour {
            count.hour = hour;
            return Some(std::mem::take(&mut count.untold));
        }
        count.untold += 1;
        None
    }
}

impl<K> std::fmt::Debug for Tally<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tally").field("first", &self.first).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_are_told_and_the_rest_is_counted() {
        let tally = Tally::new(3);
        let told: Vec<(u64, u64)> = (1..=40).filter_map(|number| Some((number, tally.count("a")?))).collect();
        assert_eq!(told, [(1, 0), (2, 0), (3, 0), (4, 0), (8, 3), (16, 7), (32, 15)]);
        assert_eq!(tally.count("b"), Some(0), "another kind");
    }

    #[test]
    fn the_first_of_each_hour_is_told() {
        let tally = Tally::new(0);
        let told: Vec<(i64, u64)> =
            (1..=40).filter_map(|n| Some((n, tally.count_in_hour(n / 10, "a")?))).collect();
        assert_eq!(
            told,
            [(1, 0), (2, 0), (4, 1), (8, 3), (10, 1), (16, 5), (20, 3), (30, 9), (32, 1), (40, 7)]
        );
    }
}
