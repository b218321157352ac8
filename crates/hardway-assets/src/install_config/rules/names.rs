//! The cluster's name and domain: DNS names, and not too long together.

use super::super::dns_name::{subdomain_error, too_long};
use super::super::draft::Draft;
use crate::schema::Findings;
use crate::violation::Violation;
use crate::yaml::{Node, Value};

/// `*.apps` is kept in DNS zones as nine characters, which a label's 63 must have room for.
const NAME_LIMIT: usize = 63 - 9;

pub(super) fn check(draft: &Draft<'_>, findings: &mut Findings<'_>) {
    let name_error = if draft.config.metadata.name.len() > NAME_LIMIT {
        Some(too_long(NAME_LIMIT))
    } else {
        subdomain_error(&draft.config.metadata.name)
    };
    let base = draft.config.base_domain.strip_suffix('.').unwrap_or(&draft.config.base_domain);
    let base_error = subdomain_error(base);
    let both_good = name_error.is_none() && base_error.is_none();
    let node = |field| draft.node.get("metadata").and_then(|metadata: &Node| metadata.get(field));
    if let Some(error) = name_error.filter(|_| is_text(node("name"))) {
        let violation = Violation::invalid("metadata.name", &draft.config.metadata.name, error);
        findings.error(with_near(violation, &draft.config.metadata.name, NO_NAME));
    }
    if let Some(error) = base_error.filter(|_| is_text(draft.node.get("baseDomain"))) {
        let violation = Violation::invalid("baseDomain", &draft.config.base_domain, error);
        findings.error(with_near(violation, base, NO_DOMAIN));
    }
    if both_good {
        let domain = format!("{}.{base}", draft.config.metadata.name);
        if let Some(error) = subdomain_error(&domain).or_else(|| label_error(&domain)) {
            findings.error(Violation::invalid("baseDomain", domain, error));
        }
    }
    // Ours: openshift-install writes these to cluster-config-v1; nothing is known to read them there.
    for field in ["kind", "metadata.namespace", "metadata.labels", "metadata.annotations"] {
        if draft.has(field) {
            findings.warn(Violation::forbidden(field, "has no effect and is left out of the cluster"));
        }
    }
}

/// Ours: openshift-install takes both, and a cluster of such a name never finishes (`hardway explain E-D9`).
fn label_error(domain: &str) -> Option<String> {
    let is_number = |label: &&str| label.bytes().all(|byte| byte.is_ascii_digit());
    if let Some(last) = domain.rsplit('.').next().filter(is_number) {
        return Some(format!("its last label is the number {last}: clients take such a name for an address"));
    }
    let long = domain.split('.').find(|label| label.len() > LABEL_LIMIT)?;
    Some(format!("its label {long:?} has {} characters, and DNS takes {LABEL_LIMIT}", long.len()))
}

const LABEL_LIMIT: usize = 63;

/// openshift-install quotes the rule for names even where the name is missing. These say what to write instead.
const NO_NAME: &str = "the cluster's name is missing: choose a short one, in metadata: name: ocp4; with baseDomain example.com its API \
                       is then api.ocp4.example.com";
const NO_DOMAIN: &str = "the DNS domain that the cluster's own is made in is missing: name one in which you can have names answered, such \
                         as baseDomain: example.com: the API is then api.NAME.example.com, routes are below apps.NAME.example.com, \
                         with metadata.name for NAME";

/// Capitals and underscores are what people write.
fn with_near(violation: Violation, name: &str, missing: &str) -> Violation {
    let near = name.to_ascii_lowercase().replace('_', "-");
    match near != name && subdomain_error(&near).is_none() {
        _ if name.is_empty() => violation.fix(missing),
        true => violation.fix(format!("did you mean {near}?")),
        false => violation,
    }
}

/// Text, or absent. The schema's check has reported any other type already.
fn is_text(node: Option<&Node>) -> bool {
    node.is_none_or(|node| matches!(&node.value, Value::Null | Value::String(_)))
}
