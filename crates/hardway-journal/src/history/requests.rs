//! Certificate requests that were decided.

use std::collections::{BTreeMap, BTreeSet};

use super::Impossible;
use crate::{CsrDecided, CsrVerdict, Event, Reason};

/// What the journal says about certificate requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requests {
    /// Approved or denied, by uid, and in which line.
    decided: BTreeMap<String, (u64, CsrVerdict)>,
    held: BTreeMap<String, Reason>,
    /// Who got what they asked for.
    served: BTreeSet<String>,
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

    pub(super) fn apply(&mut self, event: &Event, line: u64) {
        let Event::CsrDecided(decided) = event else { return };
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
