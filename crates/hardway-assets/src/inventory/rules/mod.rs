//! The rules, one noun a file. openshift-install has no such file, so the sentences are ours.

mod addresses;
mod counts;
mod hosts;
mod ignition_server;
mod vips;
mod words;

use super::draft::Draft;
use crate::install_config::InstallConfig;
use crate::schema::Findings;

/// Runs every rule; those that need the install-config only if there is one.
pub(super) fn check_all(draft: &Draft<'_>, config: Option<&InstallConfig>, findings: &mut Findings<'_>) {
    words::check(draft, findings);
    hosts::check(draft, config, findings);
    addresses::check(draft, config, findings);
    vips::check(draft, config, findings);
    ignition_server::check(draft, findings);
    if let Some(config) = config {
        counts::check(draft, config, findings);
    }
}
