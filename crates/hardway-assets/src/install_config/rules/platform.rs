//! The platform: none, and only none.

use super::super::draft::Draft;
use super::super::values::find;
use crate::schema::Findings;
use crate::violation::Violation;
use crate::yaml::Value;

/// Every platform there is, in the order openshift-install looks for them.
pub(super) const NAMES: [&str; 13] = [
    "aws",
    "azure",
    "baremetal",
    "gcp",
    "ibmcloud",
    "none",
    "external",
    "powervc",
    "openstack",
    "vsphere",
    "ovirt",
    "powervs",
    "nutanix",
];

/// The names in the message: sorted, without the retired one, without those 4.18 does not know.
const OFFERED: &str =
    "aws, azure, baremetal, external, gcp, ibmcloud, none, nutanix, openstack, powervs, vsphere";

pub(super) fn check(draft: &Draft<'_>, findings: &mut Findings<'_>) {
    let given: Vec<&str> = NAMES.into_iter().filter(|name| draft.has(&format!("platform.{name}"))).collect();
    // Ours: openshift-install reports two platforms only if the second one has rules of its own, and none has not.
    let active = if given.contains(&"none") { "none" } else { given.first().copied().unwrap_or_default() };
    for other in given.iter().filter(|name| **name != active) {
        let detail =
            format!("must only specify a single type of platform; cannot use both {active:?} and {other:?}");
        findings.error_at(&format!("platform.{other}"), Violation::invalid("platform", active, detail));
    }
    match active {
        "none" => {}
        "" => {
            let violation =
                Violation::invalid("platform", "", format!("must specify one of the platforms ({OFFERED})"));
            findings.error(violation.fix(advice(draft)));
        }
        other => findings.error_at(
            &format!("platform.{other}"),
            Violation::invalid("platform", other, "hardway installs on platform none only")
                .fix("write platform: {none: {}} and describe the machines in inventory.yaml"),
        ),
    }
}

/// `none:` with nothing behind it is null, which means absent: a trap worth a word.
fn advice(draft: &Draft<'_>) -> &'static str {
    let none = find(draft.node, "platform").and_then(|platform| platform.get("none"));
    match none.map(|none| &none.value) {
        Some(Value::Null) => "write none: {} (with braces; without them the value is null)",
        _ => "write platform: {none: {}}",
    }
}
