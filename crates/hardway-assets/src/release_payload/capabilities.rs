//! Optional parts of a release (openshift/api `config/v1/types_cluster_version.go`).

use super::VersionContract;
use crate::install_config::Capabilities;

/// Which capabilities a cluster of some release knows and has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnabledCapabilities {
    /// All that the release knows.
    pub known: Vec<String>,
    /// Those turned on.
    pub enabled: Vec<String>,
}

impl EnabledCapabilities {
    /// As an install-config says; without a word there, all.
    pub fn of(version: &VersionContract, wanted: Option<&Capabilities>) -> Self {
        let mut known: Vec<&str> = CAPABILITIES.iter().map(|(name, _)| *name).collect();
        if version.has_cluster_api_capabilities() {
            known.extend(CLUSTER_API);
        }
        let is_on = |name: &str| match wanted {
            None => true,
            Some(wanted) => {
                let set = wanted.baseline_capability_set.as_str();
                let in_set = in_capability_set(set, name)
                    || (CLUSTER_API.contains(&name) && (set.is_empty() || set == "vCurrent"));
                // The operator's own Deployment always turns this one on.
                name == "Ingress"
                    || in_set
                    || wanted.additional_enabled_capabilities.iter().any(|n| n == name)
            }
        };
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let enabled: Vec<&str> = known.iter().copied().filter(|name| is_on(name)).collect();
        Self { known: owned(&known), enabled: owned(&enabled) }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn enabled(version: &str, wanted: Option<(&str, &[&str])>) -> Vec<String> {
        let wanted = wanted.map(|(set, extra)| Capabilities {
            additional_enabled_capabilities: extra.iter().map(|name| (*name).to_owned()).collect(),
            baseline_capability_set: set.to_owned(),
        });
        EnabledCapabilities::of(&version.parse().unwrap(), wanted.as_ref()).enabled
    }

    #[test]
    fn sets_and_additions_turn_on() {
        assert_eq!(enabled("4.18.1", None).len(), 17);
        assert_eq!(enabled("4.18.1", Some(("vCurrent", &[]))).len(), 17);
        assert_eq!(enabled("4.18.1", Some(("v4.11", &[]))).len(), 4 + 1);
        assert_eq!(enabled("4.18.1", Some(("None", &["Console"]))), ["Console", "Ingress"]);
        assert_eq!(enabled("4.23.0", None).len(), 19);
        assert_eq!(enabled("4.23.0", Some(("v4.18", &[]))).len(), 17);
        assert_eq!(enabled("4.23.0", Some(("vCurrent", &[]))).len(), 19);
    }
}
