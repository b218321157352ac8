//! NodePool.

use std::collections::BTreeMap;

use hardway_cluster::objects::Condition;
use jiff::SignedDuration;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::api::ObjectMeta;
use serde::{Deserialize, Serialize};

/// Workers of one kind. On platform None it yields two Secrets and nothing else.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct NodePool {
    /// Name, annotations.
    pub metadata: ObjectMeta,
    /// What is wanted.
    #[serde(default)]
    pub spec: NodePoolSpec,
    /// What is.
    #[serde(default)]
    pub status: NodePoolStatus,
}

/// `spec`
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodePoolSpec {
    /// Its HostedCluster, in the same namespace.
    pub cluster_name: String,
    /// Which version; never newer than the cluster's.
    pub release: Release,
    /// Where it runs.
    pub platform: Platform,
    /// How its nodes are upgraded.
    pub management: Management,
    /// How many are wanted. On platform None nobody but hardway looks at it.
    pub replicas: Option<i32>,
    /// Between how many. On platform None nobody but hardway looks at it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto_scaling: Option<AutoScaling>,
    /// On platform None nobody but hardway looks at it.
    pub node_labels: Option<BTreeMap<String, String>>,
    /// On platform None nobody but hardway looks at it.
    pub taints: Option<Vec<Taint>>,
    /// `amd64` or `arm64`.
    pub arch: Option<String>,
    /// A time, or `true`.
    pub paused_until: Option<String>,
    /// How long a drain may take; then the machine goes whatever is lost. None and zero set no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_drain_timeout: Option<String>,
}

/// `spec.autoScaling`
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AutoScaling {
    /// At least so many.
    pub min: i32,
    /// At most so many.
    pub max: i32,
}

/// `spec.platform`
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Platform {
    /// `None`, …
    pub r#type: String,
}

/// `spec.release`
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Release {
    /// A pull spec.
    pub image: String,
}

/// `spec.management`
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Management {
    /// `InPlace` or `Replace`.
    pub upgrade_type: String,
    /// With `InPlace`.
    pub in_place: Option<InPlace>,
    /// With `Replace`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replace: Option<Replace>,
    /// Whether nodes that stay unwell are replaced; hardway's to do.
    pub auto_repair: Option<bool>,
}

/// `spec.management.inPlace`
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct InPlace {
    /// How many may be away at once: a number or a share.
    pub max_unavailable: Option<IntOrString>,
}

/// `spec.management.replace`
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Replace {
    /// `RollingUpdate`, or `OnDelete`: then a person replaces workers, one by one.
    pub strategy: Option<String>,
    /// With `RollingUpdate`.
    pub rolling_update: Option<RollingUpdate>,
}

/// `spec.management.replace.rollingUpdate`. There is no surge here: a new machine comes under the name of the old one.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RollingUpdate {
    /// How many may be away at once: a number or a share.
    pub max_unavailable: Option<IntOrString>,
}

/// `spec.taints[]`
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct Taint {
    /// Key.
    pub key: String,
    /// Value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// `NoSchedule`, …
    pub effect: String,
}

/// `status`
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct NodePoolStatus {
    /// In the order of their evaluation they are the gates.
    pub conditions: Option<Vec<Condition>>,
    /// On platform None: the wanted version, set at once, whatever nodes run.
    pub version: Option<String>,
}

impl NodePool {
    /// Its conditions.
    pub fn conditions(&self) -> &[Condition] {
        self.status.conditions.as_deref().unwrap_or_default()
    }

    /// The hash of its config, as HyperShift wrote it.
    pub fn config_hash(&self) -> Option<&str> {
        let annotations = self.metadata.annotations.as_ref()?;
        annotations
            .get(crate::names::CURRENT_CONFIG_VERSION)
            .map(String::as_str)
            .filter(|hash| !hash.is_empty())
    }

