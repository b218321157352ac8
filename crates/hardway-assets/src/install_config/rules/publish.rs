//! Where endpoints are published and who mints cloud credentials: on none there is no choice; and
//! `cpuPartitioningMode`, which openshift-install does not check at all.

use super::super::draft::Draft;
use super::super::values::{text, text_or_default};
use crate::input_tables::INSTALL_CONFIG;
use crate::schema::Findings;
use crate::violation::Violation;

pub(super) fn check(draft: &Draft<'_>, findings: &mut Findings<'_>) {
    let publish = draft.config.publish.as_str();
    let has_strategy = draft.has("operatorPublishingStrategy");
    let invalid = |detail: &str| Violation::invalid("publish", publish, detail);
    match publish {
        "External" => {}
        "Internal" => {
            findings.error(invalid("Internal publish strategy is not supported on \"none\" platform"));
        }
        "Mixed" => {
            findings.error(invalid("mixed publish strategy is not supported on \"none\" platform"));
            if !has_strategy {
                findings.error(invalid(
                    "please specify the operator publishing strategy for mixed publish strategy",
                ));
            }
        }
        other => {
            let allowed = INSTALL_CONFIG.allowed("publish");
            findings.error(Violation::unsupported("publish", other, allowed));
        }
    }
    if has_strategy && publish != "Mixed" {
        let detail = "operator publishing strategy is only allowed with mixed publishing strategy installs";
        findings.error(Violation::invalid("operatorPublishingStrategy", publish, detail));
    }
    if has_strategy {
        strategy(draft, findings);
    }
    let mode = text(draft.node, "credentialsMode");
    if !mode.is_empty() {
        let detail = "cannot be set when using the \"none\" platform";
        findings.error(Violation::invalid("credentialsMode", mode, detail));
    }
    let partitioning = draft.config.cpu_partitioning_mode.as_str();
    let allowed = INSTALL_CONFIG.allowed("cpuPartitioningMode");
    if !partitioning.is_empty() && !allowed.contains(&partitioning) {
        findings.error(Violation::unsupported("cpuPartitioningMode", partitioning, allowed));
    }
}

/// openshift-install prints these paths without their parent.
fn strategy(draft: &Draft<'_>, findings: &mut Findings<'_>) {
    let of = |name: &str| text_or_default(draft.node, &format!("operatorPublishingStrategy.{name}"));
    let both = ["apiserver", "ingress"].map(|name| (name, of(name)));
    for (name, value) in &both {
        if !["External", "Internal"].contains(&value.as_str()) {
            let violation = Violation::unsupported(*name, value, &["External", "Internal"]);
            findings.error_at(&format!("operatorPublishingStrategy.{name}"), violation);
        }
    }
    if both.iter().all(|(_, value)| value == "Internal") {
        let detail = "cannot set both fields to internal in a mixed cluster, use publish internal instead";
        findings.error(Violation::invalid("publish", "Internal", detail));
    }
}
