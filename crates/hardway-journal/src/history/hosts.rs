//! What was offered to hosts, and what became of them.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use jiff::Timestamp;

use crate::{Event, Face, Record};

/// What the journal says about hosts of the inventory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hosts {
    /// Since when, by host and config.
    offered: BTreeMap<(String, String), Timestamp>,
    redeemed: BTreeMap<String, Redeemed>,
    installed: BTreeSet<String>,
    joined: BTreeMap<String, Timestamp>,
    retired: BTreeSet<String>,
    /// Since when nobody needs a host's config any more, though no node of it joined.
    ended: BTreeMap<String, Timestamp>,
    /// How many machines of that name have come to an end: joined, done, or taken away.
    lives: BTreeMap<String, u64>,
}

/// A config that a host has fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redeemed {
    /// When.
    pub at: Timestamp,
    /// From where.
    pub source: IpAddr,
    /// Which config.
    pub digest: String,
}

impl Hosts {
    /// Since when a config of a host is on offer: the first offer counts, whichever server made it.
    pub fn offered(&self, host: &str, digest: &str) -> Option<Timestamp> {
        self.offered.get(&(host.to_owned(), digest.to_owned())).copied()
    }

    /// What a host fetched last.
    pub fn redeemed(&self, host: &str) -> Option<&Redeemed> {
        self.redeemed.get(host)
    }

    /// The hosts that start from their disks: their installers came for their configs, their disks' systems for theirs, their
    /// nodes have joined, or their part is over.
    pub fn installed(&self) -> &BTreeSet<String> {
        &self.installed
    }

    /// When a host's node joined.
    pub fn joined(&self, host: &str) -> Option<Timestamp> {
        self.joined.get(host).copied()
    }

    /// The hosts that have fetched their configs or joined since their part was last over: machines that may be out there.
    pub fn begun(&self) -> BTreeSet<&str> {
        let fetched = self.redeemed.iter().map(|(host, redeemed)| (host, redeemed.at));
        let joined = self.joined.iter().map(|(host, at)| (host, *at));
        let begun = fetched.chain(joined).filter(|(host, at)| self.ended.get(*host) < Some(at));
        begun.map(|(host, _)| host.as_str()).collect()
    }

    /// Whether a machine has done its part and is gone for good.
    pub fn is_retired(&self, host: &str) -> bool {
        self.retired.contains(host)
    }

    /// When a host's part was last over without a node of it: bootstrapping was complete, or its machine was taken away.
    pub fn ended(&self, host: &str) -> Option<Timestamp> {
        self.ended.get(host).copied()
    }

    /// Which life of a host's machine this is. The next one begins when its node joins, or its part is over.
    pub fn life(&self, host: &str) -> u64 {
        self.lives.get(host).copied().unwrap_or_default()
    }

    /// One more record, for callers that want to know about hosts only: nothing about them is impossible.
    pub fn note(&mut self, record: &Record) {
        if let Some(event) = Event::of(record) {
            self.apply(&event, record.time);
        }
    }

    pub(super) fn apply(&mut self, event: &Event, at: Timestamp) {
        match event {
            Event::IgnitionOffered(offer) => {
                let key = (offer.host.clone(), offer.digest.clone());
                let since = self.offered.entry(key).or_insert(at);
                *since = at.min(*since);
            }
            Event::IgnitionRedeemed(redeemed) if redeemed.face == Face::Host => {
                let (source, digest) = (redeemed.source, redeemed.digest.clone());
                self.redeemed.insert(redeemed.host.clone(), Redeemed { at, source, digest });
                // The system on its disk has begun.
                self.installed.insert(redeemed.host.clone());
            }
            Event::InstallBegun(begun) => _ = self.installed.insert(begun.host.clone()),
            Event::NodeJoined(joined) => {
                self.installed.insert(joined.host.clone());
                self.joined.insert(joined.host.clone(), at);
                self.end_offers(&joined.host, at);
                self.begin_next_life(&joined.host);
            }
            Event::MachineRetired(retired) => {
                self.retired.insert(retired.host.clone());
                self.installed.insert(retired.host.clone());
                self.end(&retired.host, at);
            }
            Event::BootstrapComplete(complete) => {
                self.installed.insert(complete.host.clone());
                self.end(&complete.host, at);
            }
            Event::MachineGone(gone) => self.end(&gone.host, at),
            _ => {}
        }
    }

    fn end(&mut self, host: &str, at: Timestamp) {
        self.ended.insert(host.to_owned(), at);
        self.end_offers(host, at);
        self.begin_next_life(host);
    }

    /// What was on offer is over, by the order of lines: a clock that was set back in between keeps no token alive.
    fn end_offers(&mut self, host: &str, at: Timestamp) {
        let own = self.offered.iter_mut().filter(|((of, _), _)| of == host);
        own.for_each(|(_, since)| *since = at.min(*since));
    }

    fn begin_next_life(&mut self, host: &str) {
        *self.lives.entry(host.to_owned()).or_default() += 1;
    }
}
