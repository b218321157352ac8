//! `install-config.yaml`: the standard schema of openshift-install, for platform none.

mod config;

pub use config::*;
