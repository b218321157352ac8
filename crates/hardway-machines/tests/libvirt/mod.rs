//! The libvirt provider: its plans, and the same against a real libvirtd in namespaces of its own.

mod kills;
mod names;
mod plans;
mod remote;
mod site;
