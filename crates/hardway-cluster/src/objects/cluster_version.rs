//! ClusterVersion `version`: what the version operator does.

use jiff::Timestamp;
use k8s_openapi::ClusterResourceScope;
use kube::api::ObjectMeta;
use serde::{Deserialize, Serialize};

use super::condition::{Condition, Truth, find};

/// `config.openshift.io/v1` ClusterVersion.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ClusterVersion {
    /// Name and so on.
    pub metadata: ObjectMeta,
    /// What is wanted.
    #[serde(default)]
    pub spec: VersionSpec,
    /// What is.
    #[serde(default)]
    pub status: VersionStatus,
}

/// `spec`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct VersionSpec {
    /// Objects that the version operator leaves alone. All of the installer's while bootstrapping.
    pub overrides: Option<Vec<Override>>,
}

/// `spec.overrides[]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Override {
    /// Kind of the object.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Its namespace, empty for objects of the cluster.
    pub namespace: String,
    /// API group.
    pub group: String,
    /// Whether it is left alone.
    pub unmanaged: bool,
}

/// `status`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct VersionStatus {
    /// Available, Progressing, Failing, …
    pub conditions: Option<Vec<Condition>>,
    /// Newest first.
    pub history: Option<Vec<UpdateHistory>>,
}

/// `status.history[]`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct UpdateHistory {
    /// `Partial` or `Completed`.
    pub state: Option<String>,
    /// Such as 4.18.1.
    pub version: Option<String>,
    /// By the cluster's clock.
    pub completion_time: Option<Timestamp>,
}

impl ClusterVersion {
    /// The condition of this type.
    pub fn condition(&self, r#type: &str) -> Option<&Condition> {
        find(self.status.conditions.as_deref().unwrap_or_default(), r#type)
    }

    /// Whether a condition has this status; a missing one has none.
    pub fn is(&self, r#type: &str, status: Truth) -> bool {
        self.condition(r#type).is_some_and(|condition| condition.status == status)
    }

    /// openshift-install's test that the cluster is initialized (cmd/openshift-install/create.go).
    pub fn is_initialized(&self) -> bool {
        self.is("Available", Truth::True)
            && self.is("Failing", Truth::False)
            && self.is("Progressing", Truth::False)
    }

    /// Objects that are still kept from the version operator, besides those that the user wants so.
    pub fn overrides_besides(&self, wanted: &[Override]) -> usize {
        self.spec.overrides.iter().flatten().filter(|entry| !wanted.contains(entry)).count()
    }
}

super::resource!(
    ClusterVersion,
    "ClusterVersion",
    "config.openshift.io",
    "v1",
    "clusterversions",
    ClusterResourceScope
);
