//! The rules: one noun per file, the short ones here. openshift-install has no such file, so the sentences are ours.

mod addresses;
mod hosts;
mod vips;

use hardway_base::redaction::HIDDEN;

use super::draft::Draft;
use super::{Provider, Role, ServerUrl};
use crate::install_config::{InstallConfig, pull_spec_error};
use crate::release_payload::SAMPLE;
use crate::schema::{Findings, INVENTORY, walk};
use crate::violation::Violation;
use crate::yaml::Value;

/// Runs every rule; those that need the install-config only if there is one.
pub(super) fn check_all(draft: &Draft<'_>, config: Option<&InstallConfig>, findings: &mut Findings<'_>) {
    words(draft, findings);
    hosts::check(draft, config, findings);
    addresses::check(draft, config, findings);
    vips::check(draft, config, findings);
    ignition_server(draft, findings);
    if let Some(config) = config {
        counts(draft, config, findings);
    }
}

/// Fields that take one of a few words, and the release's pull spec.
fn words(draft: &Draft<'_>, findings: &mut Findings<'_>) {
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
        && draft.image != SAMPLE
        && let Some(error) = pull_spec_error(&draft.image)
    {
        findings.error(Violation::invalid("release.image", &draft.image, error));
    }
}

/// The address of the ignition server.
fn ignition_server(draft: &Draft<'_>, findings: &mut Findings<'_>) {
    if let Some(url) = &draft.ignition_server
        && let Err(reason) = ServerUrl::parse(url)
    {
        // A password that was put there must not be shown.
        let shown = if url.contains('@') { HIDDEN } else { url };
        findings.error(Violation::invalid("ignitionServer.url", shown, reason.to_string()));
    }
}

/// As many machines as install-config asks for.
fn counts(draft: &Draft<'_>, config: &InstallConfig, findings: &mut Findings<'_>) {
    let count = |role| draft.with_role(role).count() as u64;
    let masters = config.control_plane.replicas;
    let workers = config.worker_replicas();
    for (role, wanted, field) in
        [(Role::Master, masters, "controlPlane.replicas"), (Role::Worker, workers, "compute[].replicas")]
    {
        let found = count(role);
        if found != wanted {
            let detail = format!("hosts with role {role}: install-config asks for {wanted} ({field})");
            findings.error(Violation::invalid("hosts", found, detail));
        }
    }
    let bootstraps: Vec<_> = draft.with_role(Role::Bootstrap).collect();
    if config.bootstrap_in_place.is_some() {
        for host in bootstraps {
            let detail = "with bootstrapInPlace the node installs itself: there is no bootstrap host";
            findings.error(Violation::forbidden(&host.path, detail));
        }
    } else if bootstraps.len() != 1 {
        let detail = "exactly one host with role bootstrap is required";
        let fix = "add a host that runs the temporary control plane; a single node can do without one: set \
                   bootstrapInPlace in install-config.yaml";
        findings.error(Violation::invalid("hosts", bootstraps.len(), detail).fix(fix));
    }
}
