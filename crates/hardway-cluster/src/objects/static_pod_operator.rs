//! The four operators that put static pods on masters, and how far each got.

use k8s_openapi::ClusterResourceScope;
use kube::api::ObjectMeta;
use serde::{Deserialize, Serialize};

use super::condition::{Condition, Truth, find};

/// What the four have in common.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StaticPodStatus {
    /// `EtcdRunningInCluster`, `NodeInstallerProgressing`, …
    pub conditions: Option<Vec<Condition>>,
    /// One entry per master.
    pub node_statuses: Option<Vec<NodeRevision>>,
    /// The newest revision there is.
    pub latest_available_revision: Option<i64>,
}

/// `status.nodeStatuses[]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeRevision {
    /// The master.
    pub node_name: String,
    /// What runs there; 0 is nothing yet.
    pub current_revision: i64,
    /// What is being rolled out to it.
    pub target_revision: i64,
}

impl StaticPodStatus {
    /// The condition of this type.
    pub fn condition(&self, r#type: &str) -> Option<&Condition> {
        find(self.conditions.as_deref().unwrap_or_default(), r#type)
    }

    /// Whether a condition is True.
    pub fn is_true(&self, r#type: &str) -> bool {
        self.condition(r#type).is_some_and(|condition| condition.status == Truth::True)
    }

    /// Masters with a revision rolled out.
    pub fn masters(&self) -> impl Iterator<Item = &NodeRevision> {
        self.node_statuses.iter().flatten().filter(|node| node.current_revision > 0)
    }
}

/// An operator's object `cluster`.
pub trait StaticPodOperator {
    /// How far it got.
    fn status(&self) -> &StaticPodStatus;
}

macro_rules! operator {
    ($($(#[$doc:meta])* $kind:ident, $name:literal, $plural:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, Default, Serialize, Deserialize)]
        pub struct $kind {
            /// Name and so on.
            pub metadata: ObjectMeta,
            /// How far it got.
            #[serde(default)]
            pub status: StaticPodStatus,
        }

        impl StaticPodOperator for $kind {
            fn status(&self) -> &StaticPodStatus {
                &self.status
            }
        }

        super::resource!($kind, $name, "operator.openshift.io", "v1", $plural, ClusterResourceScope);
    )*};
}

operator! {
    /// `operator.openshift.io/v1` Etcd.
    Etcd, "Etcd", "etcds";
    /// `operator.openshift.io/v1` KubeAPIServer.
    KubeApiServer, "KubeAPIServer", "kubeapiservers";
    /// `operator.openshift.io/v1` KubeControllerManager.
    KubeControllerManager, "KubeControllerManager", "kubecontrollermanagers";
    /// `operator.openshift.io/v1` KubeScheduler.
    KubeScheduler, "KubeScheduler", "kubeschedulers";
}
