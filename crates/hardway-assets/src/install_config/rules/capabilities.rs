//! Optional parts of the release: known sets and names, with all that others of them need (openshift/api
//! `config/v1/types_cluster_version.go`).

use super::super::Capabilities;
use super::super::draft::Draft;
use super::Rules;
use crate::input_tables::INSTALL_CONFIG;
use crate::release_payload::{
    CAPABILITIES, CLUSTER_API, EnabledCapabilities, VersionContract, in_capability_set,
};
use crate::schema::Findings;
use crate::violation::{FieldErrorKind, Violation};

pub(super) fn check(draft: &Draft<'_>, rules: &Rules, findings: &mut Findings<'_>) {
    let Some(capabilities) = &draft.config.capabilities else { return };
    let baseline = capabilities.baseline_capability_set.as_str();
    let sets = INSTALL_CONFIG.allowed("capabilities.baselineCapabilitySet");
    if !sets.contains(&baseline) {
        // An empty set is refused too: the file's field is copied as it is, and "" is no set.
        let violation = Violation::unsupported("capabilities.baselineCapabilitySet", baseline, sets);
        findings.error(if baseline.is_empty() {
            violation.fix("write baselineCapabilitySet: vCurrent, or leave capabilities out")
        } else {
            violation
        });
    }
    let mut names: Vec<&str> = CAPABILITIES.iter().map(|(name, _)| *name).collect();
    if rules.has_cluster_api_capabilities {
        names.extend(CLUSTER_API);
    }
    names.sort_unstable();
    for (i, capability) in capabilities.additional_enabled_capabilities.iter().enumerate() {
        if !names.contains(&capability.as_str()) {
            let path = format!("capabilities.additionalEnabledCapabilities[{i}]");
            findings.error(Violation::unsupported(path, capability, &names));
        }
    }
    dependencies(capabilities, findings);
}

fn dependencies(capabilities: &Capabilities, findings: &mut Findings<'_>) {
    let enabled = |name: &str| {
        capabilities.additional_enabled_capabilities.iter().any(|extra| extra == name)
            || in_capability_set(&capabilities.baseline_capability_set, name)
    };
    if enabled("marketplace") && !enabled("OperatorLifecycleManager") {
        // openshift-install prints the path without its parent.
        findings.error_at(
            "capabilities.additionalEnabledCapabilities",
            Violation::invalid(
                "additionalEnabledCapabilities",
                &capabilities.additional_enabled_capabilities,
                "the marketplace capability requires the OperatorLifecycleManager capability",
            ),
        );
    }
    if !enabled("Ingress") {
        let shown = serde_json::to_string(capabilities).ok();
        let detail = "the Ingress capability is required";
        findings.error(
            Violation::new("capabilities", FieldErrorKind::Invalid, shown, detail)
                .fix("add Ingress to additionalEnabledCapabilities, or take a baseline of v4.16 or later"),
        );
    }
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
