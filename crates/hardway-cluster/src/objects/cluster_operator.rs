//! ClusterOperator: one part of the cluster, and whether it works.

use k8s_openapi::ClusterResourceScope;
use kube::api::ObjectMeta;
use serde::{Deserialize, Serialize};

use super::condition::{Condition, Truth, find};

/// `config.openshift.io/v1` ClusterOperator.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ClusterOperator {
    /// Name and so on.
    pub metadata: ObjectMeta,
    /// What it reports.
    #[serde(default)]
    pub status: OperatorStatus,
}

/// `status`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OperatorStatus {
    /// Available, Progressing, Degraded, …
    pub conditions: Option<Vec<Condition>>,
    /// What it runs.
    pub versions: Option<Vec<OperatorVersion>>,
}

/// `status.versions[]`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct OperatorVersion {
    /// `operator`, or one of its parts.
    pub name: String,
    /// Such as 4.18.1.
    pub version: String,
}

impl ClusterOperator {
    /// Every condition it reports.
    pub fn conditions(&self) -> &[Condition] {
        self.status.conditions.as_deref().unwrap_or_default()
    }

    /// The condition of this type.
    pub fn condition(&self, r#type: &str) -> Option<&Condition> {
        find(self.conditions(), r#type)
    }

    /// Its status. A missing condition is the bad one, as the version operator takes it
    /// (cluster-version-operator pkg/cvo/internal/operatorstatus.go).
    pub fn truth(&self, r#type: &str) -> Truth {
        let missing = if r#type == "Available" { Truth::False } else { Truth::True };
        self.condition(r#type).map_or(missing, |condition| condition.status)
    }

    /// Available, nothing rolled out, nothing degraded.
    pub fn is_well(&self) -> bool {
        self.truth("Available") == Truth::True
            && self.truth("Progressing") == Truth::False
            && self.truth("Degraded") == Truth::False
    }

    /// The version of the operator itself.
    pub fn version(&self) -> Option<&str> {
        let versions = self.status.versions.as_deref().unwrap_or_default();
        versions.iter().find(|version| version.name == "operator").map(|version| version.version.as_str())
    }
}

super::resource!(
    ClusterOperator,
    "ClusterOperator",
    "config.openshift.io",
    "v1",
    "clusteroperators",
    ClusterResourceScope
);
