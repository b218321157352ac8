//! What a pool of platform None must come through before a machine can boot, in the order in which HyperShift looks.
//!
//! Facts: openshift/hypershift `hypershift-operator/controllers/nodepool/{nodepool_controller,conditions}.go`. Some of these are waits
//! without a condition; conditions that are never more than noise on None (`AllMachinesReady`, `AllNodesHealthy`, `UpdatingConfig`)
//! are not asked.

use std::fmt;

use hardway_cluster::objects::{Condition, Truth, find};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::Secret;
use serde::{Serialize, Serializer};

use crate::config_watch::ConfigWatch;
use crate::names;
use crate::objects::{HostedCluster, NodePool};

/// One thing that must hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Gate {
    /// Which.
    pub name: GateName,
    /// Whether it is open.
    pub is_open: bool,
    /// What was seen: why it is held, or what it lets through.
    pub seen: String,
    /// What a person can do while it is held.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<&'static str>,
}

/// Every gate, in the order in which HyperShift looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GateName {
    /// There is a HostedCluster.
    HostedCluster,
    /// Neither cluster nor pool is paused.
    Paused,
    /// The cluster has an infraID.
    InfraId,
    /// The cluster has a kubeconfig.
    Kubeconfig,
    /// The address of the ignition-server is known.
    IgnitionEndpoint,
    /// The pool is of platform None.
    Platform,
    /// `UpdateManagementEnabled` is not False.
    UpdateManagement,
    /// `ValidReleaseImage` is not False.
    ReleaseImage,
    /// The ignition-server is there.
    IgnitionServer,
    /// `ValidArchPlatform` is not False.
    Architecture,
    /// `ValidMachineConfig` is True.
    MachineConfig,
    /// The pool has a config.
    ConfigHash,
    /// The Secret with the pointer is there.
    UserData,
    /// `ValidGeneratedPayload` is True.
    Payload,
    /// The config has been the same for long enough.
    ConfigAtRest,
}

impl GateName {
    /// All of them.
    pub const ALL: [Self; 15] = [
        Self::HostedCluster,
        Self::Paused,
        Self::InfraId,
        Self::Kubeconfig,
        Self::IgnitionEndpoint,
        Self::Platform,
        Self::UpdateManagement,
        Self::ReleaseImage,
        Self::IgnitionServer,
        Self::Architecture,
        Self::MachineConfig,
        Self::ConfigHash,
        Self::UserData,
        Self::Payload,
        Self::ConfigAtRest,
    ];

    /// When it is open, in a sentence.
    pub fn about(self) -> &'static str {
        match self {
            Self::HostedCluster => "Open when the HostedCluster exists.",
            Self::Paused => "Open when neither the cluster nor the pool is paused.",
            Self::InfraId => "Open when the HostedCluster has an infraID.",
            Self::Kubeconfig => "Open when the HostedCluster has a kubeconfig.",
            Self::IgnitionEndpoint => "Open when the address of the ignition-server is known.",
            Self::Platform => "Open when the pool has platform None.",
            Self::UpdateManagement => "Open unless the condition UpdateManagementEnabled is False.",
            Self::ReleaseImage => "Open unless the condition ValidReleaseImage is False.",
            Self::IgnitionServer => "Open when the ignition-server exists.",
            Self::Architecture => "Open unless the condition ValidArchPlatform is False.",
            Self::MachineConfig => "Open when the condition ValidMachineConfig is True.",
            Self::ConfigHash => "Open when the pool has a config.",
            Self::UserData => "Open when the Secret with the pointer exists.",
            Self::Payload => "Open when the condition ValidGeneratedPayload is True.",
            Self::ConfigAtRest => "Open when the config has not changed for a while.",
        }
    }

    /// The same word everywhere.
    pub fn name(self) -> &'static str {
        match self {
            Self::HostedCluster => "hosted-cluster",
            Self::Paused => "paused",
            Self::InfraId => "infra-id",
            Self::Kubeconfig => "kubeconfig",
            Self::IgnitionEndpoint => "ignition-endpoint",
            Self::Platform => "platform",
            Self::UpdateManagement => "update-management",
            Self::ReleaseImage => "release-image",
            Self::IgnitionServer => "ignition-server",
            Self::Architecture => "architecture",
            Self::MachineConfig => "machine-config",
            Self::ConfigHash => "config-hash",
            Self::UserData => "user-data",
            Self::Payload => "payload",
            Self::ConfigAtRest => "config-at-rest",
        }
    }
}

