//! `hardway infra` and a first boot, on a real libvirtd in namespaces of its own.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test stops at the first surprise")]

mod boot;
mod hosted;
mod install;
mod kills;
mod program;
mod site;
