//! The rules, one noun per file. Each takes the whole draft and reports whatever it finds, whatever the others found.
//! `contract.rs` says which of them differ between releases, `repository.rs` reads names of repositories.
//!
//! Paths, kinds and sentences are openshift-install's (installer `pkg/types/validation`, `pkg/validate`); what it has
//! no rule for is marked as ours.

mod capabilities;
mod contract;
mod features;
mod mirrors;
mod names;
mod networks;
mod ovn;
mod platform;
mod pools;
mod proxy;
mod publish;
mod pull_secret;
mod repository;
mod ssh_key;
mod stack;
mod trust_bundle;

use super::draft::Draft;
use crate::schema::Findings;

pub use contract::Rules;
pub use features::{CUSTOM_FEATURE_SET, MalformedGate, parse_gate};
pub use pools::{architecture, single_node};
pub(crate) use repository::pull_spec_error;

/// Runs every rule.
pub(super) fn check_all(
    draft: &Draft<'_>,
    rules: &Rules,
    is_known_plugin: &dyn Fn(&str) -> bool,
    findings: &mut Findings<'_>,
) {
    ssh_key::check(draft, rules, findings);
    trust_bundle::check(draft, findings);
    names::check(draft, findings);
    networks::check(draft, rules, is_known_plugin, findings);
    stack::check(draft, rules, findings);
    ovn::check(draft, rules, findings);
    platform::check(draft, findings);
    pools::check(draft, rules, findings);
    pull_secret::check(draft, findings);
    proxy::check(draft, findings);
    mirrors::check(draft, rules, findings);
    publish::check(draft, findings);
    capabilities::check(draft, rules, findings);
    features::check(draft, rules, findings);
}
