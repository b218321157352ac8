//! The rules: one noun per file, the short ones here. openshift-install has no such file, so the sentences are ours.

mod addresses;
mod day_two;
pub(crate) mod hosts;
mod vips;

use hardway_base::redaction::HIDDEN;

use super::draft::Draft;
use super::{Provider, Role, ServerUrl};
use crate::input_tables::INVENTORY;
use crate::install_config::{InstallConfig, pull_spec_error};
use crate::release_payload::{ReleaseWord, SAMPLE};
use crate::schema::{Findings, walk};
use crate::violation::Violation;
use crate::yaml::Value;

/// Runs every rule; those that need the install-config only if there is one.
pub(super) fn check_all(draft: &Draft<'_>, config: Option<&InstallConfig>, findings: &mut Findings<'_>) {
    words(draft, findings);
    hosts::check(draft, config, findings);
    addresses::check(draft, config, findings);
    vips::check(draft, config, findings);
    release_sources(draft, findings);
    ignition_server(draft, findings);
    kube_proxy(draft, findings);
    day_two::check(draft, findings);
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
            let violation = Violation::unsupported(path, word, field.allowed);
            findings.error(match word.as_str() {
                "HostedInventory" => violation.fix(
                    "machines of hosted clusters are described in a file of their own, hosted-inventory.yaml",
                ),
                _ => violation,
            });
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
        && ReleaseWord::read(&draft.image).is_none()
        && let Some(error) = pull_spec_error(&draft.image)
    {
        findings.error(Violation::invalid("release.image", &draft.image, error));
    }
}

/// Who is asked what a word for a release means.
fn release_sources(draft: &Draft<'_>, findings: &mut Findings<'_>) {
    let release = draft.node.get("release");
    let text = |name: &str| match release.and_then(|release| release.get(name)).map(|node| &node.value) {
        Some(Value::String(text)) if !text.is_empty() => Some(text.clone()),
        _ => None,
    };
    if let Some(url) = text("graph") {
        let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
        let host = rest.map(|rest| rest.split(['/', '?']).next().unwrap_or_default());
        if host.is_none_or(str::is_empty) || url.contains(['@', '#']) || url.contains(char::is_whitespace) {
            let shown = if url.contains('@') { HIDDEN } else { url.as_str() };
            let detail = "must be the address of an update graph, https://HOST[:PORT]/PATH, without a user or a fragment";
            findings.error(Violation::invalid("release.graph", shown, detail));
        }
    }
    if let Some(repository) = text("repository")
        && (repository.contains('@') || pull_spec_error(&format!("{repository}:any")).is_some())
    {
        let detail = "must be REGISTRY/REPOSITORY, without a tag or a digest";
        findings.error(Violation::invalid("release.repository", &repository, detail));
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

/// A kube-proxy on masters, which manual guides need and older versions of hardway could write, does not work: what a host
/// boots with may ask for a certificate and nothing else, so its watches would be refused, and that identity ends after a day.
fn kube_proxy(draft: &Draft<'_>, findings: &mut Findings<'_>) {
    let field = draft.node.get("options").and_then(|options| options.get("kubeProxyOnMasters"));
    if field.is_some_and(|node| node.value == Value::Bool(true)) {
        let detail = "there is no kube-proxy on masters: what must run before OVN-Kubernetes uses the host's network and \
                      api-int, and a kube-proxy's rules would compete with OVN's afterwards";
        findings.error(
            Violation::invalid("options.kubeProxyOnMasters", true, detail)
                .fix("remove the line; hardway explain T10 says more"),
        );
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
        let fix = match bootstraps.is_empty() {
            true => {
                "add a host that runs the temporary control plane; a single node can do without one: set \
                 bootstrapInPlace in install-config.yaml"
            }
            false => "keep one of them, and give the others the role master or worker",
        };
        findings.error(Violation::invalid("hosts", bootstraps.len(), detail).fix(fix));
    }
}
