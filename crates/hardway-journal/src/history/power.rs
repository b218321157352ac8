//! Whether the cluster was switched off, and whom that closed.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::{ClusterStopping, Event};

/// What the journal says of switching off and on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Power {
    off: Option<SwitchedOff>,
}

/// A cluster that is being switched off, or is off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchedOff {
    /// Since when.
    pub begun: Timestamp,
    /// Nodes that were closed for it.
    pub cordoned: BTreeSet<String>,
    /// Until when it is meant to be off.
    pub until: Option<Timestamp>,
    /// Since when every machine is off.
    pub stopped: Option<Timestamp>,
}

impl Power {
    /// The cluster that was switched off and not on again.
    pub fn off(&self) -> Option<&SwitchedOff> {
        self.off.as_ref()
    }

    pub(super) fn apply(&mut self, event: &Event, at: Timestamp) {
        match event {
            Event::ClusterStopping(ClusterStopping { cordoned, until }) => {
                // A second run finds closed what the first has closed.
                let before = self.off.take();
                let mut all: BTreeSet<String> = cordoned.iter().cloned().collect();
                all.extend(before.iter().flat_map(|off| off.cordoned.clone()));
                let begun = before.map_or(at, |off| off.begun);
                self.off = Some(SwitchedOff { begun, cordoned: all, until: *until, stopped: None });
            }
            Event::ClusterStopped(_) => {
                if let Some(off) = &mut self.off {
                    off.stopped.get_or_insert(at);
                }
            }
            Event::ClusterStarted(_) => self.off = None,
            _ => {}
        }
    }
}
