//! Mirrors of images: one list of the two, repositories without tag or digest, a known source policy, credentials.

use std::collections::BTreeSet;

use super::super::ImageSource;
use super::super::draft::Draft;
use super::Rules;
use super::repository::{registry_host, repository_error};
use crate::input_tables::INSTALL_CONFIG;
use crate::schema::Findings;
use crate::violation::{FieldErrorKind, Violation};

pub(super) fn check(draft: &Draft<'_>, rules: &Rules, findings: &mut Findings<'_>) {
    let content = &draft.config.image_content_sources;
    let digest = &draft.config.image_digest_sources;
    sources("imageContentSources", content, findings);
    sources("imageDigestSources", digest, findings);
    source_policies(digest, findings);
    if !content.is_empty() {
        if !digest.is_empty() {
            let detail = "cannot set imageContentSources and imageDigestSources at the same time";
            findings.error(Violation::new("imageContentSources", FieldErrorKind::Invalid, None, detail));
        }
        let detail = "imageContentSources is deprecated, please use ImageDigestSources";
        findings.warn(Violation::new("imageContentSources", FieldErrorKind::Forbidden, None, detail));
    }
    if rules.mirrors_need_credentials {
        credentials(draft, findings);
    }
}

fn sources(list: &str, sources: &[ImageSource], findings: &mut Findings<'_>) {
    for (i, source) in sources.iter().enumerate() {
        if let Some(error) = repository_error(&source.source) {
            findings.error(Violation::invalid(format!("{list}[{i}].source"), &source.source, error));
        }
        for (j, mirror) in source.mirrors.iter().enumerate() {
            if let Some(error) = repository_error(mirror) {
                findings.error(Violation::invalid(format!("{list}[{i}].mirrors[{j}]"), mirror, error));
            }
        }
    }
}

fn source_policies(sources: &[ImageSource], findings: &mut Findings<'_>) {
    for (i, source) in sources.iter().enumerate().filter(|(_, source)| !source.source_policy.is_empty()) {
        let path = format!("imageDigestSources[{i}].sourcePolicy");
        let policy = &source.source_policy;
        if source.mirrors.is_empty() {
            let detail = "sourcePolicy cannot be configured without a mirror";
            findings.error(Violation::invalid(&path, policy, detail));
        }
        if !INSTALL_CONFIG.allowed("imageDigestSources.sourcePolicy").contains(&policy.as_str()) {
            let detail = "supported values are \"NeverContactSource\" and \"AllowContactingSource\"";
            findings.error(Violation::invalid(&path, policy, detail));
        }
    }
}

/// A mirror that the pull secret has no login for may be meant so: a warning.
fn credentials(draft: &Draft<'_>, findings: &mut Findings<'_>) {
    let known = super::pull_secret::hosts(draft.config.pull_secret.expose_text());
    if known.is_empty() {
        return;
    }
    let mut seen = BTreeSet::new();
    for (list, sources) in [
        ("imageContentSources", &draft.config.image_content_sources),
        ("imageDigestSources", &draft.config.image_digest_sources),
    ] {
        for (i, source) in sources.iter().enumerate() {
            for (j, mirror) in source.mirrors.iter().enumerate() {
                let Some(host) = registry_host(mirror) else { continue };
                if !known.contains(host) && seen.insert(host.to_owned()) {
                    let detail = format!("Mirror registry {host:?} is not found in pullSecret");
                    findings.warn(Violation::invalid(format!("{list}[{i}].mirrors[{j}]"), mirror, detail));
                }
            }
        }
    }
}
