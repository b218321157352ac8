//! `hardway infra` and a first boot, on a real libvirtd in namespaces of its own.

mod boot;
mod hosted;
mod install;
mod kills;
mod program;
mod site;
