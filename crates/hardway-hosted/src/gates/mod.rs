//! What a pool of platform None must come through before a machine can boot, in the order in which HyperShift looks.
//!
//! Facts: openshift/hypershift `hypershift-operator/controllers/nodepool/{nodepool_controller,conditions}.go`. Some of these are waits
//! without a condition; conditions that are never more than noise on None (`AllMachinesReady`, `AllNodesHealthy`, `UpdatingConfig`)
//! are not asked.

use hardway_cluster::objects::{Condition, Truth, find};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::Secret;
use serde::Serialize;

use crate::config_watch::ConfigWatch;
use crate::names;
use crate::objects::{HostedCluster, NodePool};

/// One thing that must hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Gate {
    /// The same word everywhere.
    pub name: &'static str,
    /// Whether it is open.
    pub is_open: bool,
    /// What was seen: why it is held, or what it lets through.
    pub seen: String,
    /// What a person can do while it is held.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub fix: &'static str,
}

/// What the gates of one pool look at.
#[derive(Clone, Copy, Debug)]
pub struct GateFacts<'g> {
    /// Its cluster, if there is one of that name.
    pub cluster: Option<&'g HostedCluster>,
    /// The pool.
    pub pool: &'g NodePool,
    /// The Secret of its config's pointer.
    pub user_data: Option<&'g Secret>,
    /// How long its config has been what it is.
    pub config: &'g ConfigWatch,
    /// How long that must be.
    pub rest: SignedDuration,
    /// The time.
    pub now: Timestamp,
}

/// All gates, in order.
pub fn gates(facts: &GateFacts<'_>) -> Vec<Gate> {
    let mut gates = of_cluster(facts);
    gates.extend(of_pool(facts));
    gates.extend(of_config(facts));
    gates
}

/// The first that is held: what everything behind it waits for.
pub fn first_held(gates: &[Gate]) -> Option<&Gate> {
    gates.iter().find(|gate| !gate.is_open)
}

/// The Secrets of a pool's config, by annotation and exact name.
pub fn secret_of<'s>(
    secrets: impl IntoIterator<Item = &'s Secret>,
    pool: &NodePool,
    name: &str,
) -> Option<&'s Secret> {
    let key = pool.key();
    secrets.into_iter().find(|secret| {
        let annotations = secret.metadata.annotations.as_ref();
        secret.metadata.name.as_deref() == Some(name)
            && annotations.and_then(|all| all.get(names::NODE_POOL)) == Some(&key)
    })
}

fn of_cluster(facts: &GateFacts<'_>) -> Vec<Gate> {
    let Some(cluster) = facts.cluster else {
        let seen = format!("there is no HostedCluster {}", facts.pool.spec.cluster_name);
        return vec![held("hosted-cluster", seen, "make it with `hardway hosted cluster create`")];
    };
    let status = &cluster.status;
    let paused = [("HostedCluster", &cluster.spec.paused_until), ("NodePool", &facts.pool.spec.paused_until)];
    let paused = paused.iter().find_map(|(kind, until)| {
        let until = until.as_deref().filter(|until| is_paused(until, facts.now))?;
        Some(format!("{kind} is paused until {until}"))
    });
    let endpoint = status.ignition_endpoint.as_deref().unwrap_or_default();
    vec![
        open("hosted-cluster", format!("HostedCluster {} is there", facts.pool.spec.cluster_name)),
        match paused {
            Some(seen) => held("paused", seen, "remove spec.pausedUntil"),
            None => open("paused", "neither cluster nor pool is paused"),
        },
        required(
            "infra-id",
            "spec.infraID of the HostedCluster",
            cluster.spec.infra_id.as_deref().unwrap_or_default(),
        ),
        required(
            "kubeconfig",
            "status.kubeconfig of the HostedCluster",
            if status.kubeconfig.is_some() { "set" } else { "" },
        ),
        required("ignition-endpoint", "status.ignitionEndpoint of the HostedCluster", endpoint),
    ]
}

