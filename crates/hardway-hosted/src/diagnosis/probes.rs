//! What each row looks at.

use hardway_cluster::objects::{Truth, find};
use jiff::SignedDuration;

use super::evidence::{Evidence, PendingRequest, PoolEvidence, Probe};
use crate::gates::{GateName, first_held};
use crate::ovn::{OvnVerdict, judge};
use crate::pointer::PointerFlaw;
use crate::reconcile::{StepKind, node_labels};
use crate::token::KeeperStep;
use crate::worker::{TroubleReason, Worker, WorkerStage};

/// Longer than any of these takes when all is well.
const PATIENCE: SignedDuration = SignedDuration::from_mins(5);

pub(super) fn no_secrets(evidence: &Evidence) -> Vec<String> {
    let before = [GateName::Payload, GateName::ConfigAtRest];
    let held = evidence.pools.iter().filter_map(|pool| Some((pool, first_held(&pool.gates)?)));
    held.filter(|(_, gate)| !before.contains(&gate.name))
        .map(|(pool, gate)| {
            format!("NodePool {} is blocked at gate {}: {}", name(pool), gate.name, gate.seen)
        })
        .collect()
}

pub(super) fn no_payload(evidence: &Evidence) -> Vec<String> {
    let held = evidence
        .pools
        .iter()
        .filter(|pool| first_held(&pool.gates).is_some_and(|gate| gate.name == GateName::Payload));
    held.flat_map(|pool| {
        let said =
            pool.tokens.iter().filter(|token| Some(token.config_hash.as_str()) == pool.pool.config_hash());
        said.map(|token| {
            let (reason, message) =
                (token.reason.as_deref().unwrap_or("no reason yet"), token.message.as_deref().unwrap_or(""));
            format!("Secret {}: {reason} {message}", token.name)
        })
        .collect::<Vec<_>>()
    })
    .collect()
}

pub(super) fn config_moves(evidence: &Evidence) -> Vec<String> {
    let held = evidence.pools.iter().filter_map(|pool| Some((pool, first_held(&pool.gates)?)));
    held.filter(|(_, gate)| gate.name == GateName::ConfigAtRest)
        .map(|(pool, gate)| format!("NodePool {}: {}", name(pool), gate.seen))
        .collect()
}

pub(super) fn pool_does_not_go(evidence: &Evidence) -> Vec<String> {
    let going = evidence
        .pools
        .iter()
        .filter(|pool| pool.pool.metadata.deletion_timestamp.is_some() && !pool.machines.is_empty());
    going
        .map(|pool| {
            format!(
                "NodePool {} is being deleted, but Machines still refer to it: {}",
                name(pool),
                pool.machines.join(", ")
            )
        })
        .collect()
}

pub(super) fn wrong_name(evidence: &Evidence) -> Vec<String> {
    let (Some(endpoint), Some(names)) = (&evidence.endpoint, &evidence.served_names) else {
        return Vec::new();
    };
    let host = endpoint.rsplit_once(':').map_or(endpoint.as_str(), |(host, _)| host).trim_matches(['[', ']']);
    match names.iter().any(|name| name == host) {
        true => Vec::new(),
        false => vec![format!("machines fetch from {host}, but the certificate is for {}", names.join(", "))],
    }
}

pub(super) fn unreachable(evidence: &Evidence) -> Vec<String> {
    match (&evidence.probe, &evidence.endpoint) {
        (Probe::Silent(why), Some(endpoint)) => {
            vec![format!("https://{endpoint}/healthz does not answer from here: {why}")]
        }
        _ => Vec::new(),
    }
}

pub(super) fn backend_down(evidence: &Evidence) -> Vec<String> {
    match evidence.probe {
        Probe::Status(status @ 500..=599) => {
            vec![format!("/healthz of the ignition-server answers {status}")]
        }
        _ => Vec::new(),
    }
}

