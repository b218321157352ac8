//! The gce provider with a recording stand-in for `gcloud`: what is called, in which order, is compared with transcripts
//! in `golden/`. To take new ones: `HARDWAY_GOLDEN=write cargo test -p hardway-machines --test it gce::`.

mod settings;
mod site;
mod transcripts;
