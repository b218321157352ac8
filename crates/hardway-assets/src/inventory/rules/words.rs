//! Fields that take one of a few words, and the release's pull spec.

use super::super::draft::Draft;
use crate::install_config::pull_spec_error;
use crate::schema::{Findings, INVENTORY};
use crate::violation::Violation;
use crate::yaml::Value;

pub(super) fn check(draft: &Draft<'_>, findings: &mut Findings<'_>) {
    for path in ["apiVersion", "kind", "machines.provider", "network.loadBalancer", "pki.keyAlgorithm"] {
        let mut node = Some(draft.node);
        for step in path.split('.') {
            node = node.and_then(|node| node.get(step));
        }
        if let Some(Value::String(word)) = node.map(|node| &node.value)
            && !word.is_empty()
        {
            one_of(path, path, word, findings);
        }
    }
    for host in draft.hosts.iter().filter(|host| !host.role.is_empty()) {
        one_of(&format!("{}.role", host.path), "hosts.role", &host.role, findings);
    }
    if let Some(Value::Map(entries)) = draft.node.get("machines").map(|machines| &machines.value) {
        for (key, _) in entries.iter().filter(|(key, _)| key.text != "provider" && key.text != draft.provider)
        {
            if INVENTORY.allowed("machines.provider").contains(&key.text.as_str()) {
                let detail = format!("not used: the provider is {:?}", draft.provider);
                findings.warn(Violation::forbidden(format!("machines.{}", key.text), detail));
            }
        }
    }
    if !draft.image.is_empty()
        && draft.image != "sample"
        && let Some(error) = pull_spec_error(&draft.image)
    {
        findings.error(Violation::invalid("release.image", &draft.image, error));
    }
}

fn one_of(path: &str, field: &str, word: &str, findings: &mut Findings<'_>) {
    let allowed = INVENTORY.allowed(field);
    if !allowed.contains(&word) {
        findings.error(Violation::unsupported(path, word, allowed));
    }
}
