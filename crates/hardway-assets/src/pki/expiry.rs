//! When certificates end, and which are to be renewed.

use jiff::{SignedDuration, Timestamp};

use super::certificate::path;
use super::{catalogue, inspect};
use crate::graph::Expiry;
use crate::{Cluster, Tree};

/// Every certificate of a cluster with its end, the nearest first.
pub fn expiries(cluster: &Cluster, tree: &Tree, now: Timestamp) -> Vec<Expiry> {
    let mut all: Vec<Expiry> =
        catalogue::certificates(cluster).into_iter().map(|row| expiry(&row, cluster, tree, now)).collect();
    all.sort_by_key(|expiry| expiry.seconds_left);
    all
}

/// Those that were made and have ended, the first to end first.
pub fn ended(cluster: &Cluster, tree: &Tree, now: Timestamp) -> Vec<Expiry> {
    expiries(cluster, tree, now).into_iter().filter(Expiry::has_ended).collect()
}

/// What to do about certificates that have ended before the cluster stood.
pub const ENDED_FIX: &str = "check this host's clock. If it is right, run hardway create ignition-configs to make the \
 certificates again with the same keys; then reinstall the bootstrap host and every machine that is not a node yet from the \
 new files; where hardway makes the machines, hardway destroy and hardway create cluster do all of it";

/// What counts is what would lie on disk after this run: the recorded date of issue and the lifetime of today may end
/// sooner than the file does, or be all there is when the file was removed or the secrets came from another machine.
fn expiry(row: &catalogue::CertificateSpec, cluster: &Cluster, tree: &Tree, now: Timestamp) -> Expiry {
    let lifetime = SignedDuration::from_hours(row.lifetime.hours(cluster));
    let issued = cluster.identity.issued(&row.name);
    let planned = issued + lifetime;
    let on_disk = not_after(&row.name, tree);
    let not_after = on_disk.map_or(planned, |end| end.min(planned));
    let seconds_left = not_after.as_second() - now.as_second();
    // A fifth of the lifetime, but never sooner than a month before the end: a one-day certificate is renewed when
    // less than five hours are left, which is time enough for an install.
    let due_from = not_after - SignedDuration::from_secs((lifetime.as_secs() / 5).min(30 * 86_400));
    let ends_soon = now.as_second() > due_from.as_second();
    let is_early = issued.as_second() > now.as_second() + CLOCK_SKEW;
    let certificate = row.name.clone();
    let is_on_disk = on_disk.is_some();
    let is_due = ends_soon || is_early;
    Expiry { certificate, is_on_disk, not_after, seconds_left, is_early, due_from, is_due }
}

/// Seconds that two clocks may differ without anyone minding.
const CLOCK_SKEW: i64 = 300;

fn not_after(certificate: &str, tree: &Tree) -> Option<Timestamp> {
    let text = std::str::from_utf8(tree.get(&path(certificate))?).ok()?;
    Some(inspect(text).ok()?.first()?.not_after)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    fn due(cluster: &Cluster, now: &str) -> Vec<String> {
        let all = expiries(cluster, &Tree::default(), now.parse().unwrap());
        all.into_iter().filter(|expiry| expiry.is_due).map(|expiry| expiry.certificate).collect()
    }

    #[test]
    fn nothing_is_due_while_it_is_fresh() {
        assert!(due(&example::cluster(), "2026-11-15T18:00:00Z").is_empty());
    }

    #[test]
    fn what_would_be_made_expired_is_due_even_without_a_file() {
        let due = due(&example::cluster(), "2026-11-17T00:00:00Z");
        assert!(
            due.contains(&"kubelet-signer".to_owned()) && !due.contains(&"root-ca".to_owned()),
            "{due:?}"
        );
    }

    #[test]
    fn a_shorter_lifetime_than_the_age_is_due() {
        let mut cluster = example::cluster();
        cluster.inventory.pki.short_lived_hours = 10;
        assert!(due(&cluster, "2026-11-15T20:00:00Z").contains(&"aggregator-client".to_owned()));
    }

    #[test]
    fn what_begins_in_the_future_is_due() {
        let all = expiries(&example::cluster(), &Tree::default(), "2026-11-14T00:00:00Z".parse().unwrap());
        assert!(all.iter().all(|expiry| expiry.is_early && expiry.is_due));
    }

    #[test]
    fn a_renewed_one_is_fresh_again() {
        let mut cluster = example::cluster();
        let now = "2026-11-17T00:00:00Z";
        for certificate in due(&cluster, now) {
            cluster.identity.renewed.insert(certificate, now.parse().unwrap());
        }
        assert!(due(&cluster, now).is_empty());
    }
}
