//! Who makes the machines of a working folder, where that has to be done, what they are installed from, and whether this
//! host is fit for it.

mod console_text;
mod hosted_site;
mod infra;
mod inside;
pub(crate) mod media;
mod preflight;
mod provider;
mod removal;

pub(crate) use console_text::last_lines as console_lines;
pub(crate) use hosted_site::HostedSite;
pub(crate) use infra::{ActionStatus, Infra};
pub(crate) use inside::{enter, is_inside, lab_site, outside};
pub(crate) use preflight::{ReleaseSource, checks_named, look, preflight_text, refused};
pub(crate) use provider::{
    answered, check, failed_action, provider_if_any, provider_kind, provider_of, stage, undrawn_id,
};
pub(crate) use removal::{cluster_name, owned_actions, removal_text};
