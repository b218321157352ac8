//! How many workers a pool is to have, and how that is told in its NodePool.
//!
//! On platform None HyperShift looks neither at `spec.replicas` nor at `spec.autoScaling`; it counts no nodes and heals none. What is done about
//! them is told in a condition of our own, beside HyperShift's.

use crate::gates::GateName;
use crate::objects::NodePool;
use crate::pool_hosts::PlacedHost;
use crate::reconcile::PoolView;
use crate::scaling::present;
use crate::worker::{Worker, WorkerStage};

/// The condition that hardway keeps on a NodePool. Types with a domain before them are other controllers'.
pub const CONDITION: &str = "hardway.dev/WorkersReady";

/// What a pool lacks, or has too much of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PoolSize {
    /// Nobody says how many, or somebody says to leave it alone.
    Left(String),
    /// As many as are wanted.
    Right,
    /// This many are wanted; there are fewer.
    Grow(usize),
    /// This many are wanted; there are more.
    Shrink(usize),
}

/// How a pool stands, in the words of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolCondition {
    /// Whether all is as wanted.
    pub is_true: bool,
    /// In one word.
    pub reason: &'static str,
    /// In sentences.
    pub message: String,
}

impl NodePool {
    /// How many workers it is to have, with this many there. Between the bounds of `autoScaling` the number stays as it is: platform None has
    /// nobody who would choose it.
    pub fn wanted_workers(&self, present: usize) -> Option<usize> {
        let count = |number: i32| usize::try_from(number).unwrap_or(0);
        match (self.spec.replicas, &self.spec.auto_scaling) {
            (Some(replicas), _) => Some(count(replicas)),
            (None, Some(bounds)) => {
                Some(present.clamp(count(bounds.min), count(bounds.max).max(count(bounds.min))))
            }
            (None, None) => None,
        }
    }
}

/// What has to be done about a pool's size.
pub fn pool_size(view: &PoolView) -> PoolSize {
    let pool = &view.pool;
    let name = pool.metadata.name.as_deref().unwrap_or_default();
    if pool.metadata.deletion_timestamp.is_some() {
        return PoolSize::Left("the NodePool is being deleted".to_owned());
    }
    if let Some(paused) = view.gates.iter().find(|gate| gate.name == GateName::Paused && !gate.is_open) {
        return PoolSize::Left(paused.seen.clone());
    }
    let present = present(&view.workers, name).len();
    match pool.wanted_workers(present) {
        None => PoolSize::Left("neither replicas nor autoScaling is set".to_owned()),
        Some(wanted) if wanted > present => PoolSize::Grow(wanted),
        Some(wanted) if wanted < present => PoolSize::Shrink(wanted),
        Some(_) => PoolSize::Right,
    }
}

/// How the pool stands, with these hosts to make workers of.
pub fn pool_condition(view: &PoolView, hosts: &[PlacedHost]) -> PoolCondition {
    let name = view.pool.metadata.name.as_deref().unwrap_or_default();
    let own = present(&view.workers, name);
    let ready = own.iter().filter(|worker| is_ready(worker, view)).count();
    let leaving = view.workers.len() - own.len();
    let wanted = view.pool.wanted_workers(own.len()).unwrap_or(own.len());
    let not = |reason, message| PoolCondition { is_true: false, reason, message };
    if let PoolSize::Left(why) = pool_size(view)
        && (ready < own.len() || leaving > 0 || own.len() != wanted)
    {
        return not(
            "Paused",
            format!("{ready} of {wanted} workers are ready; nothing is added or removed: {why}"),
        );
    }
    let possible = hosts.len();
    if wanted > possible {
        let message = format!(
            "{wanted} workers are wanted, but hosted-inventory.yaml has machines for {possible}: widen pools[].addresses, or lower \
             spec.replicas"
        );
        return not("TooFewMachines", message);
    }
    if let Some((worker, trouble)) = own.iter().find_map(|one| Some((one, one.history.trouble.as_ref()?))) {
        let message = format!(
            "{ready} of {wanted} workers are ready; {}: {}: {}",
            worker.name, trouble.reason, trouble.message
        );
        return not("WorkersUnhealthy", message);
    }
    if leaving > 0 {
        return not("ScalingDown", format!("{ready} of {wanted} workers are ready; {leaving} are leaving"));
    }
    if ready < wanted {
        return not("ScalingUp", format!("{ready} of {wanted} workers are ready"));
    }
    PoolCondition {
        is_true: true,
        reason: "AsExpected",
        message: format!("{ready} of {wanted} workers are ready"),
    }
}

fn is_ready(worker: &Worker, view: &PoolView) -> bool {
    worker.stage() == WorkerStage::Ready
        && view.nodes.get(&worker.name).is_some_and(crate::node_view::NodeView::is_ready)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::{AutoScaling, NodePoolSpec};

    #[test]
    fn replicas_decide_and_bounds_only_bound() {
        let pool = |replicas, bounds: Option<(i32, i32)>| NodePool {
            spec: NodePoolSpec {
                replicas,
                auto_scaling: bounds.map(|(min, max)| AutoScaling { min, max }),
                ..NodePoolSpec::default()
            },
            ..NodePool::default()
        };
        assert_eq!(pool(Some(4), None).wanted_workers(1), Some(4));
        assert_eq!(pool(Some(0), None).wanted_workers(7), Some(0));
        assert_eq!(pool(Some(-1), None).wanted_workers(7), Some(0));
        assert_eq!(pool(None, None).wanted_workers(7), None, "nobody says");
        for (present, wanted) in [(0, 2), (2, 2), (3, 3), (5, 5), (9, 5)] {
            assert_eq!(pool(None, Some((2, 5))).wanted_workers(present), Some(wanted));
        }
        assert_eq!(pool(None, Some((5, 2))).wanted_workers(3), Some(5), "an API server refuses such bounds");
    }
}
