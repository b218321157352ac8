//! Who fetched a config, folded from the journal.

use std::borrow::Cow;
use std::net::IpAddr;

use hardway_journal::Record;
use jiff::Timestamp;

use crate::csr_policy::Redemption;
use crate::declared::DeclaredNode;

/// All that was fetched.
#[derive(Clone, Debug, Default)]
pub(crate) struct Redemptions {
    own: Vec<Redemption>,
    /// Of workers that share a token: whose it was, only the address can tell.
    shared: Vec<(IpAddr, Timestamp)>,
}

impl Redemptions {
    /// A line of the journal.
    pub(crate) fn read(&mut self, record: &Record) {
        self.own.extend(Redemption::of(record));
        self.shared.extend(Redemption::shared(record));
    }

    /// Those that count for a node. One that was shared is the node's whose address it came from.
    pub(crate) fn for_node(&self, declared: Option<&DeclaredNode>) -> Cow<'_, [Redemption]> {
        if self.shared.is_empty() {
            return Cow::Borrowed(&self.own);
        }
        let is_its = |source: &IpAddr| declared.is_some_and(|declared| declared.addresses.contains(source));
        let host = declared.map_or("", |declared| declared.host.as_str());
        let mut all = self.own.clone();
        for (source, at) in self.shared.iter().filter(|(source, _)| is_its(source)) {
            all.push(Redemption { host: host.to_owned(), source: *source, at: *at });
        }
        // Somebody serves configs here, even if this node got none.
        if all.is_empty() {
            let (source, at) = self.shared[0];
            all.push(Redemption { host: String::new(), source, at });
        }
        Cow::Owned(all)
    }

    /// When a node's host last fetched its config.
    pub(crate) fn last(&self, declared: &DeclaredNode) -> Option<Timestamp> {
        let all = self.for_node(Some(declared));
        all.iter().filter(|one| one.host == declared.host).map(|one| one.at).max()
    }
}

#[cfg(test)]
mod tests {
    use hardway_journal::{Entry, Face, IgnitionRedeemed};

    use super::*;

    #[test]
    fn a_shared_token_counts_for_the_address_it_was_shown_from() {
        let fetched = |face: Face, host: &str, source: [u8; 4]| {
            let (host, generation) = (host.to_owned(), "1".to_owned());
            let fact = IgnitionRedeemed { host, generation, source: source.into(), face };
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
        assert!(redemptions.for_node(None).is_empty());
        redemptions.read(&fetched(Face::Hosted, "clusters/demo", [10, 0, 0, 1]));
        assert_eq!(redemptions.last(&node("w-0", [10, 0, 0, 1])), Some(Timestamp::UNIX_EPOCH));
        assert_eq!(redemptions.last(&node("w-1", [10, 0, 0, 2])), None);
        assert!(!redemptions.for_node(None).is_empty(), "somebody serves here");
        redemptions.read(&fetched(Face::Host, "w-1", [10, 0, 0, 2]));
        assert_eq!(redemptions.last(&node("w-1", [10, 0, 0, 2])), Some(Timestamp::UNIX_EPOCH));
    }
}