pub(super) fn wrong_authority(evidence: &Evidence) -> Vec<String> {
    flaws(evidence, |flaw| matches!(flaw, PointerFlaw::WrongAuthority))
}

pub(super) fn bad_pointer(evidence: &Evidence) -> Vec<String> {
    flaws(evidence, |flaw| {
        matches!(flaw, PointerFlaw::BadAuthorization | PointerFlaw::WrongSource | PointerFlaw::NotAPointer)
    })
}

/// Machines whose copy is over, and Secrets nobody keeps.
pub(super) fn dead_token(evidence: &Evidence) -> Vec<String> {
    let waiting = evidence.workers.iter().filter(|worker| worker.stage() == WorkerStage::Booted);
    let over =
        waiting.filter(|worker| worker.history.pointer_good_until.is_some_and(|until| evidence.now >= until));
    let mut found: Vec<String> = over
        .map(|worker| {
            format!(
                "worker {} booted with a pointer that was valid until {}",
                worker.name,
                worker.history.pointer_good_until.unwrap_or_default()
            )
        })
        .collect();
    found.extend(flaws(evidence, |flaw| matches!(flaw, PointerFlaw::UnknownToken(_))));
    for token in evidence.pools.iter().flat_map(|pool| &pool.tokens) {
        let is_late = token.copy_is_good_until().is_some_and(|until| evidence.now > until);
        match token.keeper_step(evidence.now) {
            KeeperStep::Unreadable => {
                found.push(format!("Secret {}: cannot read when its token was generated", token.name))
            }
            KeeperStep::Rotate if is_late => {
                found.push(format!("Secret {}: its token was not renewed in time", token.name))
            }
            _ => {}
        }
    }
    found
}

pub(super) fn no_request(evidence: &Evidence) -> Vec<String> {
    let mut found = troubled(evidence, &[TroubleReason::NotAsked, TroubleReason::NotFetched]);
    if let Some(expires) = evidence.bootstrap_expires.filter(|expires| *expires <= evidence.now) {
        found.push(format!("the bootstrap certificate of new machines expired at {expires}"));
    }
    found
}

pub(super) fn never_reached(evidence: &Evidence) -> Vec<String> {
    let joined = |pool: &PoolEvidence| {
        let of = |worker: &&Worker| pool.pool.metadata.name.as_deref() == Some(&worker.node_pool);
        evidence.workers.iter().filter(of).any(|worker| worker.history.joined.is_some())
    };
    let unreached = |pool: &&PoolEvidence| {
        find(pool.pool.conditions(), "ReachedIgnitionEndpoint")
            .is_some_and(|condition| condition.status == Truth::False)
    };
    let mut found = flaws(evidence, |flaw| matches!(flaw, PointerFlaw::WrongHeaders(_)));
    found.extend(
        evidence
            .pools
            .iter()
            .filter(unreached)
            .filter(|pool| joined(pool))
            .map(|pool| format!("NodePool {} has nodes, but does not count as reached", name(pool))),
    );
    found
}

pub(super) fn name_taken(evidence: &Evidence) -> Vec<String> {
    troubled(evidence, &[TroubleReason::NameTaken])
}

pub(super) fn client_pending(evidence: &Evidence) -> Vec<String> {
    requests(evidence, |request| !request.is_serving)
}

pub(super) fn serving_pending(evidence: &Evidence) -> Vec<String> {
    match renewals_pending(evidence).is_empty() {
        true => requests(evidence, |request| request.is_serving),
        false => Vec::new(),
    }
}

/// Of at least half of the nodes, which were there long before.
pub(super) fn renewals_pending(evidence: &Evidence) -> Vec<String> {
    let day = SignedDuration::from_hours(24);
    let is_old = |request: &PendingRequest| {
        evidence
            .nodes
            .get(&request.node)
            .is_some_and(|node| request.created.duration_since(node.created) > day)
    };
    let old = requests(evidence, |request| request.is_serving && is_old(request));
    if !old.is_empty() && old.len() * 2 >= evidence.nodes.len() { old } else { Vec::new() }
}

