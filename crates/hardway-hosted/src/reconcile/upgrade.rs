//! A worker that has another config than its pool.

use super::{ReconcileStep, Round};
use crate::node_view::NodeView;
use crate::upgrade::{ConfigState, config_state, is_stuck};
use crate::worker::{TroubleReason, WantedState, Worker};

/// Workers of the pool that are away: underway, leaving, or not ready.
pub(super) fn away(round: &Round<'_>) -> usize {
    let is_away = |worker: &&Worker| {
        let node = round.own_node(worker);
        let is_underway = worker.history.upgrading.is_some();
        worker.history.joined.is_some()
            && (is_underway || worker.wanted != WantedState::Present || !node.is_some_and(NodeView::is_ready))
    };
    let coming = |worker: &&Worker| worker.incarnation > 1 && worker.history.joined.is_none();
    round.view.workers.iter().filter(|worker| is_away(worker) || coming(worker)).count()
}

pub(super) fn step(
    worker: &Worker,
    node: &NodeView,
    round: &Round<'_>,
    away: &mut usize,
) -> Option<ReconcileStep> {
    let wanted = round.config_hash.filter(|_| round.settings.upgrades && round.held.is_none())?;
    let underway = worker.history.upgrading;
    let booted = worker.history.config_hash.as_deref();
    match config_state(node, booted, wanted, underway.is_some()) {
        ConfigState::Current if worker.history.config_hash.as_deref() != Some(wanted) => {
            Some(ended(worker, wanted))
        }
        ConfigState::Current => None,
        ConfigState::Finished => Some(ended(worker, wanted)),
        ConfigState::Degraded(reason) => round.trouble(
            worker,
            TroubleReason::UpgradeDegraded,
            format!("the machine-config-daemon failed: {reason}"),
        ),
        ConfigState::Underway if is_stuck(underway, round.now, round.settings.upgrade) => {
            let state = node.daemon_state.as_deref().unwrap_or("silent");
            round.trouble(
                worker,
                TroubleReason::UpgradeStuck,
                format!("its upgrade to {wanted} does not finish; the daemon is {state}"),
            )
        }
        // Written again until the daemon answers: a controller may have been killed between annotation and pod.
        ConfigState::Underway if node.daemon_state.is_none() => {
            Some(ReconcileStep::Upgrade { worker: Box::new(worker.clone()), config_hash: wanted.to_owned() })
        }
        ConfigState::Underway => None,
        ConfigState::Outdated => begin(worker, wanted, round, away),
    }
}

/// In place where the config is at hand; else by a new machine. Never more at once than the pool allows.
fn begin(worker: &Worker, wanted: &str, round: &Round<'_>, away: &mut usize) -> Option<ReconcileStep> {
    let token = round.token(wanted)?;
    if !token.is_in_place && round.view.pool.is_replaced_by_hand() {
        return None;
    }
    let joined = round.view.workers.iter().filter(|one| one.history.joined.is_some()).count();
    // One that is on its way to a config that nobody wants any more is away already, and is sent on.
    let is_away = worker.history.upgrading.is_some();
    if !is_away && *away >= round.view.pool.max_unavailable(joined) {
        return None;
    }
    *away += usize::from(!is_away);
    let mut record = worker.clone();
    if token.is_in_place {
        if token.payload.is_none() || token.reason.as_deref() != Some("AsExpected") {
            return None;
        }
        record.history.upgrading = Some(round.now);
        return Some(ReconcileStep::Upgrade { worker: Box::new(record), config_hash: wanted.to_owned() });
    }
    record.wanted = WantedState::Replaced;
    Some(ReconcileStep::Record(Box::new(record)))
}

fn ended(worker: &Worker, wanted: &str) -> ReconcileStep {
    let mut record = worker.clone();
    record.history.upgrading = None;
    record.history.config_hash = Some(wanted.to_owned());
    if record.history.trouble.as_ref().is_some_and(|trouble| trouble.reason.is_of_upgrade()) {
        record.history.trouble = None;
    }
    ReconcileStep::EndUpgrade { worker: Box::new(record) }
}
