//! What was last done for workers of hosted clusters.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::{Event, HostedStep};

/// What the journal says about hosted workers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Workers(BTreeMap<String, (Timestamp, HostedStep)>);

impl Workers {
    /// The last step of each and when it was taken, by name. Of a worker whose record was deleted there is none.
    pub fn last_steps(&self) -> &BTreeMap<String, (Timestamp, HostedStep)> {
        &self.0
    }

    pub(super) fn apply(&mut self, event: &Event, at: Timestamp) {
        let Event::HostedStep(step) = event else { return };
        match (step.step, &step.error) {
            (crate::WorkerStep::Forget, None) => _ = self.0.remove(&step.worker),
            _ => _ = self.0.insert(step.worker.clone(), (at, step.clone())),
        }
    }
}