pub(super) fn no_network_certificate(evidence: &Evidence) -> Vec<String> {
    match judge(&evidence.ovn, evidence.now) {
        OvnVerdict::Wait(why) | OvnVerdict::Make(why) => vec![why],
        OvnVerdict::Fine | OvnVerdict::NotNeeded | OvnVerdict::Renew(_) => Vec::new(),
    }
}

pub(super) fn no_network(evidence: &Evidence) -> Vec<String> {
    let is_without = |message: &str| {
        message.contains("CNI") || message.contains("cni") || message.contains("NetworkPluginNotReady")
    };
    let nodes = evidence.nodes.values().filter(|node| !node.is_ready() && is_without(&node.ready_message));
    nodes.map(|node| format!("node {}: {}", node.name, node.ready_message)).collect()
}

pub(super) fn unlabelled(evidence: &Evidence) -> Vec<String> {
    let mut found = Vec::new();
    for worker in &evidence.workers {
        let (Some(node), Some(pool)) = (evidence.nodes.get(&worker.name), evidence.pool_of(worker)) else {
            continue;
        };
        let missing: Vec<String> = node_labels(&pool.pool, worker)
            .into_iter()
            .filter(|(key, value)| node.labels.get(key) != Some(value))
            .map(|(key, _)| key)
            .collect();
        if !missing.is_empty() && node.is_ready() {
            found.push(format!("node {} lacks {}", node.name, missing.join(", ")));
        }
    }
    found
}

pub(super) fn outdated(evidence: &Evidence) -> Vec<String> {
    let mut found = Vec::new();
    for worker in evidence.workers.iter().filter(|worker| worker.history.joined.is_some()) {
        let (Some(node), Some(pool)) = (evidence.nodes.get(&worker.name), evidence.pool_of(worker)) else {
            continue;
        };
        let has = node.current_config.as_deref().or(worker.history.config_hash.as_deref()).unwrap_or("none");
        if let Some(wanted) = pool.pool.config_hash().filter(|wanted| *wanted != has) {
            found.push(format!("node {} has config {has}, but its pool has {wanted}", node.name));
        }
    }
    found.extend(troubled(
        evidence,
        &[
            TroubleReason::UpgradeStuck,
            TroubleReason::UpgradeDegraded,
            TroubleReason::Failed(StepKind::Upgrade),
            TroubleReason::NoDaemonImage,
        ],
    ));
    found
}

fn flaws(evidence: &Evidence, fits: fn(&PointerFlaw) -> bool) -> Vec<String> {
    let all = evidence.pools.iter().flat_map(|pool| pool.pointer_flaws.iter().map(move |flaw| (pool, flaw)));
    all.filter(|(_, flaw)| fits(flaw))
        .map(|(pool, flaw)| format!("the pointer of NodePool {}: {flaw}", name(pool)))
        .collect()
}

fn troubled(evidence: &Evidence, reasons: &[TroubleReason]) -> Vec<String> {
    let all = evidence.workers.iter().filter_map(|worker| Some((worker, worker.history.trouble.as_ref()?)));
    all.filter(|(_, trouble)| reasons.contains(&trouble.reason))
        .map(|(worker, trouble)| format!("worker {}: {}", worker.name, trouble.message))
        .collect()
}

fn requests(evidence: &Evidence, fits: impl Fn(&PendingRequest) -> bool) -> Vec<String> {
    let old =
        evidence.pending.iter().filter(|request| evidence.now.duration_since(request.created) > PATIENCE);
    old.filter(|request| fits(request))
        .map(|request| {
            format!("{} of node {} is pending since {}", request.name, request.node, request.created)
        })
        .collect()
}

fn name(pool: &PoolEvidence) -> &str {
    pool.pool.metadata.name.as_deref().unwrap_or_default()
}
