//! Who makes the machines of a working folder, where that has to be done, and whether this host is fit for it.

mod inside;
mod preflight;
mod provider;

pub(crate) use inside::{enter, is_inside, outside, place};
pub(crate) use preflight::{ReleaseSource, known_checks, look, preflight_text, refused};
pub(crate) use provider::{answered, check, failed_action, left_behind, provider_kind, provider_of, stage};
