//! Certificate requests that were decided.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::{CsrDecided, CsrVerdict, Event, Impossible, Reason};

/// What the journal says about certificate requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requests {
    /// Approved or denied, by uid, and in which line.
    decided: BTreeMap<String, (u64, CsrVerdict)>,
    held: BTreeMap<String, Reason>,
    /// Who got what they asked for.
    served: BTreeSet<String>,
    /// What was last said of each, by uid.
    all: BTreeMap<String, Decided>,
}

/// What was last said of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    /// When it was first said.
    pub since: Timestamp,
    /// What.
    pub decision: CsrDecided,
}

impl Requests {
    /// Those that wait for a person or for time, by name, and why.
    pub fn held(&self) -> &BTreeMap<String, Reason> {
        &self.held
    }

    /// Whether a user got a certificate.
    pub fn has_served(&self, user: &str) -> bool {
        self.served.contains(user)
    }

    /// What was last said of each that was judged, by uid.
    pub fn all(&self) -> &BTreeMap<String, Decided> {
        &self.all
    }

    pub(super) fn check(&self, event: &Event, line: u64) -> Result<(), Impossible> {
        let Event::CsrDecided(CsrDecided { uid, verdict, .. }) = event else { return Ok(()) };
        match self.decided.get(uid) {
            Some((before, other)) if is_final(*verdict) && verdict != other => {
                Err(Impossible::DecidedBothWays {
                    line,
                    verdict: *verdict,
                    request: uid.clone(),
                    before: *before,
                    other: *other,
                })
            }
            _ => Ok(()),
        }
    }

    pub(super) fn apply(&mut self, event: &Event, line: u64, at: Timestamp) {
        let Event::CsrDecided(decided) = event else { return };
        let is_same = |known: &&Decided| known.decision.verdict == decided.verdict;
        let since = self.all.get(&decided.uid).filter(is_same).map_or(at, |known| known.since);
        self.all.insert(decided.uid.clone(), Decided { since, decision: decided.clone() });
        if is_final(decided.verdict) {
            self.decided.insert(decided.uid.clone(), (line, decided.verdict));
        }
        if decided.verdict == CsrVerdict::Approve {
            self.served.insert(decided.username.clone());
        }
        match decided.verdict {
            CsrVerdict::Hold => _ = self.held.insert(decided.request.clone(), decided.reason.clone()),
            CsrVerdict::Approve | CsrVerdict::Deny | CsrVerdict::Leave => {
                _ = self.held.remove(&decided.request)
            }
        }
    }
}

/// Whether it stands in the request from then on.
fn is_final(verdict: CsrVerdict) -> bool {
    matches!(verdict, CsrVerdict::Approve | CsrVerdict::Deny)
}
