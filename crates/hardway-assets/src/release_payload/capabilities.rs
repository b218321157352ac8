//! Optional parts of a release (openshift/api `config/v1/types_cluster_version.go`).

/// Which capabilities a cluster of some release knows and has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnabledCapabilities {
    /// All that the release knows.
    pub known: Vec<String>,
    /// Those turned on.
    pub enabled: Vec<String>,
}

/// Whether a baseline set holds a capability. An empty set is taken for the current one; one there is not holds nothing.
pub(crate) fn in_capability_set(set: &str, name: &str) -> bool {
    let minor = match set {
        "" | "vCurrent" => u32::MAX,
        other => match other.strip_prefix("v4.").and_then(|minor| minor.parse().ok()) {
            Some(minor @ OLDEST_SET..=NEWEST_SET) => minor,
            _ => return false,
        },
    };
    CAPABILITIES.iter().any(|(capability, since)| *capability == name && *since <= minor)
}

/// Minor versions of the oldest and the newest set. Later releases bring no more of them.
const OLDEST_SET: u32 = 11;
const NEWEST_SET: u32 = 18;

/// Every capability with the minor version of the first set that holds it.
pub(crate) const CAPABILITIES: [(&str, u32); 17] = [
    ("baremetal", 11),
    ("marketplace", 11),
    ("openshift-samples", 11),
    ("MachineAPI", 11),
    ("Console", 12),
    ("Insights", 12),
    ("Storage", 12),
    ("CSISnapshot", 12),
    ("NodeTuning", 13),
    ("Build", 14),
    ("DeploymentConfig", 14),
    ("ImageRegistry", 14),
    ("OperatorLifecycleManager", 15),
    ("CloudCredential", 15),
    ("Ingress", 16),
    ("CloudControllerManager", 16),
    ("OperatorLifecycleManagerV1", 18),
];

/// From 4.23, in no set but the current one.
pub(crate) const CLUSTER_API: [&str; 2] = ["CompatibilityRequirements", "ClusterAPI"];