impl fmt::Display for GateName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Serialize for GateName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
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
        let seen = format!("no HostedCluster {}", facts.pool.spec.cluster_name);
        return vec![held(GateName::HostedCluster, seen, "create it with `hardway hosted cluster create`")];
    };
    let status = &cluster.status;
    let paused = [("HostedCluster", &cluster.spec.paused_until), ("NodePool", &facts.pool.spec.paused_until)];
    let paused = paused.iter().find_map(|(kind, until)| {
        let until = until.as_deref().filter(|until| is_paused(until, facts.now))?;
        Some(format!("{kind} is paused until {until}"))
    });
    let endpoint = status.ignition_endpoint.as_deref().unwrap_or_default();
    vec![
        open(GateName::HostedCluster, format!("HostedCluster {} exists", facts.pool.spec.cluster_name)),
        match paused {
            Some(seen) => held(GateName::Paused, seen, "remove spec.pausedUntil"),
            None => open(GateName::Paused, "neither cluster nor pool is paused"),
        },
        required(
            GateName::InfraId,
            "spec.infraID of the HostedCluster",
            cluster.spec.infra_id.as_deref().unwrap_or_default(),
        ),
        required(
            GateName::Kubeconfig,
            "status.kubeconfig of the HostedCluster",
            if status.kubeconfig.is_some() { "set" } else { "" },
        ),
        required(GateName::IgnitionEndpoint, "status.ignitionEndpoint of the HostedCluster", endpoint),
    ]
}

fn of_pool(facts: &GateFacts<'_>) -> Vec<Gate> {
    let conditions = facts.pool.conditions();
    let platform = &facts.pool.spec.platform.r#type;
    vec![
        match platform == "None" {
            true => open(GateName::Platform, "the pool has platform None"),
            false => held(
                GateName::Platform,
                format!("the pool has platform {platform:?}, whose machines HyperShift makes itself"),
                "hardway only runs workers with platform None",
            ),
        },
        not_false(
            GateName::UpdateManagement,
            conditions,
            "UpdateManagementEnabled",
            "correct spec.management of the pool",
        ),
        not_false(
            GateName::ReleaseImage,
            conditions,
            "ValidReleaseImage",
            "correct spec.release.image, or let the operator reach the registry",
        ),
        // Present only while something is missing.
        match find(conditions, "IgnitionEndpointAvailable") {
            Some(condition) if condition.status != Truth::True => held(
                GateName::IgnitionServer,
                condition.sentence(),
                "wait for the control plane: its ignition-server does not exist yet",
            ),
            _ => open(GateName::IgnitionServer, "its address and CA are known"),
        },
        not_false(
            GateName::Architecture,
            conditions,
            "ValidArchPlatform",
            "platform None supports amd64 and arm64",
        ),
        is_true(
            GateName::MachineConfig,
            conditions,
            "ValidMachineConfig",
            "wait while the control plane starts; otherwise correct the ConfigMaps of spec.config",
        ),
    ]
}

fn of_config(facts: &GateFacts<'_>) -> Vec<Gate> {
    let hash = facts.pool.config_hash().unwrap_or_default();
    let user_data = facts.user_data.is_some();
    let since = facts.config.since();
    vec![
        required(GateName::ConfigHash, "annotation nodePoolCurrentConfigVersion of the pool", hash),
        match user_data {
            true => open(
                GateName::UserData,
                format!("Secret {} exists", names::user_data_secret(&pool_name(facts), hash)),
            ),
            false => held(
                GateName::UserData,
                "the Secret with the pointer does not exist".to_owned(),
                "wait for the hypershift-operator; never create it by hand",
            ),
        },
        is_true(
            GateName::Payload,
            facts.pool.conditions(),
            "ValidGeneratedPayload",
            "check `message` in the token Secret; `hardway hosted doctor` shows it",
        ),
        match (facts.config.is_at_rest(facts.now, facts.rest), since) {
            (true, Some(since)) => open(GateName::ConfigAtRest, format!("config {hash} since {since}")),
            (_, Some(since)) => held(
                GateName::ConfigAtRest,
                format!("config {hash} is new since {since}"),
                "wait: several configs in quick succession are normal",
            ),
            (_, None) => Gate {
                name: GateName::ConfigAtRest,
                is_open: false,
                seen: "there is no config yet".to_owned(),
                fix: None,
            },
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

fn open(name: GateName, seen: impl Into<String>) -> Gate {
    Gate { name, is_open: true, seen: seen.into(), fix: None }
}

fn held(name: GateName, seen: String, fix: &'static str) -> Gate {
    Gate { name, is_open: false, seen, fix: Some(fix) }
}

fn required(name: GateName, what: &str, value: &str) -> Gate {
    match value.is_empty() {
        true => held(
            name,
            format!("{what} is not set"),
            "wait for HyperShift's operators; check the conditions of the HostedCluster",
        ),
        false => open(name, format!("{what} is {value}")),
    }
}

/// A condition that only reports trouble: the gate is open until it is False.
fn not_false(name: GateName, conditions: &[Condition], r#type: &str, fix: &'static str) -> Gate {
    match find(conditions, r#type) {
        Some(condition) if condition.status == Truth::False => held(name, condition.sentence(), fix),
        _ => open(name, format!("{type} is not False")),
    }
}

/// A condition that must be True. An empty status counts as unknown.
fn is_true(name: GateName, conditions: &[Condition], r#type: &str, fix: &'static str) -> Gate {
    match find(conditions, r#type) {
        Some(condition) if condition.status == Truth::True => open(name, format!("{type} is True")),
        Some(condition) => held(name, condition.sentence(), fix),
        None => held(name, format!("the pool has no condition {type} yet"), fix),
    }
}

#[cfg(test)]
mod tests;
