//! Additional trusted certificates: PEM, and a policy that exists. Not shown: a private key may have slipped in.

use x509_parser::parse_x509_certificate;

use super::super::draft::Draft;
use crate::input_tables::INSTALL_CONFIG;
use crate::schema::Findings;
use crate::violation::Violation;
use hardway_base::pem;

pub(super) fn check(draft: &Draft<'_>, findings: &mut Findings<'_>) {
    if !draft.config.additional_trust_bundle.is_empty()
        && let Some(error) = bundle_error(&draft.config.additional_trust_bundle)
    {
        findings.error(Violation::redacted("additionalTrustBundle", error));
    }
    let policy = draft.config.additional_trust_bundle_policy.as_str();
    if !INSTALL_CONFIG.allowed("additionalTrustBundlePolicy").contains(&policy) {
        let detail = "supported values \"Proxyonly\", \"Always\"";
        findings.error(Violation::invalid("additionalTrustBundlePolicy", policy, detail));
    }
}

/// Every block must be a certificate. Text between blocks is allowed, as Go allows it; text after the last is not.
fn bundle_error(text: &str) -> Option<String> {
    let mut rest = text;
    let mut count = 0;
    while !rest.trim().is_empty() {
        let Some((block, after)) = next_block(rest) else { return Some("invalid block".to_owned()) };
        count += 1;
        let is_certificate = block.label == "CERTIFICATE"
            && parse_x509_certificate(&block.der).is_ok_and(|(trailing, _)| trailing.is_empty());
        if !is_certificate {
            return Some(format!("x509: malformed certificate (block {count}, labelled {:?})", block.label));
        }
        rest = after;
    }
    (count == 0).then(|| "invalid block".to_owned())
}

fn next_block(text: &str) -> Option<(pem::Block, &str)> {
    let text = &text[text.find("-----BEGIN ")?..];
    let label = text.strip_prefix("-----BEGIN ")?.split_once("-----")?.0;
    let end = format!("-----END {label}-----");
    let at = text.find(&end)? + end.len();
    let block = pem::decode(&text[..at]).ok()?.pop()?;
    Some((block, &text[at..]))
}
