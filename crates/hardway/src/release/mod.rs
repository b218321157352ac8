//! The release of a run: which it is, where it comes from, who signed it, and the copy that is kept.

mod choice;
mod composition;
mod fetch;
mod hosted_releases;
mod kept;
mod options;
mod registry_access;
mod registry_report;
mod signature;
mod words;

pub(crate) use choice::{Chosen, Reach, is_sample, reason_to_fetch, unusable};
pub(crate) use composition::Composition;
pub(crate) use hosted_releases::HostedReleases;
pub(crate) use kept::KeptRelease;
pub(crate) use options::{RegistryOptions, ReleaseOptions, SignatureOptions};
pub(crate) use registry_access::{Logins, fetch_options, fetch_options_with, host_has_proxy, plain_http};
pub(crate) use registry_report::registry_report;
pub(crate) use signature::{check_signature, checked_stores, signature_report};
pub(crate) use words::{WordSources, not_meant, pull_spec_of};
