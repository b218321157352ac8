//! Waiting for anything that can be seen of a cluster.

use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

use super::error::GiveUp;
use super::line::Line;
use super::waiter::{Wait, host};
use crate::operators::WatchedCluster;
use crate::watch::{Watch, WatchedKind};

/// What a look at the cluster comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// It holds: what was seen, in a sentence.
    Holds(String),
    /// Not yet: what is missing, in a sentence.
    Lacks(String),
}

impl Wait<'_> {
    /// Until the API answers and this holds. Gives what was seen.
    ///
    /// # Errors
    /// What was missing last, and why the wait was given up.
    pub async fn holds(
        &mut self,
        mut check: impl FnMut(&WatchedCluster, Timestamp) -> Judgement,
    ) -> Result<String, (String, GiveUp)> {
        self.look_at_host();
        self.announce(&format!("the Kubernetes API at {}", host(&self.config)));
        let version = self.api().await?;
        self.say(Line::debug(format!("API {version} up")));
        let mut watch = Watch::start(&self.config, self.options.patience);
        let mut last = String::new();
        let seen = self.until(&mut watch, async |wait| match wait.judged(&mut check) {
            None => None,
            Some(Judgement::Holds(seen)) => Some(seen),
            Some(Judgement::Lacks(missing)) => {
                if missing != last {
                    wait.say(Line::info(format!("Waiting for {missing}")).awaiting(missing.as_str()));
                }
                last = missing;
                None
            }
        });
        seen.await.map_err(|why| (last, why))
    }

    /// Nothing is judged before the first lists are there: an empty picture would lack everything.
    fn judged(&self, check: &mut impl FnMut(&WatchedCluster, Timestamp) -> Judgement) -> Option<Judgement> {
        let is_known = [WatchedKind::Nodes, WatchedKind::Requests, WatchedKind::Version]
            .iter()
            .all(|kind| self.index.is_fresh(*kind));
        is_known.then(|| check(&self.index, self.clock.now()))
    }

    /// One look: lists everything once. False when nothing answered in this time.
    pub async fn look(&mut self, at_most: Duration) -> bool {
        let mut watch = Watch::start(&self.config, self.options.patience);
        let end = Instant::now() + at_most;
        while Instant::now() < end {
            if WatchedKind::ALL.iter().all(|kind| self.index.is_fresh(*kind)) {
                return true;
            }
            let event = watch.next(Duration::from_millis(200)).await;
            self.take(&event);
            if self.index.lost().is_some() {
                return false;
            }
        }
        self.index.is_fresh(WatchedKind::Nodes)
    }
}
