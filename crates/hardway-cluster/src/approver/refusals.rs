//! How many lines refusals are worth. Whoever may ask can be refused as often as they like, and must not fill the disk of the host that
//! refuses them: of each kind the first are told, and then fewer and fewer.

use std::collections::BTreeSet;

use hardway_base::Tally;
use hardway_journal::{CsrDecided, Reason};
use jiff::Timestamp;

/// Refusals that were told, and that were not.
pub(crate) struct Refusals {
    /// About nodes that are expected.
    expected: Tally<Kind>,
    /// About all others: whoever asks chooses their names.
    others: Tally<Kind>,
    /// Strangers who asked, as long as they are few. Whoever can make users could make up kinds without end.
    askers: BTreeSet<String>,
}

/// Why, who asked, and for which of the expected nodes.
type Kind = (Reason, String, String);

/// Of a kind that are all told, about a node that is expected: its kubelet asks again every quarter of an hour.
const OF_A_NODE: u64 = 8;
/// The same about nodes that are not: there may be many, and a person wants to see which.
const OF_OTHERS: u64 = 64;
/// Users that are told apart.
const ASKERS: usize = 256;

/// Who asks for a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asker {
    /// An expected one itself, or its host.
    ItsOwn,
    /// Somebody else.
    Another,
    /// Anybody, for one that is not expected.
    OfNobodyExpected,
}

impl Refusals {
    pub(crate) fn new() -> Self {
        Self { expected: Tally::new(OF_A_NODE), others: Tally::new(OF_OTHERS), askers: BTreeSet::new() }
    }

    /// One more. If it is worth a line: how many of its kind had none since the last that was.
    pub(crate) fn count(&mut self, decided: &CsrDecided, standing: Asker, now: Timestamp) -> Option<u64> {
        let asker = &decided.username;
        // There are only so many hosts and nodes of ours, and they take nobody's place.
        let is_own = standing == Asker::ItsOwn;
        if !is_own && self.askers.len() < ASKERS {
            self.askers.insert(asker.clone());
        }
        let asker = if is_own || self.askers.contains(asker) { asker.clone() } else { String::new() };
        let hour = now.as_second() / 3600;
        match standing {
            Asker::ItsOwn | Asker::Another => {
                self.expected.count_in_hour(hour, (decided.reason.clone(), asker, decided.node.clone()))
            }
            Asker::OfNobodyExpected => {
                self.others.count_in_hour(hour, (decided.reason.clone(), asker, String::new()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use hardway_journal::CsrVerdict;

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn refused(reason: &str, username: &str, node: &str) -> CsrDecided {
        CsrDecided {
            request: "csr-1".into(),
            uid: "1".into(),
            node: node.into(),
            signer: "s".into(),
            key_id: "k".into(),
            username: username.into(),
            verdict: CsrVerdict::Deny,
            reason: Reason::new(reason),
            evidence: Vec::new(),
            more: 0,
        }
    }

    #[test]
    fn names_and_users_that_are_made_up_make_no_kinds() {
        let mut refusals = Refusals::new();
        let mut lines = 0;
        for n in 0..10_000 {
            let made_up = refused("node-not-declared", "shared", &format!("node-{n}"));
            lines += usize::from(refusals.count(&made_up, Asker::OfNobodyExpected, at(0)).is_some());
        }
        assert_eq!(lines, 64 + 7, "from 128 on");
        let mut lines = 0;
        for n in 0..10_000 {
            let made_up = refused("requester-not-bootstrapper", &format!("user-{n}"), "node-0");
            lines += usize::from(refusals.count(&made_up, Asker::Another, at(0)).is_some());
        }
        // The shared identity is one of the users.
        assert_eq!(lines, 255 + 8 + 10, "{lines}");
    }

    #[test]
    fn a_flood_in_one_name_hides_nothing_about_another() {
        let mut refusals = Refusals::new();
        let of = |node: &str| refused("shared-identity", "shared", node);
        let told =
            (0..100).filter_map(|_| refusals.count(&of("node-0"), Asker::Another, at(0))).collect::<Vec<_>>();
        assert_eq!(told, [0, 0, 0, 0, 0, 0, 0, 0, 7, 15, 31]);
        assert_eq!(refusals.count(&of("node-1"), Asker::Another, at(0)), Some(0));
        assert_eq!(refusals.count(&of("node-0"), Asker::Another, at(3599)), None);
        assert_eq!(refusals.count(&of("node-0"), Asker::Another, at(3600)), Some(37), "another hour");
    }

    /// A cluster has more nodes than strangers are told apart.
    #[test]
    fn our_own_are_told_apart_however_many_there_are() {
        let mut refusals = Refusals::new();
        for n in 0..1_000 {
            let own = refused("over-budget", &format!("system:node:node-{n}"), &format!("node-{n}"));
            assert_eq!(refusals.count(&own, Asker::ItsOwn, at(0)), Some(0));
        }
        assert!(refusals.askers.is_empty());
    }
}
