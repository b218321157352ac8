//! What stands in the cluster and not yet in the journal.

use std::collections::{BTreeMap, BTreeSet};

use hardway_journal::{CsrDecided, CsrIntended, Event, NodeJoined};
use jiff::Timestamp;

use super::Written;
use super::our_condition::OurCondition;
use super::record::{self, FoundDecision};
use crate::csr_policy::Examined;

/// Our verdicts in the cluster, and what the journal says of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unrecorded {
    /// What an approver of ours wrote into a request, by name.
    ours: BTreeMap<String, OurCondition>,
    /// What was read in the journal.
    recorded: Recorded,
    /// What was handed to whoever writes it, and not read since. That may go into the next journal as well as into this one.
    handed_on: Recorded,
}

#[derive(Clone, Debug, Default)]
struct Recorded {
    /// What was about to be written into requests, by uid.
    intended: BTreeMap<String, CsrDecided>,
    /// Requests that were decided, by uid.
    decided: BTreeSet<String>,
    /// Hosts that have become nodes, and when.
    joined: BTreeMap<String, Timestamp>,
}

impl Unrecorded {
    /// A request that bears a verdict of ours.
    pub(crate) fn see(&mut self, name: &str, ours: OurCondition) {
        self.ours.insert(name.to_owned(), ours);
    }

    /// A request that is gone. Its uid never comes again.
    pub(crate) fn forget(&mut self, name: &str, uid: Option<&str>) {
        self.ours.remove(name);
        if let Some(uid) = uid {
            self.note_recorded(uid, false);
        }
    }

    /// What the journal says.
    pub(crate) fn read(&mut self, event: &Event, at: Timestamp) {
        let (recorded, handed_on) = (&mut self.recorded, &mut self.handed_on);
        match event {
            Event::NodeJoined(NodeJoined { host }) => {
                // It was told for a moment that the clock of whoever writes may not have reached.
                let told = handed_on.joined.remove(host).map_or(at, |told| told.max(at));
                recorded.joined.insert(host.clone(), told);
            }
            Event::CsrIntended(CsrIntended(decided)) => {
                handed_on.intended.remove(&decided.uid);
                recorded.intended.insert(decided.uid.clone(), decided.clone());
            }
            Event::CsrDecided(CsrDecided { uid, .. }) => {
                handed_on.intended.remove(uid);
                handed_on.decided.remove(uid);
                recorded.intended.remove(uid);
                recorded.decided.insert(uid.clone());
            }
            _ => {}
        }
    }

    /// Another journal began in place of the one that was read.
    pub(crate) fn begin_anew(&mut self) {
        self.recorded = Recorded::default();
    }

    /// Notes what is about to be recorded.
    pub(crate) fn note_joined(&mut self, host: &str, at: Timestamp) {
        self.handed_on.joined.insert(host.to_owned(), at);
    }

    /// Notes that a decision is about to be recorded, or is not after all.
    pub(crate) fn note_recorded(&mut self, uid: &str, is_recorded: bool) {
        if is_recorded {
            self.handed_on.decided.insert(uid.to_owned());
        } else {
            self.handed_on.decided.remove(uid);
            self.recorded.decided.remove(uid);
        }
    }

    /// Notes what is about to be written into a request.
    pub(crate) fn intend(&mut self, decided: CsrDecided) {
        self.handed_on.intended.insert(decided.uid.clone(), decided);
    }

    /// When the journal was told that a host has become a node.
    pub(crate) fn joined(&self, host: &str) -> Option<Timestamp> {
        self.handed_on.joined.get(host).max(self.recorded.joined.get(host)).copied()
    }

    /// Whether there is such a decision.
    pub(crate) fn has_decisions(&self, requests: &BTreeMap<String, Examined>) -> bool {
        self.decisions(requests).next().is_some()
    }

    /// Decisions that an approver of ours took and did not record: it was ended in between, or never heard that they were written. Each is
    /// given once. What was intended says more than what stands in the request, where it is known and the same.
    pub(crate) fn take(&mut self, requests: &BTreeMap<String, Examined>) -> Vec<FoundDecision> {
        let found = |(examined, ours): (&Examined, &OurCondition)| {
            let request = &examined.request;
            let intended = self.intended(&request.uid).filter(|one| one.verdict == ours.verdict());
            let decided = intended.cloned().unwrap_or_else(|| record::found(examined, ours));
            FoundDecision { time: ours.at().unwrap_or(request.created), decided, written: Written::Yes }
        };
        let mut all: Vec<FoundDecision> = self.decisions(requests).map(found).collect();
        // A uid is one request's, as long as the API server is honest. Of two decisions about one, no journal could be read any more.
        all.retain(|found| self.handed_on.decided.insert(found.decided.uid.clone()));
        all
    }

    fn decisions<'u>(
        &'u self,
        requests: &'u BTreeMap<String, Examined>,
    ) -> impl Iterator<Item = (&'u Examined, &'u OurCondition)> {
        let ours = self.ours.iter().filter_map(|(name, ours)| Some((requests.get(name)?, ours)));
        ours.filter(|(examined, _)| !self.is_recorded(&examined.request.uid))
    }

    fn is_recorded(&self, uid: &str) -> bool {
        self.recorded.decided.contains(uid) || self.handed_on.decided.contains(uid)
    }

    fn intended(&self, uid: &str) -> Option<&CsrDecided> {
        self.handed_on.intended.get(uid).or_else(|| self.recorded.intended.get(uid))
    }
}

#[cfg(test)]
mod tests {
    use hardway_journal::{CsrVerdict, Reason};

    use super::*;

    fn decided(uid: &str) -> CsrDecided {
        CsrDecided {
            request: uid.to_owned(),
            uid: uid.to_owned(),
            node: "worker-0".to_owned(),
            signer: String::new(),
            key_id: String::new(),
            username: String::new(),
            verdict: CsrVerdict::Approve,
            reason: Reason::new("first-client"),
            evidence: Vec::new(),
            more: 0,
        }
    }

    /// What was only handed on goes into the new journal: found once more, it would stand there twice.
    #[test]
    fn of_a_journal_that_began_anew_only_what_was_read_is_forgotten() {
        let [early, late] = [1, 2].map(|second| Timestamp::from_second(second).unwrap());
        let mut unrecorded = Unrecorded::default();
        let joined = |host: &str| Event::NodeJoined(NodeJoined { host: host.to_owned() });
        for host in ["read", "handed-on"] {
            unrecorded.note_joined(host, early);
            unrecorded.note_recorded(host, true);
            unrecorded.intend(decided(host));
        }
        unrecorded.read(&Event::CsrIntended(CsrIntended(decided("read"))), early);
        assert!(unrecorded.intended("read").is_some());
        unrecorded.read(&Event::CsrDecided(decided("read")), early);
        unrecorded.read(&joined("read"), late);
        assert!(unrecorded.is_recorded("read") && unrecorded.intended("read").is_none());
        assert_eq!(unrecorded.joined("read"), Some(late));

        unrecorded.begin_anew();
        assert!(!unrecorded.is_recorded("read") && unrecorded.is_recorded("handed-on"));
        assert_eq!((unrecorded.joined("read"), unrecorded.joined("handed-on")), (None, Some(early)));
        assert!(unrecorded.intended("handed-on").is_some());
        unrecorded.note_recorded("handed-on", false);
        assert!(!unrecorded.is_recorded("handed-on"));
    }
}
