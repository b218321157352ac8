//! What happened, in the order it was seen.

use std::collections::VecDeque;

use jiff::Timestamp;
use serde::Serialize;

use crate::objects::{ClusterOperator, Condition};

/// The last things that happened.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    moments: VecDeque<Moment>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Moment {
    /// When it was seen, by the clock of whoever watches.
    pub seen: Timestamp,
    /// When it was, by the cluster's clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<Timestamp>,
    /// An operator, a node, `api`.
    pub subject: String,
    /// What it is now.
    pub what: String,
}

/// More would be of no use to anybody, and a flapping operator makes thousands in a day.
const KEPT: usize = 1000;

impl Timeline {
    /// Oldest first.
    pub fn moments(&self) -> impl Iterator<Item = &Moment> {
        self.moments.iter()
    }

    /// Adds one.
    pub fn push(&mut self, moment: Moment) {
        if self.moments.len() == KEPT {
            self.moments.pop_front();
        }
        self.moments.push_back(moment);
    }

    /// Adds what is different between two looks at an operator.
    pub fn operator(
        &mut self,
        name: &str,
        before: Option<&ClusterOperator>,
        after: &ClusterOperator,
        now: Timestamp,
    ) {
        for condition in after.conditions() {
            let was = before.and_then(|before| before.condition(&condition.r#type));
            if was.is_none_or(|was| is_other(was, condition)) {
                self.push(Moment {
                    seen: now,
                    written: condition.last_transition_time,
                    subject: name.to_owned(),
                    what: condition.sentence(),
                });
            }
        }
    }
}

/// Messages change all the time; a status or a reason that changes is news.
fn is_other(was: &Condition, is: &Condition) -> bool {
    was.status != is.status || was.reason != is.reason
}
