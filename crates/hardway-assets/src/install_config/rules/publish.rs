//! Where endpoints are published and who mints cloud credentials: on none there is no choice; and
//! `cpuPartitioningMode`, which openshift-install does not check at all.

use super::super::draft::{Draft, text};
use crate::schema::{Findings, INSTALL_CONFIG};
use crate::violation::Violation;

pub(super) fn check(draft: &Draft<'_>, findings: &mut Findings<'_>) {
    let publish = draft.publish.as_str();
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
    let mode = text(draft.node, "credentialsMode");
    if !mode.is_empty() {
        let detail = "cannot be set when using the \"none\" platform";
        findings.error(Violation::invalid("credentialsMode", mode, detail));
    }
    let partitioning = draft.cpu_partitioning_mode.as_str();
    let allowed = INSTALL_CONFIG.allowed("cpuPartitioningMode");
    if !partitioning.is_empty() && !allowed.contains(&partitioning) {
        findings.error(Violation::unsupported("cpuPartitioningMode", partitioning, allowed));
    }
}
