//! The cluster's name and domain: DNS names, and not too long together.

use super::super::dns_name::{subdomain_error, too_long};
use super::super::draft::Draft;
use crate::schema::Findings;
use crate::violation::Violation;

/// `*.apps` is kept in DNS zones as nine characters, which a label's 63 must have room for.
const NAME_LIMIT: usize = 63 - 9;

pub(super) fn check(draft: &Draft<'_>, findings: &mut Findings<'_>) {
    let name_error =
        if draft.name.len() > NAME_LIMIT { Some(too_long(NAME_LIMIT)) } else { subdomain_error(&draft.name) };
    let base = draft.base_domain.strip_suffix('.').unwrap_or(&draft.base_domain);
    let base_error = subdomain_error(base);
    let both_good = name_error.is_none() && base_error.is_none();
    if let Some(error) = name_error {
        findings.error(Violation::invalid("metadata.name", &draft.name, error));
    }
    if let Some(error) = base_error {
        findings.error(Violation::invalid("baseDomain", &draft.base_domain, error));
    }
    if both_good {
        let domain = format!("{}.{base}", draft.name);
        if let Some(error) = subdomain_error(&domain) {
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
