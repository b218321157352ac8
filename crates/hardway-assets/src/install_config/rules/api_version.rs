//! `apiVersion`: there, and one that is known. A file of another version is not looked at any further.

use super::super::values::find;
use crate::schema::Findings;
use crate::violation::Violation;
use crate::yaml::{Node, Value};

/// Whether the file is of a version that can be read.
pub(in super::super) fn check(node: &Node, findings: &mut Findings<'_>) -> bool {
    match find(node, "apiVersion").map(|node| &node.value) {
        Some(Value::String(version)) => match version.as_str() {
            "v1" | "v1beta3" | "v1beta4" => true,
            "" => missing(findings),
            other => {
                let detail = format!("cannot upconvert from version {other}");
                findings.error(Violation::invalid("apiVersion", other, detail).fix("write apiVersion: v1"));
                false
            }
        },
        // Of the wrong type: the schema check said so.
        Some(_) => false,
        None => missing(findings),
    }
}

fn missing(findings: &mut Findings<'_>) -> bool {
    findings.error(Violation::required("apiVersion", "no version was provided").fix("write apiVersion: v1"));
    false
}