    /// `<namespace>/<name>`: how its Secrets name it.
    pub fn key(&self) -> String {
        let part = |part: &Option<String>| part.clone().unwrap_or_default();
        format!("{}/{}", part(&self.metadata.namespace), part(&self.metadata.name))
    }

    /// How long its owner lets a drain take. Zero means no limit, as in HyperShift; so does what cannot be read.
    pub fn drain_timeout(&self) -> Option<SignedDuration> {
        let timeout: SignedDuration = self.spec.node_drain_timeout.as_ref()?.parse().ok()?;
        timeout.is_positive().then_some(timeout)
    }

    /// Whether outdated workers are replaced when a person says so, and not before.
    pub fn is_replaced_by_hand(&self) -> bool {
        let replace = self.spec.management.replace.as_ref();
        replace.and_then(|replace| replace.strategy.as_deref()) == Some("OnDelete")
    }

    /// How many of its nodes may be away at once: at least one, never more than there are.
    pub fn max_unavailable(&self, nodes: usize) -> usize {
        let management = &self.spec.management;
        let rolling = management.replace.as_ref().and_then(|replace| replace.rolling_update.as_ref());
        let wanted = match management.upgrade_type.as_str() {
            "Replace" => rolling.and_then(|rolling| rolling.max_unavailable.as_ref()),
            _ => management.in_place.as_ref().and_then(|in_place| in_place.max_unavailable.as_ref()),
        };
        let count = match wanted {
            Some(IntOrString::Int(count)) => usize::try_from(*count).unwrap_or(1),
            Some(IntOrString::String(share)) => {
                let percent = share.trim_end_matches('%').parse::<usize>().unwrap_or(0).min(100);
                nodes * percent / 100
            }
            None => 1,
        };
        count.clamp(1, nodes.max(1))
    }
}

super::resource!(NodePool, "nodepools");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drain_has_the_time_its_owner_gives_it() {
        let pool = |timeout: Option<&str>| NodePool {
            spec: NodePoolSpec { node_drain_timeout: timeout.map(str::to_owned), ..NodePoolSpec::default() },
            ..NodePool::default()
        };
        for (text, minutes) in [("10m0s", 10), ("1h30m0s", 90), ("2h", 120)] {
            assert_eq!(pool(Some(text)).drain_timeout(), Some(SignedDuration::from_mins(minutes)), "{text}");
        }
        for text in [None, Some("0s"), Some(""), Some("soon")] {
            assert_eq!(pool(text).drain_timeout(), None, "{text:?}");
        }
    }

    #[test]
    fn some_may_be_away_and_never_too_many() {
        let pool = |value: Option<IntOrString>| NodePool {
            spec: NodePoolSpec {
                management: Management {
                    in_place: Some(InPlace { max_unavailable: value }),
                    ..Management::default()
                },
                ..NodePoolSpec::default()
            },
            ..NodePool::default()
        };
        let share = |text: &str| pool(Some(IntOrString::String(text.to_owned())));
        assert_eq!(pool(None).max_unavailable(10), 1);
        assert_eq!(pool(Some(IntOrString::Int(3))).max_unavailable(10), 3);
        assert_eq!(pool(Some(IntOrString::Int(30))).max_unavailable(10), 10);
        assert_eq!(pool(Some(IntOrString::Int(0))).max_unavailable(10), 1);
        assert_eq!(share("25%").max_unavailable(10), 2);
        assert_eq!(share("5%").max_unavailable(10), 1);
        assert_eq!(share("x").max_unavailable(0), 1);
        let replaced: NodePool = serde_json::from_value(serde_json::json!({"metadata": {}, "spec": {"management": {
            "upgradeType": "Replace", "inPlace": {"maxUnavailable": 5},
            "replace": {"strategy": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 2}}}}}))
        .unwrap();
        assert_eq!((replaced.max_unavailable(10), replaced.is_replaced_by_hand()), (2, false));
    }
}
