//! Optional parts of the release: known sets and names, with all that others of them need (openshift/api
//! `config/v1/types_cluster_version.go`).

use super::super::Capabilities;
use super::super::draft::Draft;
use super::Rules;
use crate::release_payload::{CAPABILITIES, CLUSTER_API, in_capability_set};
use crate::schema::{Findings, INSTALL_CONFIG};
use crate::violation::{Kind, Violation};

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
            Violation::new("capabilities", Kind::Invalid, shown, detail)
                .fix("add Ingress to additionalEnabledCapabilities, or take a baseline of v4.16 or later"),
        );
    }
}
