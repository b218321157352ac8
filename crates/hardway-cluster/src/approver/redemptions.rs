//! Who fetched a config, folded from the journal.

use hardway_journal::Record;
use jiff::Timestamp;

use crate::csr_policy::{Redemption, SharedRedemption};
use crate::declared::DeclaredNode;

/// All that was fetched.
#[derive(Clone, Debug, Default)]
pub(crate) struct Redemptions {
    own: Vec<Redemption>,
    /// Of workers that share their pool's token: whose it was, only the address can tell.
    shared: Vec<SharedRedemption>,
}

impl Redemptions {
    /// A line of the journal.
    pub(crate) fn read(&mut self, record: &Record) {
        self.own.extend(Redemption::of(record));
        self.shared.extend(SharedRedemption::of(record));
    }

    /// Nobody fetched anything: as far as this journal goes, nobody serves configs.
    pub(crate) fn is_empty(&self) -> bool {
        self.own.is_empty() && self.shared.is_empty()
    }

    /// Those of a node: its host's own; or, where it shares its pool's token, those of its pool that came from its address. The
    /// token of another pool opens another config, and so does a host's own: whoever has it proves nothing here.
    pub(crate) fn for_node(&self, declared: &DeclaredNode, pool: Option<&str>) -> Vec<Redemption> {
        let Some(pool) = pool else {
            return self.own.iter().filter(|one| one.host == declared.host).cloned().collect();
        };
        let its =
            self.shared.iter().filter(|one| one.pool == pool && declared.addresses.contains(&one.source));
        its.map(|one| Redemption { host: declared.host.clone(), source: one.source, at: one.at }).collect()
    }

    /// When a node's host last fetched its config.
    pub(crate) fn last(&self, declared: &DeclaredNode, pool: Option<&str>) -> Option<Timestamp> {
        self.for_node(declared, pool).iter().map(|one| one.at).max()
    }
}

#[cfg(test)]
mod tests {
    use hardway_journal::{Entry, Face, IgnitionRedeemed};

    use super::*;

    #[test]
    fn a_shared_token_counts_for_the_address_it_was_shown_from() {
        let fetched = |face: Face, host: &str, source: [u8; 4]| {
            let (host, digest) = (host.to_owned(), "1".to_owned());
            let fact = IgnitionRedeemed { host, digest, source: source.into(), face };
            Record::numbered(1, &Entry::of(Timestamp::UNIX_EPOCH, &fact))
        };
        let node = |name: &str, address: [u8; 4]| DeclaredNode {
            name: name.to_owned(),
            host: name.to_owned(),
            role: None,
            addresses: vec![address.into()],
            identity: None,
        };
        let mut redemptions = Redemptions::default();
        let demo = Some("clusters/demo");
        assert!(redemptions.is_empty());
        redemptions.read(&fetched(Face::Hosted, "clusters/demo", [10, 0, 0, 1]));
        assert_eq!(redemptions.last(&node("w-0", [10, 0, 0, 1]), demo), Some(Timestamp::UNIX_EPOCH));
        assert_eq!(redemptions.last(&node("w-1", [10, 0, 0, 2]), demo), None);
        for pool in [None, Some("clusters/other"), Some("other/demo"), Some("demo"), Some("")] {
            assert_eq!(redemptions.last(&node("w-0", [10, 0, 0, 1]), pool), None, "{pool:?}");
        }
        assert!(!redemptions.is_empty(), "somebody serves here");
        assert_eq!(redemptions.for_node(&node("w-1", [10, 0, 0, 2]), demo), []);
        assert_eq!(redemptions.for_node(&node("w-0", [10, 0, 0, 1]), None), []);
        redemptions.read(&fetched(Face::Host, "w-1", [10, 0, 0, 2]));
        assert_eq!(redemptions.last(&node("w-1", [10, 0, 0, 2]), None), Some(Timestamp::UNIX_EPOCH));
        assert_eq!(redemptions.last(&node("w-1", [10, 0, 0, 2]), demo), None, "that was another cluster's");
    }
}