fn of_pool(facts: &GateFacts<'_>) -> Vec<Gate> {
    let conditions = facts.pool.conditions();
    let platform = &facts.pool.spec.platform.r#type;
    vec![
        match platform == "None" {
            true => open("platform", "the pool is of platform None"),
            false => held(
                "platform",
                format!("the pool is of platform {platform:?}: HyperShift makes its machines itself"),
                "hardway runs workers of platform None only",
            ),
        },
        not_false(
            "update-management",
            conditions,
            "UpdateManagementEnabled",
            "correct spec.management of the pool",
        ),
        not_false(
            "release-image",
            conditions,
            "ValidReleaseImage",
            "correct spec.release.image, or let the operator reach the registry",
        ),
        // Present only while something is missing.
        match find(conditions, "IgnitionEndpointAvailable") {
            Some(condition) if condition.status != Truth::True => held(
                "ignition-server",
                condition.sentence(),
                "wait for the control plane: its ignition-server is not there yet",
            ),
            _ => open("ignition-server", "its address and certificate authority are known"),
        },
        not_false("architecture", conditions, "ValidArchPlatform", "platform None takes amd64 and arm64"),
        is_true(
            "machine-config",
            conditions,
            "ValidMachineConfig",
            "while the control plane starts, wait; else correct the ConfigMaps of spec.config",
        ),
    ]
}

fn of_config(facts: &GateFacts<'_>) -> Vec<Gate> {
    let hash = facts.pool.config_hash().unwrap_or_default();
    let user_data = facts.user_data.is_some();
    let since = facts.config.since();
    vec![
        required("config-hash", "annotation nodePoolCurrentConfigVersion of the pool", hash),
        match user_data {
            true => open(
                "user-data",
                format!("Secret {} is there", names::user_data_secret(&pool_name(facts), hash)),
            ),
            false => held(
                "user-data",
                "the Secret with the pointer is not there".to_owned(),
                "wait for the hypershift-operator; never make it by hand",
            ),
        },
        is_true(
            "payload",
            facts.pool.conditions(),
            "ValidGeneratedPayload",
            "look at `message` in the token Secret; `hardway hosted doctor` reads it",
        ),
        match (facts.config.is_at_rest(facts.now, facts.rest), since) {
            (true, Some(since)) => open("config-at-rest", format!("config {hash} since {since}")),
            (_, Some(since)) => held(
                "config-at-rest",
                format!("config {hash} is new since {since}"),
                "wait: several configs in quick succession are normal",
            ),
            (_, None) => held("config-at-rest", "there is no config yet".to_owned(), ""),
        },
    ]
}

fn pool_name(facts: &GateFacts<'_>) -> String {
    facts.pool.metadata.name.clone().unwrap_or_default()
}

/// A word for yes, or a time that is not over. What is neither pauses nothing, as in HyperShift.
fn is_paused(until: &str, now: Timestamp) -> bool {
    until == "true" || until.parse::<Timestamp>().is_ok_and(|until| until > now)
}

fn open(name: &'static str, seen: impl Into<String>) -> Gate {
    Gate { name, is_open: true, seen: seen.into(), fix: "" }
}

fn held(name: &'static str, seen: String, fix: &'static str) -> Gate {
    Gate { name, is_open: false, seen, fix }
}

fn required(name: &'static str, what: &str, value: &str) -> Gate {
    match value.is_empty() {
        true => held(
            name,
            format!("{what} is not set"),
            "wait for HyperShift's operators; look at the conditions of the HostedCluster",
        ),
        false => open(name, format!("{what} is {value}")),
    }
}

/// One that says that something is wrong, and is right before it was ever said.
fn not_false(name: &'static str, conditions: &[Condition], r#type: &str, fix: &'static str) -> Gate {
    match find(conditions, r#type) {
        Some(condition) if condition.status == Truth::False => held(name, condition.sentence(), fix),
        _ => open(name, format!("{type} is not False")),
    }
}

/// One that must have been said. An empty status counts as unknown.
fn is_true(name: &'static str, conditions: &[Condition], r#type: &str, fix: &'static str) -> Gate {
    match find(conditions, r#type) {
        Some(condition) if condition.status == Truth::True => open(name, format!("{type} is True")),
        Some(condition) => held(name, condition.sentence(), fix),
        None => held(name, format!("the pool has no condition {type} yet"), fix),
    }
}

#[cfg(test)]
mod tests;
