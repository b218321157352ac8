//! Feature sets and gates: a known set, gates in the custom one only and as `Name=bool`, no field whose gate is off; and
//! fields that hardway knows but does nothing with.

use super::super::draft::Draft;
use super::super::values::{find, text};
use super::Rules;
use crate::input_tables::INSTALL_CONFIG;
use crate::schema::Findings;
use crate::violation::Violation;

/// The feature set that names its gates one by one.
pub const CUSTOM_FEATURE_SET: &str = "CustomNoUpgrade";

/// Why an entry of `featureGates` cannot be understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MalformedGate {
    /// It is not a name, one `=`, and a value.
    NotAPair,
    /// The value is not a boolean.
    NotABoolean,
}

/// Reads `Name=true`. Every spelling of a boolean counts that Go's `strconv.ParseBool` takes.
pub fn parse_gate(entry: &str) -> Result<(&str, bool), MalformedGate> {
    let (name, value) = entry.split_once('=').ok_or(MalformedGate::NotAPair)?;
    match value {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok((name, true)),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok((name, false)),
        value if value.contains('=') => Err(MalformedGate::NotAPair),
        _ => Err(MalformedGate::NotABoolean),
    }
}

pub(super) fn check(draft: &Draft<'_>, rules: &Rules, findings: &mut Findings<'_>) {
    let set = draft.config.feature_set.as_str();
    let allowed = INSTALL_CONFIG.allowed("featureSet");
    let good_set = match set {
        "OKD" if rules.okd && rules.knows_okd_feature_set => true,
        "OKD" if rules.knows_okd_feature_set => {
            let detail = "OKD featureset is not supported on OpenShift clusters";
            findings.error(Violation::forbidden("featureSet", detail));
            false
        }
        other if allowed.contains(&other) => true,
        other => {
            findings.error(Violation::unsupported("featureSet", other, allowed));
            false
        }
    };
    let good_gates = gates(draft, findings);
    // With a wrong set nobody can say which gates are on.
    if good_set && good_gates {
        gated_fields(draft, rules, findings);
    }
    unused_fields(draft, rules, findings);
    let stream = text(draft.node, "osImageStream");
    let streams = if rules.okd { &["centos-10"] } else { INSTALL_CONFIG.allowed("osImageStream") };
    if !stream.is_empty() && !streams.contains(&stream.as_str()) && rules.checks_os_image_stream {
        findings.error(Violation::unsupported("osImageStream", stream, streams));
    }
}

fn gates(draft: &Draft<'_>, findings: &mut Findings<'_>) -> bool {
    let before = findings.errors.len();
    if !draft.config.feature_gates.is_empty() && draft.config.feature_set != CUSTOM_FEATURE_SET {
        let detail = "featureGates can only be used with the CustomNoUpgrade feature set";
        findings.error(Violation::forbidden("featureGates", detail));
    }
    for (i, gate) in draft.config.feature_gates.iter().enumerate() {
        let wrong = match parse_gate(gate) {
            Ok(_) => continue,
            Err(MalformedGate::NotABoolean) => {
                "must match the format <feature-name>=<bool>, could not parse boolean value"
            }
            Err(MalformedGate::NotAPair) => "must match the format <feature-name>=<bool>",
        };
        findings.error(Violation::invalid(format!("featureGates[{i}]"), gate, wrong));
    }
    contradictions(draft, findings);
    findings.errors.len() == before
}

/// Ours: openshift-install takes a gate that is both on and off; the render on the bootstrap host then stops at it
/// (openshift/api `payload-command/render/render.go`).
fn contradictions(draft: &Draft<'_>, findings: &mut Findings<'_>) {
    let gates: Vec<_> = draft.config.feature_gates.iter().map(|gate| parse_gate(gate)).collect();
    for (i, gate) in gates.iter().enumerate() {
        let Ok((name, wanted)) = *gate else { continue };
        if gates[..i].contains(&Ok((name, !wanted))) {
            let detail = format!("trying to enable and disable {name:?}");
            let entry = &draft.config.feature_gates[i];
            findings.error(Violation::invalid(format!("featureGates[{i}]"), entry, detail));
        }
    }
}

/// A field, its gate, and whether the gate is on by default.
type Gated = (&'static str, &'static str, fn(&Rules) -> bool);

const GATED: [Gated; 5] = [
    ("controlPlane.fencing", "DualReplica", |rules| rules.dual_replica_is_default),
    ("controlPlane.diskSetup", "MultiDiskSetup", |_| false),
    ("compute.diskSetup", "MultiDiskSetup", |_| false),
    ("osImageStream", "OSStreams", |rules| rules.os_streams_is_default),
    ("pki", "ConfigurablePKI", |_| false),
];

fn gated_fields(draft: &Draft<'_>, rules: &Rules, findings: &mut Findings<'_>) {
    for (path, gate, is_default) in GATED {
        let enabled = is_default(rules)
            || ["TechPreviewNoUpgrade", "DevPreviewNoUpgrade"].contains(&draft.config.feature_set.as_str())
            || draft.config.feature_gates.iter().any(|entry| parse_gate(entry) == Ok((gate, true)));
        if !enabled && used(draft, rules, path) {
            findings.error(Violation::forbidden(
                path,
                format!(
                    "this field is protected by the {gate} feature gate which must be enabled through either the \
                     TechPreviewNoUpgrade or CustomNoUpgrade feature set"
                ),
            ));
        }
    }
}

fn used(draft: &Draft<'_>, rules: &Rules, path: &str) -> bool {
    // Naming the stream that is the default anyway changes nothing.
    if path == "osImageStream" && text(draft.node, path) == rules.default_os_image_stream {
        return false;
    }
    // Fields of later releases are reported as such.
    let field = INSTALL_CONFIG.paths().into_iter().find(|(known, _)| known == path);
    if field.and_then(|(_, field)| field.since).is_some_and(|since| since > rules.version) {
        return false;
    }
    match path.strip_prefix("compute.") {
        Some(field) => match draft.node.get("compute").map(|compute| &compute.value) {
            Some(crate::yaml::Value::List(pools)) => pools.iter().any(|pool| find(pool, field).is_some()),
            _ => false,
        },
        None => draft.has(path),
    }
}

/// Ours: what later releases take and hardway has no generator for. Saying so beats leaving it out in silence.
fn unused_fields(draft: &Draft<'_>, rules: &Rules, findings: &mut Findings<'_>) {
    let unused = [
        "arbiter",
        "controlPlane.fencing",
        "controlPlane.diskSetup",
        "controlPlane.management",
        "compute.fencing",
        "compute.diskSetup",
        "compute.management",
        "networking.networkObservability",
        "osImageStream",
        "pki",
    ];
    for path in unused.into_iter().filter(|path| used(draft, rules, path)) {
        findings.error(Violation::forbidden(path, "hardway does not support this field").fix("remove it"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_boolean_of_go_is_read() {
        for on in ["1", "t", "T", "true", "TRUE", "True"] {
            assert_eq!(parse_gate(&format!("X={on}")), Ok(("X", true)));
        }
        for off in ["0", "f", "F", "false", "FALSE", "False"] {
            assert_eq!(parse_gate(&format!("X={off}")), Ok(("X", false)));
        }
        for (entry, wrong) in [
            ("X", MalformedGate::NotAPair),
            ("X=true=true", MalformedGate::NotAPair),
            ("X=", MalformedGate::NotABoolean),
            ("X=tRUE", MalformedGate::NotABoolean),
            ("X=yes", MalformedGate::NotABoolean),
        ] {
            assert_eq!(parse_gate(entry), Err(wrong), "{entry}");
        }
    }
}
