//! Fields that take one of a few words, and the release's pull spec.

use super::super::draft::Draft;
use crate::install_config::pull_spec_error;
use crate::machine_provider::Provider;
use crate::schema::{Findings, INVENTORY, walk};
use crate::violation::Violation;
use crate::yaml::Value;

pub(super) fn check(draft: &Draft<'_>, findings: &mut Findings<'_>) {
    walk("", draft.node, INVENTORY.fields, &mut |path, _, value, field| {
        if let Value::String(word) = &value.value
            && !word.is_empty()
            && !field.allowed.is_empty()
            && !field.allowed.contains(&word.as_str())
        {
            findings.error(Violation::unsupported(path, word, field.allowed));
        }
    });
    if let Some(Value::Map(entries)) = draft.node.get("machines").map(|machines| &machines.value) {
        for (key, _) in entries.iter().filter(|(key, _)| key.text != "provider" && key.text != draft.provider)
        {
            if Provider::named(&key.text).is_some() {
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
