//! `install-config.yaml`: the standard schema of openshift-install, for platform none.
//!
//! INPUT: the text of the file and the [`Rules`] of the release. OUTPUT: an [`InstallConfig`] with all defaults, or
//! everything that is wrong with the file, at once, in openshift-install's words (installer `pkg/types/validation`).

mod config;
mod convert;
pub(crate) mod dns_name;
mod draft;
mod read;
mod rules;
mod url;
mod values;

pub use config::*;
pub use read::read;
pub(crate) use read::{Examined, examine};
pub(crate) use rules::pull_spec_error;
pub use rules::{CUSTOM_FEATURE_SET, MalformedGate, Rules, architecture, parse_gate, single_node};
