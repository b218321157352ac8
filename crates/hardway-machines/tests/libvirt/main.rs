//! The libvirt provider: its plans, and the same against a real libvirtd in namespaces of its own.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test stops at the first surprise")]

mod kills;
mod names;
mod plans;
mod remote;
mod site;
