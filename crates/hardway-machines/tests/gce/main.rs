//! The gce provider with a recording stand-in for `gcloud`: what is called, in which order, is compared with transcripts
//! in `golden/`. To take new ones: `HARDWAY_GOLDEN=write cargo test -p hardway-machines --test gce`.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test stops at the first surprise")]

mod settings;
mod site;
mod transcripts;
