//! When certificates end, and which are to be renewed.

use jiff::Timestamp;

use super::certificate::path;
use super::{catalogue, inspect};
use crate::{Cluster, Tree};

/// A certificate on disk and its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expiry {
    /// Its name.
    pub certificate: String,
    /// Its last second.
    pub not_after: Timestamp,
    /// Seconds that are left; negative once it has expired.
    pub seconds_left: i64,
    /// Near enough to its end to be renewed.
    pub is_due: bool,
}

/// Every certificate on disk with its end, the nearest first.
pub fn expiries(cluster: &Cluster, tree: &Tree, now: Timestamp) -> Vec<Expiry> {
    let mut all: Vec<Expiry> = catalogue::certificates(cluster)
        .into_iter()
        .filter_map(|row| expiry(row.lifetime.hours(cluster) * 3600, row.name, tree, now))
        .collect();
    all.sort_by_key(|expiry| expiry.seconds_left);
    all
}

/// A leaf begins with its signer, so its first date says nothing about how long it was meant to live.
fn expiry(lifetime: i64, certificate: String, tree: &Tree, now: Timestamp) -> Option<Expiry> {
    let text = std::str::from_utf8(tree.get(&path(&certificate))?).ok()?;
    let facts = inspect(text).ok()?.into_iter().next()?;
    let seconds_left = facts.not_after.as_second() - now.as_second();
    // A fifth of the lifetime, but never sooner than a month before the end: a one-day certificate is renewed when
    // less than five hours are left, which is time enough for an install.
    let is_due = seconds_left < (lifetime / 5).min(30 * 86_400);
    Some(Expiry { certificate, not_after: facts.not_after, seconds_left, is_due })
}
